// The backend "llvm": machine code of this processor.
//
// Comes in: loops. Goes out: code from this process, else from the program cache, else from the code
// generation module, which only then is loaded. What would take long to compile may begin with code of the
// first tier (tiers.h).
#pragma once

#include <memory>

#include "compiler/codegen/backend.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/target.h"
#include "compiler/codegen/tiers.h"

namespace galatea::codegen {

/// Without options nothing is kept on disk.
std::unique_ptr<KernelBackend> make_llvm_backend(const Target& target, CacheOptions cache = {},
                                                 Tiers tiers = Tiers::kBest);
/// The backend by the command line's name: "llvm" (the interpreter, with a note, where this machine is below
/// x86-64-v3), "interpreter". `note` gets the words for the user, or stays empty.
Result<std::unique_ptr<KernelBackend>> make_backend(const std::string& name, std::string* note,
                                                    CacheOptions cache = default_cache_options(),
                                                    Tiers tiers = Tiers::kBest);

}  // namespace galatea::codegen
