// The size of a kernel's scratch memory as text, as it stands beside code that is kept.
//
// Comes in: bytes over the kernel's parameters (kernel::layout_scratch). Goes out: text, and the same
// expression again. What is read comes from a file and is held to the kernel: nothing but its parameters,
// constants and operations may be in it.
#pragma once

#include <optional>
#include <string>

#include "compiler/kernel/kernel.h"

namespace galatea::codegen {

std::string scratch_to_text(const kernel::Expr& bytes);
/// Nothing: the text is no number of bytes over the kernel's parameters.
std::optional<kernel::Expr> read_scratch(const std::string& text, const kernel::Kernel& kernel);

}  // namespace galatea::codegen
