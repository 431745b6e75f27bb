// Loops to an LLVM module, and that module to machine code.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// What we emit, before LLVM's passes touch it (explain --emit=llvm).
std::string emit_llvm_text(const kernel::LoopKernel& kernel, const Target& target);
/// Assembly after LLVM's passes (explain --emit=asm).
Result<std::string> emit_assembly(const kernel::LoopKernel& kernel, const Target& target);

}  // namespace galatea::codegen
