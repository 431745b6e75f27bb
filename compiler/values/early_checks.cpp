#include "compiler/values/early_checks.h"

#include <algorithm>

#include "compiler/values/value_table.h"

namespace galatea::values {

using kernel::ExprKind;

namespace {

/// Whether they are one call of the text: passes make copies for the arms of a branch.
bool is_same_call(const ir::Node& a, const ir::Node& b) {
  return a.op == b.op && a.span == b.span &&
         std::ranges::equal(a.calls, b.calls,
                            [](const CallSite& x, const CallSite& y) { return x.span == y.span; });
}

/// The value whose extent it is; kNoId: none that a source gives, or that is one of several arms'.
ir::ValueId value_of(const ir::Graph& graph, const Expr& extent) {
  if (extent->kind != ExprKind::kSymbol || extent->symbol != kernel::SymbolKind::kExtent) return ir::kNoId;
  const auto value = static_cast<ir::ValueId>(extent->a);
  const ir::Node* node = graph.defining_node(value);
  return node == nullptr || node->op->source ? value : ir::kNoId;
}

/// Finds what is demanded where, from the last block to the first.
class Demands {
 public:
  explicit Demands(const ValueTable& table) : table_(table), graph_(table.graph()) {
    if (!find_checks()) return;
    for (size_t k = 0; k < checks_.size(); ++k) find_conditions(k);
    const std::vector<ir::BlockId> order = graph_.topological_order();
    demanded_.assign(graph_.blocks.size(), std::vector<bool>(conditions_.size()));
    passed_.assign(graph_.blocks.size(), std::vector<bool>(checks_.size()));
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      for (size_t c = 0; c < conditions_.size(); ++c) demanded_[*block][c] = is_demanded(*block, c);
      for (size_t k = 0; k < checks_.size(); ++k) passed_[*block][k] = is_passed(*block, k);
    }
  }

  /// Of what every sample that comes to the block is asked anyway, and may be asked there: each condition once,
  /// with the first call whose error it may be, since no way on leaves it out.
  std::vector<EarlyCheck> at(ir::BlockId block) const {
    std::vector<EarlyCheck> out;
    std::vector<bool> done(conditions_.size());
    for (size_t k = 0; k < checks_.size(); ++k)
      for (const size_t c : conditions_of_[k]) {
        if (done[c] || !demanded_[block][c] || !passed_[block][k]) continue;
        done[c] = true;
        out.push_back(checks_[k]);
        out.back().condition = conditions_[c];
      }
    return out;
  }

 private:
  /// All that might be made early, in order; nothing where samples meet.
  bool find_checks() {
    for (const ir::BlockId block : graph_.topological_order())
      for (const ir::NodeId node : graph_.block(block).nodes) {
        if (graph_.node(node).op->source) continue;
        const op::Lowering& lowering = table_.lowering(node);
        if (op::meets_batch(lowering)) return checks_.clear(), false;
        for (size_t k = 0; k < lowering.checks.size(); ++k) {
          const op::Check& check = lowering.checks[k];
          const Expr condition = table_.resolve(check.condition);
          if (!demands_extent(condition) || value_of(graph_, condition->args[0]) == ir::kNoId) continue;
          // Its message tells the extent, and nothing else that would have to be there.
          const bool tells = std::ranges::all_of(check.values, [&](const Expr& value) {
            return kernel::is_const(value) || kernel::same(table_.resolve(value), condition->args[0]);
          });
          if (tells) checks_.push_back({node, k, condition});
        }
      }
    return !checks_.empty();
  }

  size_t number_of(const Expr& condition) {
    const auto found =
        std::ranges::find_if(conditions_, [&](const Expr& known) { return kernel::same(known, condition); });
    if (found != conditions_.end()) return static_cast<size_t>(found - conditions_.begin());
    conditions_.push_back(condition);
    in_arm_.emplace_back();
    return conditions_.size() - 1;
  }

