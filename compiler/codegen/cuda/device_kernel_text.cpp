// One line of numbers, then the size of the scratch memory.
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
  return numbers_of(*facts.device) + scratch_to_text(facts.scratch_bytes);
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
  auto scratch = read_scratch(text.substr(end + 1), kernel);
  if (!scratch) return std::nullopt;
  FlagCauses causes = flag_causes(kernel);
  device.may_fail = causes.may_fail;
  device.divisors = std::move(causes.divisors);
  return DeviceKernelFacts{std::make_shared<const runtime::DeviceKernel>(std::move(device)),
                           std::move(*scratch)};
}

}  // namespace galatea::codegen
