// Branches of which all arms are recorded: one arm behind the other, calls that have guards, merges that
// all write. What stands in such an arm is done for every sample; where that cannot be, the branch has to
// wait. A check that fails is no reason: the sample's program asks for the flag then
// (runtime/sample_arms.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/division.h"
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

void Emitter::emit_arms(const RecordedBranch& branch, const ir::Terminator& terminator) {
  bool is_known = selectors_ == SelectorForm::kAuto;
  kernel::for_each_node(table_.resolve(table_.element(branch.selector, 0)), [&](const Expr& x) {
    is_known = is_known && (x->kind != kernel::ExprKind::kSymbol || can_compute(*x));
  });
  if (is_known) object_to(branch, "the host has what it depends on anyway");
  for (const ir::Merge& merge : graph_.block(branch.join).merges) allocate(merge.result);
  std::vector<int32_t> list;
  for (size_t arm = 0; arm < branch.arms; ++arm) {
    starts_.emplace_back(program_.lists.size() + list.size(), terminator.targets[arm]);
    list.insert(list.end(), {-1, static_cast<int32_t>(branch.wanted_in(arm))});
  }
  const int32_t first = add_list(list);
  joins_.emplace_back(program_.code.size(), branch.join);
  const int flag = slot_of(branch.flag);
  Instruction& instruction = emit(Op::kArms);
  instruction.a = first;
  instruction.b = flag;
  instruction.imm = static_cast<int32_t>(branch.arms);
}

bool Emitter::emit_end_of_arm(ir::BlockId block, ir::BlockId target) {
  if (arms_.empty()) return false;
  for (const ArmOf& arm : arms_[block]) {
    const RecordedBranch& branch = branches_.recorded[static_cast<size_t>(arm.branch)];
    if (arm.arm + 1 == branch.arms || branch.join != target) continue;
    jumps_.emplace_back(program_.code.size(), graph_.block(branch.block).terminator.targets[arm.arm + 1]);
    joins_.emplace_back(program_.code.size(), target);
    emit(Op::kNextArm);
    return true;
  }
  return false;
}

/// The first arm follows the branch, and each of the others the one before.
void Emitter::check_arms() const {
  for (const RecordedBranch& branch : branches_.recorded) {
    const auto& targets = graph_.block(branch.block).terminator.targets;
    for (size_t arm = 0; arm < targets.size(); ++arm) {
      const int32_t start = block_start_[targets[arm]];
      GALATEA_CHECK(start > 0, "an arm of a branch is nowhere");
      const Instruction& before = program_.code[static_cast<size_t>(start) - 1];
      GALATEA_CHECK(before.op == (arm == 0 ? Op::kArms : Op::kNextArm) && (arm == 0 || before.a == start),
                    "the arms of a branch are not in order");
    }
  }
}

std::vector<runtime::CallGuard> Emitter::guards_here() {
  std::vector<runtime::CallGuard> out;
  if (!in_arm()) return out;
  for (const ArmOf& arm : arms_[block_]) {
    const RecordedBranch& branch = branches_.recorded[static_cast<size_t>(arm.branch)];
    out.push_back({slot_of(branch.flag), branch.wanted_in(arm.arm), branch.largest()});
  }
  return out;
}

void Emitter::object_to(const RecordedBranch& branch, const std::string& why, bool is_certain) {
  (is_certain ? certain_ : uncertain_).emplace(branch.block, why);
}

void Emitter::object(const std::string& why, bool is_certain) {
  if (!in_arm()) return;
  const std::string& op = program_.locations[static_cast<size_t>(location_)].op;
  object_to(branches_.recorded[static_cast<size_t>(arms_[block_].back().branch)],
            fmt::format("{} in its arms needs the host: {}", op, why), is_certain);
}

/// A value of the GPU is about to be waited for.
void Emitter::object_to_bringing(ir::ValueId value) {
  const bool stays_there = !if_all_wait_ || if_all_wait_->on_gpu(value);
  const int branch = branches_.branch_of_merge(graph_, value);
  if (branch >= 0 && selectors_ == SelectorForm::kAuto) {
    object_to(branches_.recorded[static_cast<size_t>(branch)], "the host needs a number that its arms give");
    // Where that branch waits, the host has the number.
    if (!stays_there) return;
  }
  object("it depends on a value of the GPU", stays_there);
}

ArmFindings Emitter::findings() const {
  ArmFindings out{certain_, doubtful_};
  // One of them may settle the others.
  if (out.waiting.empty() && !uncertain_.empty()) out.waiting.insert(*uncertain_.begin());
  return out;
}

void Emitter::doubt() {
  const std::string& op = program_.locations[static_cast<size_t>(location_)].op;
  std::vector<std::string>& known =
      doubtful_[branches_.recorded[static_cast<size_t>(arms_[block_].back().branch)].block];
  if (std::ranges::find(known, op) == known.end()) known.push_back(op);
}

/// What has been checked on the way here holds.
bool Emitter::is_checked(const Expr& condition) const {
  return std::ranges::any_of(checked_, [&](const auto& checked) {
    return visible_here(checked.second) && kernel::same(checked.first, condition);
  });
}

void Emitter::doubt_check(const Expr& condition) {
  if (!in_arm()) return;
  const kernel::ScalarRange range = kernel::ValueRanges().of(condition);
  if (range.high <= 0)
    object("what it checks does not hold");
  else if (range.low <= 0)
    doubt();
}

void Emitter::doubt_index(const Expr& index, size_t count) {
  if (!in_arm()) return;
  const kernel::ScalarRange range = kernel::ValueRanges().of(index);
  if (range.low < 0 || range.high >= static_cast<kernel::Wide>(count)) doubt();
}

void Emitter::doubt_division(const Expr& e) {
  const bool divides = e->op == ScalarOp::kDiv || e->op == ScalarOp::kRem;
  if (!in_arm() || !divides || is_float(e->type)) return;
  if (kernel::may_be_zero(e->args[1])) doubt();
}

}  // namespace galatea::plan
