#include "compiler/passes/decode_one_plane.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/op/schema.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/passes/plane_readers.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

using namespace ir;

namespace {

/// What becomes of what one node makes.
struct Readers {
  std::vector<NodeId> apart;  ///< keep channels apart
  std::vector<NodeId> plane;  ///< see only the plane
  std::string objection;      ///< the first other one; empty: none
};

class PlaneDecoding {
 public:
  PlaneDecoding(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), table_(context.table.get()) {}

  bool run() {
    bool changed = false;
    std::vector<NodeId> makers;
    for (BlockId b : graph_.topological_order())
      for (NodeId id : graph_.block(b).nodes)
        if (plane_of(id) != nullptr) makers.push_back(id);
    if (!is_any_plane_read(makers)) return changed;
    for (NodeId id : makers) changed |= take_plane(id);
    return changed;
  }

 private:
  const op::PlaneOffer* plane_of(NodeId id) const {
    const op::NativeOutput* maker = op::maker_of(table_.lowering(id));
    return maker && maker->plane ? &*maker->plane : nullptr;
  }

  bool take_plane(NodeId maker) {
    const op::PlaneOffer& plane = *plane_of(maker);
    Readers readers;
    gather(graph_.node(maker).outputs[0], maker, &readers);
    if (readers.plane.empty()) return false;
    const std::string& name = graph_.node(maker).op->name;
    const Span span = graph_.node(maker).span;
    if (!readers.objection.empty()) {
      context_.remark(fmt::format("{} makes all channels: {}", name, readers.objection), span);
      return false;
    }
    if (graph_.options.exact) {
      context_.remark(
          fmt::format("{} makes all channels, of which only the {} is used: with exact=False it would "
                      "decode nothing else (it may differ by a level)",
                      name, plane.name),
          span);
      return false;
    }
    if (!rewrite(maker, plane, readers)) {
      context_.remark(
          fmt::format("{} makes all channels: its readers do not take the {} alone", name, plane.name), span);
      return false;
    }
    context_.remark(fmt::format("{} makes the {} only: nobody sees more", name, plane.name), span);
    return true;
  }

  ChannelDims dims_of(const Node& node, char axis) const {
    return {graph_.type(node.inputs[0]).layout.find(axis), graph_.type(node.outputs[0]).layout.find(axis)};
  }

  /// Whether any node sees only a plane that one of the makers offers: asked first, because following the
  /// readers of every maker is dear, and most graphs have none.
  bool is_any_plane_read(const std::vector<NodeId>& makers) const {
    std::vector<const op::PlaneOffer*> offers;
    for (NodeId maker : makers) {
      const op::PlaneOffer* own = plane_of(maker);
      if (std::none_of(offers.begin(), offers.end(), [&](const op::PlaneOffer* known) {
            return known->axis == own->axis && known->weights == own->weights;
          }))
        offers.push_back(own);
    }
    if (offers.empty()) return false;
    for (BlockId b : graph_.topological_order())
      for (NodeId id : graph_.block(b).nodes) {
        const Node& node = graph_.node(id);
        if (node.op->source || node.inputs.empty() || node.outputs.size() != 1) continue;
        for (const op::PlaneOffer* offer : offers) {
          const ChannelDims dims = dims_of(node, offer->axis);
          if (dims.input >= 0 && dims.output >= 0 &&
              sees_only_plane(table_.lowering(id), node.inputs[0], dims, offer->weights))
            return true;
        }
      }
    return false;
  }

