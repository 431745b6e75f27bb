#include "compiler/passes/push_region_into_decode.h"

#include <algorithm>

#include "compiler/op/recipe.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/passes/read_bounds.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;

namespace {

/// Whether the node makes its only output by a native function that can fill a window of an image.
bool takes_region(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op->source || !node.op->define || node.op->kind != op::OperatorKind::kNative ||
      node.outputs.size() != 1)
    return false;
  op::Lowering lowering = op::lower_node(graph, id);
  const op::LoweredOutput& output = lowering.outputs[0];
  return output.kind == op::LoweredOutput::Kind::kNative &&
         lowering.natives[static_cast<size_t>(output.native)].region;
}

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

/// Decides whether expressions can be evaluated just before a node runs.
class Availability {
 public:
  Availability(const Graph& graph, NodeId node)
      : graph_(graph), node_(node), idom_(graph.immediate_dominators()) {}

  bool holds(const Expr& e) const {
    bool all = true;
    kernel::for_each_node(e, [&](const Expr& part) {
      if (part->kind == kernel::ExprKind::kSymbol) all &= holds_symbol(*part);
    });
    return all;
  }

 private:
  bool holds_symbol(const kernel::ExprNode& symbol) const {
    switch (symbol.symbol) {
      case kernel::SymbolKind::kExtent:
      case kernel::SymbolKind::kElement: {
        const Value& value = graph_.value(static_cast<ValueId>(symbol.a));
        return value.node == kNoId ? dominates(value.block, graph_.node(node_).block) : is_before(value.node);
      }
      // Its own native scalars are computed first; those of others when they run (RecipeBuilder numbers them
      // by node).
      case kernel::SymbolKind::kLocal:
        return static_cast<NodeId>(symbol.a >> 16) == node_ || is_before(static_cast<NodeId>(symbol.a >> 16));
      default:
        return true;
    }
  }
  bool dominates(BlockId a, BlockId b) const {
    while (b != a && idom_[b] != b) b = idom_[b];
    return a == b;
  }
  bool is_before(NodeId other) const {
    BlockId home = graph_.node(node_).block, there = graph_.node(other).block;
    if (home != there) return dominates(there, home);
    const auto& list = graph_.block(home).nodes;
    return std::find(list.begin(), list.end(), other) < std::find(list.begin(), list.end(), node_);
  }

  const Graph& graph_;
  NodeId node_;
  std::vector<BlockId> idom_;
};

/// Whether the window may leave out anything at all.
bool is_partial(const ReadBounds& bounds, const op::Lowering& lowering) {
  for (size_t d = 0; d < 2 && d < bounds.ranges.size(); ++d) {
    const Range& range = bounds.ranges[d];
    if (!kernel::is_const_int(range.begin, 0) || !kernel::same(range.end, lowering.outputs[0].extents[d]))
      return true;
  }
  return false;
}

bool push_into(Graph& graph, NodeId id) {
  ValueId image = graph.node(id).outputs[0];
  std::vector<ValueId> readers;
  auto bounds = region_of(graph, image, &readers);
  if (!bounds || !is_partial(*bounds, op::lower_node(graph, id))) return false;
  std::vector<NodeId> order = graph.block(graph.node(id).block).nodes;
  sink_to_first_use(graph, id);
  Availability availability(graph, id);
  for (const Range& range : bounds->ranges) {
    if (availability.holds(range.begin) && availability.holds(range.end)) continue;
    graph.blocks[graph.node(id).block].nodes = order;
    return false;
  }
  graph.nodes[id].args.push_back(
      {kRegionFromArg, Attr(std::vector<int64_t>(readers.begin(), readers.end())), {}});
  return true;
}

}  // namespace

bool push_region_into_decode(Graph& graph, const PassContext&) {
  bool changed = false;
  for (BlockId b : graph.topological_order()) {
    for (NodeId id : std::vector<NodeId>(graph.block(b).nodes)) {
      if (graph.node(id).find_arg(kRegionFromArg)) continue;
      if (takes_region(graph, id)) changed |= push_into(graph, id);
    }
  }
  return changed;
}

}  // namespace galatea::passes
