#include "compiler/passes/push_region_into_decode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/kernel/division.h"
#include "compiler/kernel/stage_edit.h"
#include "compiler/op/recipe.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/values/availability.h"
#include "compiler/values/shared_table.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;
using op::LoweredOutput;
using values::Availability;
using values::kRegionFromArg;
using values::Range;
using values::Windows;

namespace {

bool uses(const Node& node, ValueId value) {
  if (std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end()) return true;
  return std::any_of(node.args.begin(), node.args.end(),
                     [&](const Arg& arg) { return arg.is_value() && arg.as_value() == value; });
}

/// Later in its block, as far as its first user lets it: then more of the scalars that the window needs stand
/// before it.
void sink_to_first_use(Graph& graph, NodeId id) {
  BlockId block = graph.node(id).block;
  const std::vector<NodeId>& list = graph.block(block).nodes;
  auto at = std::find(list.begin(), list.end(), id);
  auto user = std::find_if(at, list.end(),
                           [&](NodeId other) { return uses(graph.node(other), graph.node(id).outputs[0]); });
  if (user == at + 1) return;
  if (user == list.end())
    move_to_end(graph, id, block);
  else
    move_before(graph, id, *user);
}

class RegionPush {
 public:
  RegionPush(Graph& graph, const PassContext& context)
      : graph_(graph),
        context_(context),
        table_(context.table.get()),
        windows_(table_),
        availability_(graph) {}

  bool run() {
    bool changed = false;
    std::vector<BlockId> order = graph_.topological_order();
    // Readers first: their windows decide what is asked of what they read.
    for (size_t b = order.size(); b-- > 0;) {
      std::vector<NodeId> nodes = graph_.block(order[b]).nodes;
      for (size_t n = nodes.size(); n-- > 0;) changed |= push_into(nodes[n]);
    }
    return changed;
  }

 private:
  /// Whether the node can be computed for a window of its only output.
  bool takes_window(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op->source || !node.op->define || node.outputs.size() != 1) return false;
    const int64_t volume = graph_.type(node.outputs[0]).static_volume();
    if (table_.info(node.outputs[0]).scalar || (volume >= 0 && volume <= values::kMaxScalarElements))
      return false;
    const op::Lowering& lowering = table_.lowering(id);
    const LoweredOutput& output = lowering.outputs[0];
    switch (output.kind) {
      case LoweredOutput::Kind::kNative:
        return !op::maker_of(lowering)->window.empty();
      case LoweredOutput::Kind::kStage:
        return std::none_of(lowering.stages.begin(), lowering.stages.end(), kernel::may_raise_flag);
      case LoweredOutput::Kind::kView:
        return windows_.is_view_of_kernel(id);
      default:
        return false;
    }
  }

  /// Whether the window may leave out anything at all.
  bool is_partial(NodeId id, const std::vector<Range>& ranges) const {
    const std::vector<Expr>& extents = table_.info(graph_.node(id).outputs[0]).extents;
    const op::NativeOutput* maker = op::maker_of(table_.lowering(id));
    for (size_t d = 0; d < ranges.size(); ++d) {
      if (maker && !maker->has_window_along(static_cast<int>(d))) continue;
      if (!kernel::is_const_int(ranges[d].begin, 0) || !kernel::same(ranges[d].end, extents[d])) return true;
    }
    return false;
  }

  /// A reader that makes as many elements as there are reads all of them in all likelihood (a mirror, whose
  /// window only looks like a part): its kernel is better left to see the whole.
  bool is_read_whole(NodeId id, const std::vector<ValueId>& readers) const {
    const int64_t volume = graph_.type(graph_.node(id).outputs[0]).static_volume();
    return volume >= 0 && std::any_of(readers.begin(), readers.end(), [&](ValueId reader) {
             const Node* node = graph_.defining_node(reader);
             const bool makes_a_part = node && node->find_arg(kRegionFromArg);
             return !makes_a_part && graph_.type(reader).static_volume() == volume;
           });
  }

  bool is_known(NodeId id, const std::vector<Range>& ranges) const {
    return std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return availability_.holds(range.begin, id) && availability_.holds(range.end, id);
    });
  }

  bool all_known() const {
    return std::all_of(marked_.begin(), marked_.end(),
                       [&](const auto& mark) { return is_known(mark.first, *mark.second); });
  }

  bool push_into(NodeId id) {
    if (graph_.node(id).find_arg(kRegionFromArg) || !takes_window(id)) return false;
    const std::optional<Windows::Asked>& asked = windows_.asked(graph_.node(id).outputs[0]);
    const op::NativeOutput* maker = op::maker_of(table_.lowering(id));
    if (!asked || !is_partial(id, asked->ranges)) {
      if (maker) tell(id, fmt::format("the whole {}: all of it is read", maker->makes));
      return false;
    }
    if (!maker && is_read_whole(id, asked->readers)) return false;
    if (!is_known(id, asked->ranges) && !is_known_further_down(id, asked->ranges)) {
      if (maker)
        tell(id,
             fmt::format("the whole {}: what is read of it is not known before it is decoded", maker->makes));
      return false;
    }
    marked_.emplace_back(id, &asked->ranges);
    graph_.nodes[id].args.push_back(
        {kRegionFromArg, Attr(std::vector<int64_t>(asked->readers.begin(), asked->readers.end())), {}});
    tell(id, asked->readers);
    return true;
  }

  bool is_known_further_down(NodeId id, const std::vector<Range>& ranges) {
    BlockId block = graph_.node(id).block;
    std::vector<NodeId> before = graph_.block(block).nodes;
    sink_to_first_use(graph_, id);
    availability_.refresh(block);
    // Windows of others may be made of this node's scalars.
    if (is_known(id, ranges) && all_known()) return true;
    graph_.blocks[block].nodes = before;
    availability_.refresh(block);
    return false;
  }

  /// "decoders.image makes only what resize, crop read of it".
  void tell(NodeId id, const std::vector<ValueId>& readers) {
    std::vector<std::string> names;
    for (ValueId reader : readers) {
      const Node* node = graph_.defining_node(reader);
      std::string name = node ? node->op->name : "a merge";
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    tell(id, names.empty() ? "one element: nobody reads any"
                           : fmt::format("only what {} read{} of it", fmt::join(names, ", "),
                                         names.size() == 1 ? "s" : ""));
  }
  void tell(NodeId id, const std::string& what) {
    context_.remark(fmt::format("{} makes {}", graph_.node(id).op->name, what), graph_.node(id).span);
  }

  Graph& graph_;
  const PassContext& context_;
  const values::ValueTable& table_;
  Windows windows_;
  Availability availability_;
  std::vector<std::pair<NodeId, const std::vector<Range>*>> marked_;
};

}  // namespace

bool push_region_into_decode(Graph& graph, const PassContext& context) {
  return RegionPush(graph, context).run();
}

}  // namespace galatea::passes
