// Errors in arms of which only the device knows whether a sample takes them.
//
// All arms of such a branch are run by every sample's program, so that what an arm checks may fail for a
// sample that goes another way. The values that a check reads are the host's, and nearly always it holds:
// nobody waits. Where it does not, the sample stops as at a barrier, and its batch alone waits for the flags
// of the arms around; then the error is the sample's, in the words and at the place that it would have had,
// or the sample goes on where the arm ends, as the blocks of its calls do.
//
// Designs considered: a flag that a kernel raises (the words and the values of a check would have to come
// back from the device), checks put off to the end of the sample (what stands behind a check relies on it:
// sizes, indices), branches that wait wherever a check may fail (each batch pays for what hardly happens).
#include <algorithm>

#include "runtime/messages.h"
#include "runtime/sample_program.h"

namespace galatea::runtime {
namespace {

/// What fails for what the sample is, not for want of memory.
bool depends_on_sample(Opcode op) {
  return op == Opcode::kCheck || op == Opcode::kScalar || op == Opcode::kSwitch || op == Opcode::kView ||
         op == Opcode::kAllocate;
}

struct AroundArm {
  const Instruction* branch = nullptr;
  int32_t arm = 0;
};

/// Outer arms stand before inner ones.
std::vector<AroundArm> arms_around(const Program& program, size_t at) {
  std::vector<AroundArm> out;
  const auto place = static_cast<int32_t>(at);
  for (size_t n = 0; n < at; ++n) {
    const Instruction& i = program.code[n];
    if (i.op != Opcode::kArms || place >= i.c) continue;
    int32_t arm = i.imm - 1;
    while (place < start_of_arm(program, i, arm)) --arm;
    out.push_back({&i, arm});
  }
  return out;
}

}  // namespace

Result<Frame::Outcome> Frame::fail_at(const Instruction& i, Error error) {
  error = loaded_->located(std::move(error), i.location);
  if (program_.device < 0 || error.kind != ErrorKind::kUser || !depends_on_sample(i.op))
    return std::unexpected(std::move(error));
  const auto around = arms_around(program_, static_cast<size_t>(&i - program_.code.data()));
  if (around.empty()) return std::unexpected(std::move(error));
  auto doubt = std::make_unique<Doubt>();
  for (const AroundArm& arm : around) {
    const auto slot = static_cast<size_t>(arm.branch->b);
    const Tensor& flag = slots_[slot];
    if (flag.memory != Memory::kDevice || size_of(flag.dtype) != 1)
      return make_error(message::kBadProgram, "a guard is no byte of the device");
    GALATEA_ASSIGN(uint8_t* const to, input_.device->stage_download(1));
    record_.downloads.push_back({reinterpret_cast<uintptr_t>(flag.data), to, 1});
    retain_block(blocks_[slot]);
    downloading_.push_back(blocks_[slot]);
    const Instruction& branch = *arm.branch;
    const bool is_last = arm.arm + 1 == branch.imm;
    const int32_t end = is_last ? branch.c : start_of_arm(program_, branch, arm.arm + 1);
    doubt->arms.push_back({to, wanted_in_arm(program_, branch, arm.arm),
                           static_cast<uint32_t>(branch.imm - 1), static_cast<size_t>(end)});
  }
  doubt->error = std::move(error);
  doubt_ = std::move(doubt);
  at_device_barrier_ = waits_for_device_ = true;
  barrier_location_ = i.location;
  return Outcome::kBarrier;
}

/// The flag of an arm within one that is not taken was never written.
Status Frame::settle_doubt() {
  const std::unique_ptr<Doubt> doubt = std::move(doubt_);
  for (const Doubt::Arm& arm : doubt->arms) {
    if (std::min<uint32_t>(*arm.flag, arm.largest) == arm.wanted) continue;
    pc_ = arm.end;
    return {};
  }
  return std::unexpected(std::move(doubt->error));
}

}  // namespace galatea::runtime
