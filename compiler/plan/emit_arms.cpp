// Branches of which both arms are recorded: one arm behind the other, calls that have guards, merges that
// both write. What stands in such an arm is done for every sample; where that cannot be, the branch has to
// wait.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/value_range.h"
#include "compiler/plan/emitter.h"

namespace galatea::plan {

using runtime::Instruction;

const RecordedBranch* Emitter::recorded_at(ir::BlockId block) const {
  const auto found = std::ranges::find(branches_.recorded, block, &RecordedBranch::block);
  return found == branches_.recorded.end() ? nullptr : &*found;
}

ir::ValueId Emitter::home_of(ir::ValueId value) const {
  for (auto found = branches_.written_to.find(value); found != branches_.written_to.end();
       found = branches_.written_to.find(value))
    value = found->second;
  return value;
}

void Emitter::emit_both_arms(const RecordedBranch& branch, const ir::Terminator& terminator) {
  bool is_known = selectors_ == SelectorForm::kAuto;
  kernel::for_each_node(table_.resolve(table_.element(branch.selector, 0)), [&](const Expr& x) {
    is_known = is_known && (x->kind != kernel::ExprKind::kSymbol || can_compute(*x));
  });
  if (is_known) object_to(branch, "the host has what it depends on anyway");
  for (const ir::Merge& merge : graph_.block(branch.join).merges) allocate(merge.result);
  const int flag = slot_of(branch.flag);
  jumps_.emplace_back(program_.code.size(), terminator.targets[1]);
  emit(Op::kBothArms).b = flag;
}

bool Emitter::emit_end_of_arm(ir::BlockId block, ir::BlockId target) {
  if (arms_.empty()) return false;
  for (const ArmOf& arm : arms_[block]) {
    const RecordedBranch& branch = branches_.recorded[static_cast<size_t>(arm.branch)];
    if (!arm.first || branch.join != target) continue;
    jumps_.emplace_back(program_.code.size(), graph_.block(branch.block).terminator.targets[1]);
    joins_.emplace_back(program_.code.size(), target);
    emit(Op::kNextArm);
    return true;
  }
  return false;
}

/// The first arm follows the branch.
void Emitter::check_arms() const {
  for (const RecordedBranch& branch : branches_.recorded) {
    const auto& targets = graph_.block(branch.block).terminator.targets;
    const int32_t first = block_start_[targets[0]];
    GALATEA_CHECK(first > 0 && program_.code[static_cast<size_t>(first) - 1].op == Op::kBothArms &&
                      program_.code[static_cast<size_t>(first) - 1].a == block_start_[targets[1]],
                  "the arms of a branch are not in order");
  }
}

std::vector<runtime::CallGuard> Emitter::guards_here() {
  std::vector<runtime::CallGuard> out;
  if (!in_arm()) return out;
  for (const ArmOf& arm : arms_[block_])
    out.push_back({slot_of(branches_.recorded[static_cast<size_t>(arm.branch)].flag), arm.first});
  return out;
}

void Emitter::object_to(const RecordedBranch& branch, const std::string& why) {
  if (!objection_) objection_ = {branch.block, why};
}

void Emitter::object(const std::string& why) {
  if (!in_arm() || objection_) return;
  const std::string& op = program_.locations[static_cast<size_t>(location_)].op;
  object_to(branches_.recorded[static_cast<size_t>(arms_[block_].back().branch)],
            fmt::format("{} in its arms needs the host: {}", op, why));
}

/// An arm that is not taken must not fail. What has been checked on the way to the branch holds.
void Emitter::object_if_it_may_fail(const Expr& condition) {
  if (!in_arm() || kernel::ValueRanges().of(condition).low > 0) return;
  const bool holds = std::ranges::any_of(checked_, [&](const auto& checked) {
    return visible_here(checked.second) && kernel::same(checked.first, condition);
  });
  if (!holds) object("what it checks may fail");
}

void Emitter::object_if_out_of_range(const Expr& index, size_t count) {
  if (!in_arm()) return;
  const shape::Range range = kernel::ValueRanges().of(index);
  if (range.low < 0 || range.high >= static_cast<shape::Wide>(count)) object("an index may be out of range");
}

void Emitter::object_if_division_may_fail(const Expr& e) {
  const bool divides = e->op == ScalarOp::kDiv || e->op == ScalarOp::kRem;
  if (!in_arm() || !divides || is_float(e->type)) return;
  const shape::Range divisor = kernel::ValueRanges().of(e->args[1]);
  if (divisor.low <= 0 && divisor.high >= 0) object("it may divide by zero");
}

/// A value of the GPU is about to be waited for.
void Emitter::object_to_bringing(ir::ValueId value) {
  object("it depends on a value of the GPU");
  const int branch = branches_.branch_of_merge(graph_, value);
  if (branch >= 0 && selectors_ == SelectorForm::kAuto)
    object_to(branches_.recorded[static_cast<size_t>(branch)], "the host needs a number that its arms give");
}

}  // namespace galatea::plan