  /// What a check demands, and what that is of the arms that a value comes from, and so on.
  void find_conditions(size_t check) {
    std::vector<size_t>& found = conditions_of_.emplace_back();
    found.push_back(number_of(checks_[check].condition));
    for (size_t next = 0; next < found.size(); ++next) {
      const size_t c = found[next];
      const Expr condition = conditions_[c];
      const ir::ValueId value = value_of(graph_, condition->args[0]);
      if (graph_.value(value).node != ir::kNoId) continue;
      std::vector<int> images;
      const ir::Block& block = graph_.block(graph_.value(value).block);
      for (const ir::ValueId operand : block.merges[graph_.value(value).index].operands) {
        const Expr& extent = table_.info(operand).extents[static_cast<size_t>(condition->args[0]->b)];
        images.push_back(value_of(graph_, extent) == ir::kNoId
                             ? kNone
                             : static_cast<int>(number_of(kernel::equal(extent, condition->args[1]))));
        if (images.back() != kNone &&
            std::ranges::find(found, static_cast<size_t>(images.back())) == found.end())
          found.push_back(static_cast<size_t>(images.back()));
      }
      in_arm_[c] = std::move(images);
    }
  }

  bool is_demanded(ir::BlockId block, size_t c) const {
    const bool own = std::ranges::any_of(checks_, [&](const EarlyCheck& check) {
      return graph_.node(check.node).block == block && kernel::same(check.condition, conditions_[c]);
    });
    const std::vector<ir::BlockId>& targets = graph_.block(block).terminator.targets;
    return own || (!targets.empty() && std::ranges::all_of(targets, [&](ir::BlockId target) {
             return is_demanded_behind(block, target, c);
           }));
  }

  /// On the way from a block to the next one: by the same words, or as what an arm's value is in it.
  bool is_demanded_behind(ir::BlockId block, ir::BlockId target, size_t c) const {
    if (demanded_[target][c] && !is_merged_in(c, target)) return true;
    const std::vector<ir::BlockId>& from = graph_.block(target).predecessors;
    for (size_t d = 0; d < conditions_.size(); ++d) {
      if (!demanded_[target][d] || !is_merged_in(d, target)) continue;
      bool all = true;
      for (size_t edge = 0; edge < from.size(); ++edge)
        all = all && (from[edge] != block || in_arm_[d][edge] == static_cast<int>(c));
      if (all) return true;
    }
    return false;
  }
  bool is_merged_in(size_t condition, ir::BlockId block) const {
    return !in_arm_[condition].empty() &&
           graph_.value(value_of(graph_, conditions_[condition]->args[0])).block == block;
  }

  bool is_passed(ir::BlockId block, size_t k) const {
    const bool own = std::ranges::any_of(graph_.block(block).nodes, [&](ir::NodeId node) {
      return is_same_call(graph_.node(node), graph_.node(checks_[k].node));
    });
    const std::vector<ir::BlockId>& targets = graph_.block(block).terminator.targets;
    return own || (!targets.empty() &&
                   std::ranges::all_of(targets, [&](ir::BlockId target) { return passed_[target][k]; }));
  }

  static constexpr int kNone = -1;
  const ValueTable& table_;
  const ir::Graph& graph_;
  std::vector<EarlyCheck> checks_;
  std::vector<Expr> conditions_;
  std::vector<std::vector<size_t>> conditions_of_;  ///< of each check: its own, and those of arms
  std::vector<std::vector<int>> in_arm_;  ///< of a condition on a merge: what it is of each operand, or kNone
  std::vector<std::vector<bool>> demanded_, passed_;  ///< by block
};

}  // namespace

bool demands_extent(const Expr& condition) {
  if (condition->kind != ExprKind::kOp || condition->op != ScalarOp::kEq) return false;
  const Expr &extent = condition->args[0], &number = condition->args[1];
  return extent.type() == DType::kI64 && kernel::is_const(number) && !kernel::is_user_constant(number);
}

Expr settled(const Expr& e, const std::vector<Expr>& conditions) {
  if (conditions.empty()) return e;
  return kernel::rewrite(e, [&](const Expr& x) {
    const auto found = std::ranges::find_if(
        conditions, [&](const Expr& condition) { return kernel::same(x, condition->args[0]); });
    return found == conditions.end() ? Expr() : (*found)->args[1];
  });
}

EarlyChecks::EarlyChecks(const ValueTable& table)
    : made_(table.graph().blocks.size()), dominators_(table.graph().immediate_dominators()) {
  const Demands demands(table);
  for (const ir::BlockId block : table.graph().topological_order()) {
    std::vector<EarlyCheck> here = demands.at(block);
    const std::vector<Expr> known = conditions_in(block);
    std::erase_if(here, [&](const EarlyCheck& check) {
      return std::ranges::any_of(
          known, [&](const Expr& condition) { return kernel::same(condition, check.condition); });
    });
    made_[block] = std::move(here);
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

}  // namespace galatea::values
