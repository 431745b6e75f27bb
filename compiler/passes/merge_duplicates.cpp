#include "compiler/passes/merge_duplicates.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/passes/graph_edits.h"

namespace galatea::passes {

namespace {

/// One number that depends on nothing, and that nobody draws.
bool is_number(const ir::Graph& graph, const ir::Node& node) {
  const bool takes_values = std::ranges::any_of(node.args, &ir::Arg::is_value);
  return node.inputs.empty() && !takes_values && is_keyless(node) && node.outputs.size() == 1 &&
         graph.type(node.outputs[0]).ndim == 0;
}

}  // namespace

bool merge_duplicates(ir::Graph& graph, const PassContext&) {
  std::vector<ir::BlockId> idom = graph.immediate_dominators();
  auto dominates = [&](ir::BlockId a, ir::BlockId b) {
    while (b != a && idom[b] != b) b = idom[b];
    return a == b;
  };
  Replacements replacements(graph);
  Replacements equal_numbers(graph);  // of a constant: the first that says the same
  std::unordered_map<std::string, std::vector<ir::NodeId>> seen;
  std::vector<ir::NodeId> gone;
  for (ir::BlockId block : graph.topological_order()) {
    for (ir::NodeId id : graph.block(block).nodes) {
      ir::Node& node = graph.nodes[id];
      replacements.apply(node);  // so that users of duplicates become equal themselves
      if (!is_pure(node)) continue;
      std::vector<ir::NodeId>& equal = seen[signature(node, equal_numbers)];
      const ir::Node* first = nullptr;
      for (ir::NodeId candidate : equal)
        if (dominates(graph.node(candidate).block, block)) first = &graph.node(candidate);
      if (!first) {
        equal.push_back(id);
        continue;
      }
      if (is_number(graph, node)) {
        equal_numbers.add(node.outputs[0], first->outputs[0]);
        continue;
      }
      for (size_t k = 0; k < node.outputs.size(); ++k) replacements.add(node.outputs[k], first->outputs[k]);
      gone.push_back(id);
    }
  }
  replacements.apply(graph);
  for (ir::NodeId id : gone) graph.remove_node(id);
  return !gone.empty();
}

}  // namespace galatea::passes
