#include "compiler/passes/refine_types.h"

#include "compiler/op/recipe.h"
#include "compiler/op/schema.h"

namespace galatea::passes {

using namespace ir;

namespace {

/// Fills in what `better` knows.
bool refine(Type& type, const Type& better) {
  bool changed = false;
  if (type.dtype != better.dtype || type.ndim != better.ndim || type.layout != better.layout) return false;
  for (size_t d = 0; d < type.extents.size() && d < better.extents.size(); ++d) {
    if (type.extents[d] >= 0 || better.extents[d] < 0) continue;
    type.extents[d] = better.extents[d];
    changed = true;
  }
  return changed;
}

bool refine_merge(Graph& graph, const Merge& merge) {
  Type common = graph.type(merge.operands[0]);
  for (ValueId operand : merge.operands)
    for (size_t d = 0; d < common.extents.size(); ++d)
      if (graph.type(operand).extents[d] != common.extents[d]) common.extents[d] = -1;
  return refine(graph.values[merge.result].type, common);
}

bool refine_node(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  // Its extents are no longer what the text fixed.
  if (node.find_arg(op::kScaledForArg)) return false;
  op::GraphBuilder::NodeSpec spec{node.op, node.inputs, node.args,         node.span,
                                  {},      node.key,    node.has_own_seed, node.name};
  auto types = op::check_call(graph, spec);
  bool changed = false;
  if (types)
    for (size_t k = 0; k < node.outputs.size(); ++k)
      changed |= refine(graph.values[node.outputs[k]].type, (*types)[k]);
  return changed;
}

}  // namespace

bool refine_types(Graph& graph, const PassContext&) {
  bool changed = false;
  for (BlockId b : graph.topological_order()) {
    for (const Merge& merge : graph.block(b).merges) changed |= refine_merge(graph, merge);
    for (NodeId id : graph.block(b).nodes) changed |= refine_node(graph, id);
  }
  return changed;
}

}  // namespace galatea::passes