  void gather(ValueId value, NodeId maker, Readers* readers) const {
    const op::PlaneOffer& plane = *plane_of(maker);
    const auto object = [&](std::string why) {
      if (readers->objection.empty()) readers->objection = std::move(why);
    };
    const auto uses = [&](const std::vector<ValueId>& list) {
      return std::find(list.begin(), list.end(), value) != list.end();
    };
    for (const Block& block : graph_.blocks) {
      if (uses(block.terminator.results)) object("they are an output");
      for (const Merge& merge : block.merges)
        if (uses(merge.operands))
          object(fmt::format("they are merged with another {}", op::maker_of(table_.lowering(maker))->makes));
      for (NodeId reader : block.nodes) {
        const Node& node = graph_.node(reader);
        const bool as_arg = std::any_of(node.args.begin(), node.args.end(), [&](const Arg& arg) {
          return arg.is_value() && arg.as_value() == value;
        });
        if (!as_arg && !uses(node.inputs)) continue;
        if (const ValueId same = value_passed_on(reader, value, plane); same != kNoId && !as_arg) {
          readers->apart.push_back(reader);
          gather(same, maker, readers);
          continue;
        }
        const ChannelDims dims =
            node.inputs.empty() || node.outputs.empty() ? ChannelDims{} : dims_of(node, plane.axis);
        const bool fits = !as_arg && !node.op->source && node.inputs[0] == value &&
                          node.outputs.size() == 1 &&
                          std::count(node.inputs.begin(), node.inputs.end(), value) == 1 && dims.input >= 0 &&
                          dims.output >= 0;
        if (fits && sees_only_plane(table_.lowering(reader), value, dims, plane.weights)) {
          readers->plane.push_back(reader);
        } else if (fits && keeps_channels_apart(table_.lowering(reader), value, dims, plane.weights.size())) {
          readers->apart.push_back(reader);
          gather(node.outputs[0], maker, readers);
        } else {
          object(fmt::format("{} needs them", op::shown_name(node)));
        }
      }
    }
  }

  /// The same value, as it leaves a node that passes several on; kNoId: it does not.
  ValueId value_passed_on(NodeId reader, ValueId value, const op::PlaneOffer& plane) const {
    const Node& node = graph_.node(reader);
    const int channel = graph_.type(value).layout.find(plane.axis);
    if (node.outputs.size() < 2 || channel < 0 || std::ranges::count(node.inputs, value) != 1) return kNoId;
    const auto place = static_cast<int>(std::ranges::find(node.inputs, value) - node.inputs.begin());
    const int output = passed_on(table_.lowering(reader), place, channel, plane.weights.size());
    if (output < 0) return kNoId;
    const ValueId same = node.outputs[static_cast<size_t>(output)];
    return graph_.type(same).layout.find(plane.axis) == channel ? same : kNoId;
  }

  /// On a copy, so that nothing has happened where a type rule says no.
  bool rewrite(NodeId maker, const op::PlaneOffer& plane, const Readers& readers) {
    const op::Operator* spread_op = context_.registry.find(plane.spread);
    if (!spread_op) return false;
    Graph trial = graph_;
    auto& args = trial.nodes[maker].args;
    std::erase_if(args, [&](const Arg& arg) { return arg.name == plane.makes_plane.first; });
    args.push_back({plane.makes_plane.first, plane.makes_plane.second, trial.nodes[maker].span});
    if (!retype(trial, maker)) return false;
    for (BlockId b : trial.topological_order())
      for (NodeId id : trial.block(b).nodes)
        if (std::find(readers.apart.begin(), readers.apart.end(), id) != readers.apart.end() &&
            !retype(trial, id))
          return false;
    op::GraphBuilder builder(trial);
    for (NodeId reader : readers.plane) {
      const Node& node = trial.node(reader);
      builder.set_insertion_block(node.block);
      op::GraphBuilder::NodeSpec spec;
      spec.op = spread_op;
      spec.inputs = {node.inputs[0]};
      for (const auto& [name, value] : plane.spread_args) spec.args.push_back({name, value, node.span});
      spec.span = node.span;
      const auto spread = builder.add_node(std::move(spec));
      if (!spread) return false;
      move_before(trial, *spread, reader);
      trial.nodes[reader].inputs[0] = trial.node(*spread).outputs[0];
    }
    graph_ = std::move(trial);
    return true;
  }

  static bool retype(Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    op::GraphBuilder::NodeSpec spec{node.op, node.inputs, node.args,         node.span,
                                    {},      node.key,    node.has_own_seed, node.name};
    const auto types = op::check_call(graph, spec);
    if (!types) return false;
    for (size_t k = 0; k < node.outputs.size(); ++k) graph.values[node.outputs[k]].type = (*types)[k];
    return true;
  }

  Graph& graph_;
  const PassContext& context_;
  const values::ValueTable&
      table_;  ///< of the graph as it came: nodes that other makers lead to stay as they are
};

}  // namespace

bool decode_one_plane(Graph& graph, const PassContext& context) {
  // An exact graph stays as it is: the walk is for the remark.
  if (graph.options.exact && context.remarks == nullptr) return false;
  return PlaneDecoding(graph, context).run();
}

}  // namespace galatea::passes
