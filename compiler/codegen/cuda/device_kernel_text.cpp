// One line of numbers, one of the blocks with work (it may be empty), then the size of the scratch memory.
#include "compiler/codegen/cuda/device_kernel_text.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/scratch_text.h"

namespace galatea::codegen {

namespace {

std::string numbers_of(const runtime::DeviceKernel& device) {
  return fmt::format("inputs {} tiled {} shared {}\n", device.inputs, int{device.can_be_tiled},
                     int{device.shares_phases});
}

}  // namespace

std::string to_text(const DeviceKernelFacts& facts) {
  const std::string blocks = facts.blocks ? kernel::to_text(facts.blocks) : "";
  return numbers_of(*facts.device) + blocks + "\n" + scratch_to_text(facts.scratch_bytes);
}

std::optional<DeviceKernelFacts> read_device_facts(const std::string& text, const kernel::Kernel& kernel) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string numbers = text.substr(0, end + 1);
  runtime::DeviceKernel device;
  int tiled = 0, shared = 0;
  if (std::sscanf(numbers.c_str(), "inputs %9d tiled %1d shared %1d", &device.inputs, &tiled, &shared) != 3)
    return std::nullopt;
  device.can_be_tiled = tiled == 1;
  device.shares_phases = shared == 1;
  // Written again they are the same: nothing else stands there.
  if (numbers != numbers_of(device) || device.inputs < 0 ||
      device.inputs > static_cast<int>(kernel.inputs.size()))
    return std::nullopt;
  const size_t end_of_blocks = text.find('\n', end + 1);
  if (end_of_blocks == std::string::npos) return std::nullopt;
  const std::string blocks_text = text.substr(end + 1, end_of_blocks - end - 1);
  std::optional<kernel::Expr> blocks = kernel::Expr();
  if (!blocks_text.empty()) blocks = read_scratch(blocks_text, kernel);
  auto scratch = read_scratch(text.substr(end_of_blocks + 1), kernel);
  if (!scratch || !blocks) return std::nullopt;
  FlagCauses causes = flag_causes(kernel);
  device.may_fail = causes.may_fail;
  device.divisors = std::move(causes.divisors);
  return DeviceKernelFacts{std::make_shared<const runtime::DeviceKernel>(std::move(device)),
                           std::move(*scratch), std::move(*blocks)};
}

}  // namespace galatea::codegen
