#include "compiler/values/read_bounds.h"

#include "compiler/op/recipe.h"
#include "compiler/values/windows.h"

namespace galatea::values {

using namespace ir;
using op::Lowering;

std::optional<ReadBounds> read_bounds(const Graph& graph, NodeId consumer, int input) {
  const Node& node = graph.node(consumer);
  if (node.op->source || !node.op->define) return std::nullopt;
  Lowering lowering = op::lower_node(graph, consumer);
  if (native_reads(lowering, input) || has_reshape_of(lowering, input)) return std::nullopt;
  Demand walk(lowering, input);
  const std::vector<Expr>& extents = lowering.inputs.at(static_cast<size_t>(input)).extents;
  ReadBounds bounds;
  for (size_t d = 0; d < extents.size(); ++d) {
    Expr zero = kernel::const_int(0);
    bounds.ranges.push_back(walk.reads() ? to_range((*walk.reads())[d], extents[d], walk.condition())
                                         : Range{zero, zero});
  }
  return bounds;
}

std::optional<ReadBounds> region_of(const Graph& graph, ValueId value, std::vector<ValueId>* readers) {
  ValueTable table(graph);
  table.fill();
  Windows windows(table);
  const std::optional<Windows::Asked>& asked = windows.asked(value);
  if (!asked) return std::nullopt;
  if (readers) *readers = asked->readers;
  return ReadBounds{asked->ranges};
}

}  // namespace galatea::values
