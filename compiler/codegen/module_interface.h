// What the core and the code generation module say to each other.
//
// Only the first three fields are read before the build ids have been compared; after that both sides have
// the same types, so loops pass as they are. Results are bytes given to a sink of the core's, and no
// exception crosses.
#pragma once

#include <cstdint>

#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// Changes when the first three fields of ModuleTable change their meaning, which is: never, if it can be
/// helped.
inline constexpr uint32_t kModuleInterface = 1;
inline constexpr const char* kModuleSymbol = "galatea_codegen_module";

/// kFirst: made in less than half the time, and slower; the same bits.
enum class CodeTier : uint32_t { kBest, kFirst };
enum class ModuleOutput : uint32_t { kObject, kFirstTierObject, kLlvmText, kAssembly };

/// kUnusable: memory ran out in an earlier call.
enum class ModuleFailure : uint32_t { kBug, kOutOfMemory, kUnusable };

struct ModuleSink {
  void* self = nullptr;
  /// The result, once; `entry` is the offset of an object's function.
  void (*result)(void* self, const char* bytes, uint64_t size, uint64_t entry) = nullptr;
  /// Instead of a result: why there is none. Throws std::bad_alloc where there is no memory for the text, and
  /// is called again without one.
  void (*failure)(void* self, ModuleFailure why, const char* text, uint64_t size) = nullptr;
};

struct ModuleTable {
  uint32_t interface = 0;  ///< kModuleInterface
  uint32_t reserved = 0;
  const char* build_id = nullptr;  ///< build_id() of the module
  const char* generator = nullptr;
  void (*generate)(ModuleOutput what, const kernel::LoopKernel& loops, const Target& target,
                   const ModuleSink& sink) = nullptr;
};

using ModuleEntry = const ModuleTable* (*)();

}  // namespace galatea::codegen
