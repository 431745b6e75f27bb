// See launches.h.
#include "compiler/plan/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace galatea::plan {

using runtime::Instruction;
using runtime::Opcode;
using runtime::Program;

namespace {

/// So many kernels of a level are launched for themselves.
constexpr size_t kFewKernels = 2;

/// How many calls of the GPU the longest path has before each instruction. Jumps go forward only.
std::vector<int> levels(const Program& program) {
  std::vector<int> out(program.code.size(), 0);
  const auto reach = [&](int32_t target, int level) {
    int& known = out[static_cast<size_t>(target)];
    known = std::max(known, level);
  };
  for (size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& i = program.code[at];
    const int behind = out[at] + (i.op == Opcode::kCallKernel && i.on_device ? 1 : 0);
    switch (i.op) {
      case Opcode::kJump:
        reach(i.a, behind);
        break;
      case Opcode::kBranch:
        reach(i.a, behind);
        reach(i.c, behind);
        break;
      // Arms that are recorded exclude each other on the device.
      case Opcode::kArms:
        for (int32_t arm = 0; arm < i.imm; ++arm) reach(runtime::start_of_arm(program, i, arm), behind);
        break;
      case Opcode::kNextArm:
        reach(i.c, behind);
        break;
      case Opcode::kSwitch:
        for (int32_t k = 0; k < i.imm; ++k) reach(program.lists[static_cast<size_t>(i.a + k)], behind);
        break;
      case Opcode::kReturn:
        break;
      default:
        reach(static_cast<int32_t>(at) + 1, behind);
    }
  }
  return out;
}

}  // namespace

std::vector<Launch> plan_launches(Program& program, LaunchForm form) {
  const std::vector<int> level_of = levels(program);
  std::map<int, Launch> by_level;
  for (size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& i = program.code[at];
    if (i.op != Opcode::kCallKernel || !i.on_device) continue;
    Launch& launch = by_level[level_of[at]];
    launch.level = level_of[at];
    launch.calls.push_back(i.a);
    const int kernel = program.kernel_calls[static_cast<size_t>(i.a)].kernel;
    if (std::find(launch.kernels.begin(), launch.kernels.end(), kernel) == launch.kernels.end())
      launch.kernels.push_back(kernel);
  }
  std::vector<Launch> out;
  for (auto& [level, launch] : by_level) {
    const size_t count = launch.kernels.size();
    if (count == 1) {
      if (launch.calls.size() > 1)
        launch.why = fmt::format("one kernel, called from {} places", launch.calls.size());
      out.push_back(std::move(launch));
      continue;
    }
    // A kernel of the user's own has threads and names of its own.
    const bool are_apart = std::ranges::any_of(launch.kernels, [&](int kernel) {
      const auto& device = program.kernels[static_cast<size_t>(kernel)].device;
      return device && device->has_grid;
    });
    if (!are_apart && (form == LaunchForm::kMerged || (form == LaunchForm::kAuto && count > kFewKernels))) {
      launch.why =
          fmt::format("{} kernels, of which a sample runs one: each block looks up its call's", count);
      out.push_back(std::move(launch));
      continue;
    }
    for (int kernel : launch.kernels) {
      Launch own;
      own.level = level;
      own.kernels = {kernel};
      for (int32_t call : launch.calls)
        if (program.kernel_calls[static_cast<size_t>(call)].kernel == kernel) own.calls.push_back(call);
      own.why = fmt::format("one of {} kernels for different samples, each with blocks for its own", count);
      out.push_back(std::move(own));
    }
  }
  for (size_t number = 0; number < out.size(); ++number)
    for (int32_t call : out[number].calls)
      program.kernel_calls[static_cast<size_t>(call)].launch = static_cast<int32_t>(number);
  return out;
}

int kernel_for_launch(Program& program, const std::vector<runtime::ProgramKernel>& planned,
                      const Launch& launch, size_t opcode) {
  const int kernel = launch.kernels[opcode];
  const auto is_called = [&](int number) {
    return std::any_of(launch.calls.begin(), launch.calls.end(), [&](int32_t call) {
      return program.kernel_calls[static_cast<size_t>(call)].kernel == number;
    });
  };
  GALATEA_CHECK(is_called(kernel), "a launch without calls of its kernel");
  // Calls of earlier launches that have this kernel keep it.
  const bool taken =
      std::any_of(program.kernel_calls.begin(), program.kernel_calls.end(), [&](const auto& call) {
        return call.kernel == kernel && call.launch >= 0 &&
               call.launch < program.kernel_calls[static_cast<size_t>(launch.calls.front())].launch;
      });
  int number = kernel;
  if (taken) {
    number = static_cast<int>(program.kernels.size());
    program.kernels.push_back(planned[static_cast<size_t>(kernel)]);
    for (int32_t call : launch.calls) {
      int32_t& of_call = program.kernel_calls[static_cast<size_t>(call)].kernel;
      if (of_call == kernel) of_call = number;
    }
  }
  auto& device = program.kernels[static_cast<size_t>(number)].device;
  auto with_opcode = std::make_shared<runtime::DeviceKernel>(*device);
  with_opcode->opcode = static_cast<int32_t>(opcode);
  device = std::move(with_opcode);
  return number;
}

}  // namespace galatea::plan
