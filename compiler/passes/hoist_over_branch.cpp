#include "compiler/passes/hoist_over_branch.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/passes/graph_edits.h"

namespace galatea::passes {

using namespace ir;

namespace {

/// What has risen stands for its twins in the other arms. Operands are changed when all is done: what is
/// looked at before is seen through `stands_for`.
class Hoister {
 public:
  explicit Hoister(Graph& graph) : graph_(graph), stands_for_(graph) {}

  bool run() {
    bool changed = false;
    std::vector<BlockId> order = graph_.topological_order();
    for (auto b = order.rbegin(); b != order.rend(); ++b) {
      const Terminator& end = graph_.block(*b).terminator;
      if (end.kind != TerminatorKind::kBranch && end.kind != TerminatorKind::kSwitch) continue;
      bool all_arms =
          end.targets.size() > 1 && std::all_of(end.targets.begin(), end.targets.end(), [&](BlockId target) {
            return graph_.block(target).predecessors.size() == 1;
          });
      // What has risen makes its users movable: until nothing moves.
      while (all_arms && hoist_one_round(*b)) changed = true;
    }
    if (changed) stands_for_.apply(graph_);
    return changed;
  }

 private:
  /// Nodes of an arm by signature.
  using Candidates = std::unordered_map<std::string, NodeId>;

  /// Whether every operand is defined outside of `arm`, hence before the branch (the arm's only predecessor).
  bool is_known_before(const Node& node, BlockId arm) const {
    auto before = [&](ValueId v) { return graph_.value(stands_for_.resolve(v)).block != arm; };
    if (!std::all_of(node.inputs.begin(), node.inputs.end(), before)) return false;
    return std::all_of(node.args.begin(), node.args.end(),
                       [&](const Arg& arg) { return !arg.is_value() || before(arg.as_value()); });
  }

  /// Keyless, and could stand before the branch.
  bool is_movable(const Node& node, BlockId arm) const {
    return is_pure(node) && is_keyless(node) && is_known_before(node, arm);
  }

  Candidates candidates(BlockId arm) const {
    Candidates found;
    for (NodeId id : graph_.block(arm).nodes)
      if (is_movable(graph_.node(id), arm)) found.emplace(signature(graph_.node(id), stands_for_), id);
    return found;
  }

  bool hoist_one_round(BlockId block) {
    std::vector<BlockId> arms = graph_.block(block).terminator.targets;
    std::vector<Candidates> others;
    for (size_t k = 1; k < arms.size(); ++k) {
      others.push_back(candidates(arms[k]));
      if (others.back().empty()) return false;
    }
    bool changed = false;
    for (NodeId id : std::vector<NodeId>(graph_.block(arms[0]).nodes)) {
      const Node& node = graph_.node(id);
      if (!is_movable(node, arms[0])) continue;
      const std::string text = signature(node, stands_for_);
      if (!std::all_of(others.begin(), others.end(), [&](const auto& arm) { return arm.count(text); }))
        continue;
      move_to_end(graph_, id, block);
      for (Candidates& arm : others) {
        NodeId twin = arm.at(text);
        for (size_t k = 0; k < graph_.node(id).outputs.size(); ++k)
          stands_for_.add(graph_.node(twin).outputs[k], graph_.node(id).outputs[k]);
        graph_.remove_node(twin);
        arm.erase(text);
      }
      changed = true;
    }
    return changed;
  }

  Graph& graph_;
  Replacements stands_for_;
};

}  // namespace

bool hoist_over_branch(Graph& graph, const PassContext&) { return Hoister(graph).run(); }

}  // namespace galatea::passes
