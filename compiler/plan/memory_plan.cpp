// See memory_plan.h. Needs are computed from the end of the program backwards.
#include "compiler/plan/memory_plan.h"

#include <algorithm>

namespace galatea::plan {

namespace {

Expr bytes(double value) { return kernel::const_float(value, DType::kF64); }
bool is_nothing(const Expr& e) { return kernel::is_const(e) && cell_to_double(e.type(), e->value) == 0; }

Expr sum(const Expr& a, const Expr& b) { return is_nothing(a) ? b : is_nothing(b) ? a : a + b; }
Expr larger(const Expr& a, const Expr& b) {
  return is_nothing(a) || kernel::same(a, b) ? b : is_nothing(b) ? a : kernel::max(a, b);
}
Expr choose(const Expr& condition, const Expr& a, const Expr& b) {
  return kernel::same(a, b) ? a : kernel::select(condition, a, b);
}

}  // namespace

Expr claimed_bytes(DType type, const std::vector<Expr>& extents) {
  // An arena rounds up by an eighth at most, and keeps its blocks aligned and padded.
  constexpr double kRounding = 1.125, kAround = 128;
  Expr volume = bytes(static_cast<double>(size_of(type)) * kRounding);
  for (const Expr& extent : extents)
    volume = volume * kernel::max(kernel::convert(extent, DType::kF64), bytes(0));
  return volume + bytes(kAround);
}

MemoryPlan::MemoryPlan(const ValueTable& table, std::vector<MemoryClaim> claims, int64_t small_bytes)
    : table_(&table),
      claims_(std::move(claims)),
      granted_(claims_.size(), false),
      by_block_(table.graph().blocks.size()),
      order_(table.graph().topological_order()),
      dominators_(table.graph().immediate_dominators()),
      small_bytes_(static_cast<double>(small_bytes)) {
  for (size_t i = 0; i < claims_.size(); ++i) {
    const MemoryClaim& claim = claims_[i];
    by_block_[claim.block].push_back({claim.at, i, false});
    if (claim.released_at >= 0) by_block_[claim.released_in].push_back({claim.released_at, i, true});
  }
  // What an instruction takes it takes before it gives back; several claims of one keep their order.
  for (auto& events : by_block_)
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.release < b.release;
    });
}

MemoryNeed MemoryPlan::grant(size_t next, ir::BlockId block, const ScalarBounds::CanCompute& can_compute) {
  ScalarBounds bounds(*table_, can_compute);
  needs_.assign(by_block_.size(), {bytes(0), bytes(0)});
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    // Only where every path has come past this block can anything be promised here.
    ir::BlockId up = *it;
    while (up != block && dominators_[up] != up) up = dominators_[up];
    if (up == block) needs_[*it] = need_of_block(*it, bounds, next);
    if (*it == block) break;
  }
  MemoryNeed need = needs_[block];
  need.sample = sum(need.sample, bytes(small_bytes_));
  small_bytes_ = 0;
  return need;
}

MemoryNeed MemoryPlan::need_of_block(ir::BlockId block, ScalarBounds& bounds, size_t next) {
  MemoryNeed need = after_block(block, bounds);
  const auto& events = by_block_[block];
  for (auto it = events.rbegin(); it != events.rend(); ++it) {
    const MemoryClaim& claim = claims_[it->claim];
    if (it->claim < next || granted_[it->claim]) continue;
    const Expr bound = bounds.upper(claim.bytes);
    if (!bound) continue;
    if (it->release) {
      if (!is_nothing(need.sample)) need.sample = kernel::max(need.sample - bound, bytes(0));
      continue;
    }
    granted_[it->claim] = true;
    switch (claim.kind) {
      case MemoryClaim::Kind::kHeld:
        need.sample = sum(bound, need.sample);
        break;
      case MemoryClaim::Kind::kScratch:
        need.sample = larger(bound, need.sample);
        break;
      case MemoryClaim::Kind::kOutput:
        need.outputs = sum(bound, need.outputs);
        break;
    }
  }
  return need;
}

MemoryNeed MemoryPlan::after_block(ir::BlockId block, ScalarBounds& bounds) const {
  const ir::Terminator& terminator = table_->graph().block(block).terminator;
  if (terminator.kind == ir::TerminatorKind::kReturn) return {bytes(0), bytes(0)};
  MemoryNeed need = needs_[terminator.targets.back()];
  if (terminator.targets.size() == 1) return need;
  const Expr selector = bounds.exact(table_->resolve(table_->element(terminator.selector, 0)));
  const bool is_switch = terminator.kind == ir::TerminatorKind::kSwitch;
  for (size_t i = terminator.targets.size() - 1; i-- > 0;) {
    const MemoryNeed& arm = needs_[terminator.targets[i]];
    if (!selector) {
      need = {larger(arm.sample, need.sample), larger(arm.outputs, need.outputs)};
      continue;
    }
    const DType type = selector.type();
    auto number = [&](int64_t value) { return kernel::constant(type, cell_from_int(type, value)); };
    const Expr taken = is_switch ? kernel::equal(selector, number(static_cast<int64_t>(i)))
                                 : kernel::not_equal(selector, number(0));
    need = {choose(taken, arm.sample, need.sample), choose(taken, arm.outputs, need.outputs)};
  }
  return need;
}

}  // namespace galatea::plan
