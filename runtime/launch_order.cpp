// Reachability among call sites, then the order of sites that share launches.
#include "runtime/launch_order.h"

#include <algorithm>
#include <map>

#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

/// A set of launches.
class LaunchSet {
 public:
  explicit LaunchSet(size_t count) : words_((count + 63) / 64) {}
  void insert(size_t launch) { words_[launch / 64] |= uint64_t{1} << launch % 64; }
  bool holds(size_t launch) const { return (words_[launch / 64] >> launch % 64 & 1) != 0; }
  void add(const LaunchSet& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<uint64_t> words_;
};

std::vector<size_t> successors(const Program& program, size_t at) {
  const Instruction& i = program.code[at];
  std::vector<size_t> out;
  switch (i.op) {
    case Opcode::kReturn:
      break;
    case Opcode::kJump:
      out = {static_cast<size_t>(i.a)};
      break;
    case Opcode::kBranch:
      out = {static_cast<size_t>(i.a), static_cast<size_t>(i.c)};
      break;
    // Of the arms that are recorded one runs.
    case Opcode::kArms:
      for (int32_t arm = 0; arm < i.imm; ++arm)
        out.push_back(static_cast<size_t>(start_of_arm(program, i, arm)));
      break;
    case Opcode::kNextArm:
      out = {static_cast<size_t>(i.c)};
      break;
    case Opcode::kSwitch:
      for (int32_t k = 0; k < i.imm; ++k)
        out.push_back(static_cast<size_t>(program.lists[static_cast<size_t>(i.a + k)]));
      break;
    default:
      out = {at + 1};
  }
  return out;
}

/// Launches as they first stand in the code.
struct Sites {
  std::vector<int32_t> launch_of, kernel_of;
};

bool share_code(const Program& program, int32_t a, int32_t b) {
  return a == b || program.kernels[static_cast<size_t>(a)].device->cubin ==
                       program.kernels[static_cast<size_t>(b)].device->cubin;
}

Result<Sites> find_sites(const Program& program) {
  Sites out;
  out.launch_of.assign(program.kernel_calls.size(), -1);
  std::map<int32_t, int32_t> shared;
  for (const Instruction& i : program.code) {
    if (i.op != Opcode::kCallKernel || !i.on_device) continue;
    int32_t& launch = out.launch_of[static_cast<size_t>(i.a)];
    if (launch >= 0) return make_error(message::kBadProgram, "two instructions make one call of the device");
    const KernelCallSpec& call = program.kernel_calls[static_cast<size_t>(i.a)];
    launch = static_cast<int32_t>(out.kernel_of.size());
    if (call.launch >= 0) launch = shared.try_emplace(call.launch, launch).first->second;
    if (launch == static_cast<int32_t>(out.kernel_of.size())) {
      out.kernel_of.push_back(call.kernel);
    } else if (!share_code(program, out.kernel_of[static_cast<size_t>(launch)], call.kernel)) {
      return make_error(message::kBadProgram,
                        "calls of kernels that have no function in common share a launch");
    }
  }
  return out;
}

}  // namespace

Result<LaunchOrder> launch_order(const Program& program) {
  GALATEA_ASSIGN(const Sites sites, find_sites(program));
  const size_t count = sites.kernel_of.size();
  // behind[n]: launches met at instruction n or behind it; after[l]: those that some way meets after l.
  std::vector<LaunchSet> behind(program.code.size(), LaunchSet(count)), after(count, LaunchSet(count));
  for (size_t at = program.code.size(); at-- > 0;) {
    for (const size_t next : successors(program, at)) {
      if (next <= at || next >= program.code.size())
        return make_error(message::kBadProgram, "a program of the device jumps backwards");
      behind[at].add(behind[next]);
    }
    const Instruction& i = program.code[at];
    if (i.op != Opcode::kCallKernel || !i.on_device) continue;
    const auto launch = static_cast<size_t>(sites.launch_of[static_cast<size_t>(i.a)]);
    after[launch].add(behind[at]);
    behind[at].insert(launch);
  }
  // Of those that nothing left has to come before, the first in the code.
  LaunchOrder out;
  out.launch_of = sites.launch_of;
  std::vector<int32_t> number(count, -1);
  for (size_t turn = 0; turn < count; ++turn) {
    size_t first = 0;
    for (; first < count; ++first) {
      if (number[first] >= 0) continue;
      bool is_free = true;
      for (size_t other = 0; other < count && is_free; ++other)
        is_free = number[other] >= 0 || !after[other].holds(first);
      if (is_free) break;
    }
    if (first == count)
      return make_error(message::kBadProgram, "no order of launches suits every way through the program");
    number[first] = static_cast<int32_t>(turn);
    out.kernel_of.push_back(sites.kernel_of[first]);
  }
  for (int32_t& launch : out.launch_of)
    if (launch >= 0) launch = number[static_cast<size_t>(launch)];
  return out;
}

}  // namespace galatea::runtime
