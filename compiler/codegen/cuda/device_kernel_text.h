// What a program has to know of a GPU's kernel, as text: an entry of the program cache by the kernel's form.
//
// Comes in: what was seen of the kernel's loops. Goes out: the same for a later process, which makes no
// loops. What is read comes from a file: it is held to the kernel, and whatever does not fit is refused.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/kernel/kernel.h"
#include "runtime/program.h"

namespace galatea::codegen {

/// What is known of a kernel without its loops.
struct DeviceKernelFacts {
  std::shared_ptr<const runtime::DeviceKernel> device;  ///< its cubin is null; nullptr: nothing is known
  kernel::Expr scratch_bytes;                           ///< over kParam (kernel::layout_scratch)
  kernel::Expr blocks = {};                             ///< over kParam (blocks_with_work); may be empty
};

std::string to_text(const DeviceKernelFacts& facts);
/// Nothing: these are no facts about this kernel. Its flags are found in the kernel itself.
std::optional<DeviceKernelFacts> read_device_facts(const std::string& text, const kernel::Kernel& kernel);

}  // namespace galatea::codegen
