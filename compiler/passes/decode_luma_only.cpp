#include "compiler/passes/decode_luma_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/op/schema.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/passes/luma_readers.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

using namespace ir;

namespace {

constexpr const char* kTypeArg = "output_type";
constexpr const char* kConversion = "color_space_conversion";
constexpr int64_t kRgb = 0, kBgr = 1, kGray = 2;

/// What becomes of one decoder's image.
struct Readers {
  std::vector<NodeId> apart;  ///< keep channels apart
  std::vector<NodeId> luma;   ///< see only luma
  std::string objection;      ///< the first other one; empty: none
};

class LumaDecoding {
 public:
  LumaDecoding(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), table_(context.table.get()) {}

  bool run() {
    bool changed = false;
    if (!is_luma_read()) return changed;
    for (BlockId b : graph_.topological_order())
      for (NodeId id : std::vector<NodeId>(graph_.block(b).nodes))
        if (const std::optional<int64_t> colors = decoded_colors(id)) changed |= drop_chroma(id, *colors);
    return changed;
  }

 private:
  /// RGB or BGR, if the node decodes to that.
  std::optional<int64_t> decoded_colors(NodeId id) const {
    const Node& node = graph_.node(id);
    const op::ArgSpec* spec = node.op->find_arg(kTypeArg);
    if (!spec || spec->kind != op::ArgKind::kImageType || node.outputs.size() != 1) return std::nullopt;
    const op::Lowering& lowering = table_.lowering(id);
    if (lowering.outputs.size() != 1 || lowering.outputs[0].kind != op::LoweredOutput::Kind::kNative)
      return std::nullopt;
    const Arg* given = node.find_arg(kTypeArg);
    if (given && given->is_value()) return std::nullopt;
    const Attr& type = given ? given->as_attr() : spec->default_value;
    const auto* number = std::get_if<int64_t>(&type);
    if (!number || (*number != kRgb && *number != kBgr)) return std::nullopt;
    return *number;
  }

  bool drop_chroma(NodeId decoder, int64_t colors) {
    const ValueId image = graph_.node(decoder).outputs[0];
    Readers readers;
    gather(image, colors == kRgb, &readers);
    if (readers.luma.empty()) return false;
    const std::string& name = graph_.node(decoder).op->name;
    const Span span = graph_.node(decoder).span;
    if (!readers.objection.empty()) {
      context_.remark(fmt::format("{} makes all colours: {}", name, readers.objection), span);
      return false;
    }
    if (graph_.options.exact) {
      context_.remark(
          fmt::format("{} makes all colours, of which only the luma is used: with exact=False it would "
                      "decode nothing else (it may differ by a level)",
                      name),
          span);
      return false;
    }
    if (!rewrite(decoder, readers)) {
      context_.remark(fmt::format("{} makes all colours: its readers take no grey image", name), span);
      return false;
    }
    context_.remark(fmt::format("{} makes the luma only: nobody sees the chroma", name), span);
    return true;
  }

  ChannelDims dims_of(const Node& node) const {
    return {graph_.type(node.inputs[0]).layout.find('C'), graph_.type(node.outputs[0]).layout.find('C')};
  }

  /// Whether any node sees only the luma of its image: asked first, because following the readers of every
  /// image is dear, and most graphs have none.
  bool is_luma_read() const {
    for (BlockId b : graph_.topological_order())
      for (NodeId id : graph_.block(b).nodes) {
        const Node& node = graph_.node(id);
        if (node.op->source || node.inputs.empty() || node.outputs.size() != 1) continue;
        const ChannelDims dims = dims_of(node);
        if (dims.input < 0 || dims.output < 0) continue;
        for (const bool red_first : {true, false})
          if (sees_only_luma(table_.lowering(id), node.inputs[0], dims, red_first)) return true;
      }
    return false;
  }

  void gather(ValueId image, bool red_first, Readers* readers) const {
    const auto object = [&](std::string why) {
      if (readers->objection.empty()) readers->objection = std::move(why);
    };
    const auto uses = [&](const std::vector<ValueId>& list) {
      return std::find(list.begin(), list.end(), image) != list.end();
    };
    for (const Block& block : graph_.blocks) {
      if (uses(block.terminator.results)) object("they are an output");
      for (const Merge& merge : block.merges)
        if (uses(merge.operands)) object("they are merged with another image");
      for (NodeId reader : block.nodes) {
        const Node& node = graph_.node(reader);
        const bool as_arg = std::any_of(node.args.begin(), node.args.end(), [&](const Arg& arg) {
          return arg.is_value() && arg.as_value() == image;
        });
        if (!as_arg && !uses(node.inputs)) continue;
        const ChannelDims dims = node.outputs.empty() ? ChannelDims{} : dims_of(node);
        const bool fits = !as_arg && !node.op->source && node.inputs[0] == image &&
                          node.outputs.size() == 1 &&
                          std::count(node.inputs.begin(), node.inputs.end(), image) == 1 && dims.input >= 0 &&
                          dims.output >= 0;
        if (fits && sees_only_luma(table_.lowering(reader), image, dims, red_first)) {
          readers->luma.push_back(reader);
        } else if (fits && keeps_channels_apart(table_.lowering(reader), image, dims)) {
          readers->apart.push_back(reader);
          gather(node.outputs[0], red_first, readers);
        } else {
          object(fmt::format("{} needs them", op::shown_name(node)));
        }
      }
    }
  }

  /// On a copy, so that nothing has happened where a type rule says no.
  bool rewrite(NodeId decoder, const Readers& readers) {
    const op::Operator* conversion = context_.registry.find(kConversion);
    if (!conversion) return false;
    Graph trial = graph_;
    auto& args = trial.nodes[decoder].args;
    std::erase_if(args, [](const Arg& arg) { return arg.name == kTypeArg; });
    args.push_back({kTypeArg, Attr(kGray), trial.nodes[decoder].span});
    if (!retype(trial, decoder)) return false;
    for (BlockId b : trial.topological_order())
      for (NodeId id : trial.block(b).nodes)
        if (std::find(readers.apart.begin(), readers.apart.end(), id) != readers.apart.end() &&
            !retype(trial, id))
          return false;
    op::GraphBuilder builder(trial);
    for (NodeId reader : readers.luma) {
      const Node& node = trial.node(reader);
      builder.set_insertion_block(node.block);
      op::GraphBuilder::NodeSpec spec;
      spec.op = conversion;
      spec.inputs = {node.inputs[0]};
      spec.args = {{"image_type", Attr(kGray), node.span}, {kTypeArg, Attr(kRgb), node.span}};
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
    graph.values[node.outputs[0]].type = (*types)[0];
    return true;
  }

  Graph& graph_;
  const PassContext& context_;
  const values::ValueTable&
      table_;  ///< of the graph as it came: nodes that other decoders lead to stay as they are
};

}  // namespace

bool decode_luma_only(Graph& graph, const PassContext& context) {
  // An exact graph stays as it is: the walk is for the remark.
  if (graph.options.exact && context.remarks == nullptr) return false;
  return LumaDecoding(graph, context).run();
}

}  // namespace galatea::passes
