// See release_slots.h.
#include "compiler/plan/release_slots.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace galatea::plan {

using runtime::Instruction;
using runtime::Opcode;
using runtime::Program;

namespace {

/// Every slot that an instruction reads or makes.
template <typename F>
void for_each_slot(const Program& program, const Instruction& i, const F& f) {
  const auto list = [&](int32_t first, int32_t count) {
    for (int32_t k = 0; k < count; ++k) f(program.lists[static_cast<size_t>(first + k)]);
  };
  switch (i.op) {
    case Opcode::kExtent:
    case Opcode::kLoad:
      return f(i.a);
    case Opcode::kAllocate:
    case Opcode::kAllocateOutput:
    case Opcode::kStoreElements:
    case Opcode::kConstantTensor:
      return f(i.dst);
    case Opcode::kFeed:
      if (i.a >= 0) f(i.a);
      return f(i.dst);
    case Opcode::kView:
    case Opcode::kCopySlot:
    case Opcode::kMakeDense:
    case Opcode::kLend:
    case Opcode::kToHost:
      return f(i.dst), f(i.a);
    case Opcode::kRead:
      return list(i.a, static_cast<int32_t>(program.sources[static_cast<size_t>(i.b)].outputs.size()));
    case Opcode::kCallNative: {
      const runtime::NativeCallSpec& call = program.natives[static_cast<size_t>(i.a)];
      for (int32_t slot : call.inputs) f(slot);
      if (call.output >= 0) f(call.output);
      return;
    }
    case Opcode::kCallKernel: {
      const runtime::KernelCallSpec& call = program.kernel_calls[static_cast<size_t>(i.a)];
      for (int32_t slot : call.tensors) f(slot);
      for (const runtime::CallGuard& guard : call.guards) f(guard.slot);
      return;
    }
    case Opcode::kArms:
      return f(i.b);
    case Opcode::kBarrier: {
      if (i.a == runtime::kDeviceBarrier) return;
      const runtime::BatchStep& step = program.batch_steps[static_cast<size_t>(i.a)];
      for (const runtime::BatchStep::Total& part : step.totals) f(part.from), f(part.to);
      for (const runtime::BatchStep::Take& part : step.takes) f(part.from), f(part.to);
      return;
    }
    case Opcode::kReturn:
      return list(i.a, i.imm);
    default:
      return;
  }
}

/// Nothing is done behind it.
bool goes_elsewhere(Opcode op) {
  return op == Opcode::kReturn || op == Opcode::kJump || op == Opcode::kBranch || op == Opcode::kSwitch ||
         op == Opcode::kNextArm;
}

}  // namespace

std::vector<int32_t> last_uses(const Program& program) {
  std::vector<int32_t> last(static_cast<size_t>(program.num_slots), -1);
  std::vector<int32_t> downloaded;
  std::map<int32_t, std::vector<int32_t>> flags;  // by where the arms that they choose have ended
  for (size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& i = program.code[at];
    // Whatever fails in an arm asks for the flag.
    if (i.op == Opcode::kArms) flags[i.c].push_back(i.b);
    if (const auto ended = flags.find(static_cast<int32_t>(at)); ended != flags.end())
      for (int32_t slot : ended->second)
        last[static_cast<size_t>(slot)] = goes_elsewhere(i.op) ? -1 : static_cast<int32_t>(at);
    // What is copied to the host is read when the barrier launches it.
    if (i.op == Opcode::kToHost) downloaded.push_back(i.a);
    if (i.op == Opcode::kBarrier && i.a == runtime::kDeviceBarrier) {
      for (int32_t slot : downloaded) last[static_cast<size_t>(slot)] = static_cast<int32_t>(at);
      downloaded.clear();
    }
    for_each_slot(program, i, [&](int32_t slot) {
      last[static_cast<size_t>(slot)] = i.op == Opcode::kReturn ? -1 : static_cast<int32_t>(at);
    });
  }
  return last;
}

std::vector<std::vector<int32_t>> sharing_slots(const Program& program) {
  std::vector<int32_t> leader(static_cast<size_t>(program.num_slots));
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](int32_t slot) {
    while (leader[static_cast<size_t>(slot)] != slot) slot = leader[static_cast<size_t>(slot)];
    return slot;
  };
  for (const Instruction& i : program.code)
    if (i.op == Opcode::kView || i.op == Opcode::kCopySlot || i.op == Opcode::kMakeDense ||
        i.op == Opcode::kLend)
      leader[static_cast<size_t>(find(i.dst))] = find(i.a);
  std::vector<std::vector<int32_t>> out(leader.size());
  for (int32_t slot = 0; slot < program.num_slots; ++slot)
    out[static_cast<size_t>(find(slot))].push_back(slot);
  for (int32_t slot = 0; slot < program.num_slots; ++slot)
    if (find(slot) != slot) out[static_cast<size_t>(slot)] = out[static_cast<size_t>(find(slot))];
  return out;
}

void insert_releases(Program& program) {
  const std::vector<int32_t> last = last_uses(program);
  std::vector<std::vector<int32_t>> behind(program.code.size());
  for (size_t slot = 0; slot < last.size(); ++slot)
    if (last[slot] >= 0) behind[static_cast<size_t>(last[slot])].push_back(static_cast<int32_t>(slot));
  std::vector<Instruction> code;
  std::vector<int32_t> moved;  // where each instruction stands now
  for (size_t at = 0; at < program.code.size(); ++at) {
    moved.push_back(static_cast<int32_t>(code.size()));
    code.push_back(program.code[at]);
    for (int32_t slot : behind[at]) {
      Instruction release;
      release.op = Opcode::kRelease;
      release.a = slot;
      release.location = program.code[at].location;
      code.push_back(release);
    }
  }
  for (Instruction& i : code) {
    const bool names_two = i.op == Opcode::kBranch || i.op == Opcode::kNextArm;
    if (names_two || i.op == Opcode::kJump) i.a = moved[static_cast<size_t>(i.a)];
    if (names_two || i.op == Opcode::kArms) i.c = moved[static_cast<size_t>(i.c)];
    if (i.op != Opcode::kSwitch && i.op != Opcode::kArms) continue;
    // Of arms each second entry is no place.
    const int32_t step = i.op == Opcode::kArms ? 2 : 1;
    for (int32_t k = 0; k < i.imm; ++k) {
      int32_t& target = program.lists[static_cast<size_t>(i.a + step * k)];
      target = moved[static_cast<size_t>(target)];
    }
  }
  program.code = std::move(code);
}

}  // namespace galatea::plan
