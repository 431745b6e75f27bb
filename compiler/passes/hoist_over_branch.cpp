#include "compiler/passes/hoist_over_branch.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/passes/graph_edits.h"

namespace galatea::passes {

using namespace ir;

namespace {

/// Whether every operand is defined outside of `arm`, hence before the branch (the arm's only predecessor).
bool is_known_before(const Graph& graph, const Node& node, BlockId arm) {
  auto before = [&](ValueId v) { return graph.value(v).block != arm; };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), before)) return false;
  return std::all_of(node.args.begin(), node.args.end(),
                     [&](const Arg& arg) { return !arg.is_value() || before(arg.as_value()); });
}

/// Keyless nodes of an arm that could stand before the branch, by signature.
std::unordered_map<std::string, NodeId> candidates(const Graph& graph, BlockId arm) {
  std::unordered_map<std::string, NodeId> found;
  for (NodeId id : graph.block(arm).nodes) {
    const Node& node = graph.node(id);
    if (is_pure(node) && is_keyless(node) && is_known_before(graph, node, arm))
      found.emplace(signature(node), id);
  }
  return found;
}

bool hoist_one_round(Graph& graph, BlockId block) {
  std::vector<BlockId> arms = graph.block(block).terminator.targets;
  std::vector<std::unordered_map<std::string, NodeId>> others;
  for (size_t k = 1; k < arms.size(); ++k) others.push_back(candidates(graph, arms[k]));
  bool changed = false;
  for (NodeId id : std::vector<NodeId>(graph.block(arms[0]).nodes)) {
    const Node& node = graph.node(id);
    if (!is_pure(node) || !is_keyless(node) || !is_known_before(graph, node, arms[0])) continue;
    std::string text = signature(node);
    if (!std::all_of(others.begin(), others.end(), [&](const auto& arm) { return arm.count(text); }))
      continue;
    move_to_end(graph, id, block);
    for (auto& arm : others) {
      NodeId twin = arm.at(text);
      for (size_t k = 0; k < graph.node(id).outputs.size(); ++k)
        graph.replace_uses(graph.node(twin).outputs[k], graph.node(id).outputs[k]);
      graph.remove_node(twin);
      arm.erase(text);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

bool hoist_over_branch(Graph& graph, const PassContext&) {
  bool changed = false;
  std::vector<BlockId> order = graph.topological_order();
  for (auto b = order.rbegin(); b != order.rend(); ++b) {
    const Terminator& end = graph.block(*b).terminator;
    if (end.kind != TerminatorKind::kBranch && end.kind != TerminatorKind::kSwitch) continue;
    bool all_arms = end.targets.size() > 1 &&
                    std::all_of(end.targets.begin(), end.targets.end(),
                                [&](BlockId target) { return graph.block(target).predecessors.size() == 1; });
    // What has risen makes its users movable: until nothing moves.
    while (all_arms && hoist_one_round(graph, *b)) changed = true;
  }
  return changed;
}

}  // namespace galatea::passes
