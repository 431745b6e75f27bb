#include "compiler/plan/early_checks.h"

#include <algorithm>

#include "compiler/op/recipe.h"

namespace galatea::plan {

using kernel::ExprKind;

namespace {

/// Whether they are one call of the text: passes make copies for the arms of a branch.
bool is_same_call(const ir::Node& a, const ir::Node& b) {
  return a.op == b.op && a.span == b.span &&
         std::ranges::equal(a.calls, b.calls,
                            [](const CallSite& x, const CallSite& y) { return x.span == y.span; });
}

/// Whether it is known as soon as the sample is there.
bool is_of_source(const ir::Graph& graph, const Expr& extent) {
  if (extent->kind != ExprKind::kSymbol || extent->symbol != kernel::SymbolKind::kExtent) return false;
  const ir::Node* node = graph.defining_node(static_cast<ir::ValueId>(extent->a));
  return node != nullptr && node->op->source;
}

/// What every way on from a block comes past, by block: what stands in it, and what all that follow share.
using Facts = std::vector<bool>;
template <typename In>
std::vector<Facts> on_every_way(const ir::Graph& graph, size_t count, const In& in) {
  std::vector<Facts> out(graph.blocks.size(), Facts(count));
  const std::vector<ir::BlockId> order = graph.topological_order();
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    const std::vector<ir::BlockId>& targets = graph.block(*block).terminator.targets;
    for (size_t k = 0; k < count; ++k)
      out[*block][k] = in(*block, k) || (!targets.empty() && std::ranges::all_of(targets, [&](ir::BlockId t) {
                         return static_cast<bool>(out[t][k]);
                       }));
  }
  return out;
}

/// All that might be made early, in order; nothing where samples meet.
std::vector<EarlyCheck> eligible_checks(const values::ValueTable& table) {
  const ir::Graph& graph = table.graph();
  std::vector<EarlyCheck> out;
  for (const ir::BlockId block : graph.topological_order())
    for (const ir::NodeId node : graph.block(block).nodes) {
      if (graph.node(node).op->source) continue;
      const op::Lowering& lowering = table.lowering(node);
      if (op::meets_batch(lowering)) return {};
      for (size_t k = 0; k < lowering.checks.size(); ++k) {
        const Expr condition = table.resolve(lowering.checks[k].condition);
        if (demands_extent(condition) && is_of_source(graph, condition->args[0]))
          out.push_back({node, k, condition});
      }
    }
  return out;
}

}  // namespace

bool demands_extent(const Expr& condition) {
  if (condition->kind != ExprKind::kOp || condition->op != ScalarOp::kEq) return false;
  const Expr &extent = condition->args[0], &number = condition->args[1];
  return extent.type() == DType::kI64 && kernel::is_const(number) && !kernel::is_user_constant(number);
}

EarlyChecks::EarlyChecks(const values::ValueTable& table)
    : made_(table.graph().blocks.size()), dominators_(table.graph().immediate_dominators()) {
  const ir::Graph& graph = table.graph();
  const std::vector<EarlyCheck> all = eligible_checks(table);
  if (all.empty()) return;
  const auto stands_in = [&](ir::BlockId block, size_t k) { return graph.node(all[k].node).block == block; };
  // Whoever demands it, and whose error it may be: one of a call that no way leaves out.
  const auto demanded = on_every_way(graph, all.size(), [&](ir::BlockId block, size_t k) {
    for (size_t other = 0; other < all.size(); ++other)
      if (stands_in(block, other) && kernel::same(all[other].condition, all[k].condition)) return true;
    return false;
  });
  const auto passed = on_every_way(graph, all.size(), [&](ir::BlockId block, size_t k) {
    return std::ranges::any_of(graph.block(block).nodes, [&](ir::NodeId node) {
      return is_same_call(graph.node(node), graph.node(all[k].node));
    });
  });
  for (const ir::BlockId block : graph.topological_order()) {
    std::vector<Expr> known = conditions_in(block);
    for (size_t k = 0; k < all.size(); ++k) {
      if (!demanded[block][k] || !passed[block][k]) continue;
      const auto is_this = [&](const Expr& condition) { return kernel::same(condition, all[k].condition); };
      if (std::ranges::any_of(known, is_this)) continue;
      made_[block].push_back(all[k]);
      known.push_back(all[k].condition);
    }
  }
}

std::vector<Expr> EarlyChecks::conditions_in(ir::BlockId block) const {
  std::vector<Expr> out;
  if (made_.empty()) return out;
  for (;; block = dominators_[block]) {
    for (const EarlyCheck& check : made_[block]) out.push_back(check.condition);
    if (dominators_[block] == block) return out;
  }
}

}  // namespace galatea::plan
