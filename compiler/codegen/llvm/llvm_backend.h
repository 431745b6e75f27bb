// The LLVM backend: loops to machine code in this process.
#pragma once

#include <memory>

#include "compiler/codegen/backend.h"
#include "compiler/codegen/llvm/target.h"

namespace galatea::codegen {

std::unique_ptr<KernelBackend> make_llvm_backend(const Target& target);
/// The backend by the command line's name: "llvm" (the interpreter, with a note, where this machine is below
/// x86-64-v3), "interpreter". `note` gets the words for the user, or stays empty.
Result<std::unique_ptr<KernelBackend>> make_backend(const std::string& name, std::string* note);

}  // namespace galatea::codegen
