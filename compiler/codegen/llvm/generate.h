// Loops to LLVM's text, to assembly, to code objects: what the module's entry (module_entry.cpp) offers.
//
// Comes in: loops, a target. Goes out: text or an object. Errors are exceptions here; the entry catches them.
#pragma once

#include <string>

#include "compiler/codegen/module_interface.h"
#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"
#include "runtime/code_loader.h"

namespace galatea::codegen {

/// Before LLVM's passes.
std::string emit_llvm_text(const kernel::LoopKernel& kernel, const Target& target);
/// After LLVM's passes, of the best code.
std::string emit_assembly(const kernel::LoopKernel& kernel, const Target& target);
/// A relocatable object, whose function link_object() finds by its name.
std::string emit_elf(const kernel::LoopKernel& kernel, const Target& target, CodeTier tier);
inline constexpr const char* kSymbol = "galatea_kernel";

/// An ELF object of one function to bytes that need no linking: its sections are laid out one behind the
/// other, and what refers from one to the other is resolved. Throws InternalError on anything that would need
/// a symbol, a table or a writable byte at run time.
runtime::CodeObject link_object(std::string_view elf, std::string_view function);

}  // namespace galatea::codegen
