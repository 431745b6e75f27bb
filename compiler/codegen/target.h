// What code is generated for.
//
// Comes in: this machine, or a name. Goes out: the instruction-set level, and what it offers to the vector
// forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace galatea::codegen {

/// Those of x86-64 each contain the one before; the names are the System V ABI's, plus ours for VNNI and
/// VBMI. kAarch64 is Armv8-A with Advanced SIMD (NEON), which every such processor has.
enum class TargetLevel { kX86V3, kX86V4, kX86V4Vnni, kAarch64 };

struct Target {
  TargetLevel level = TargetLevel::kX86V3;
  bool slow_gather = false;  ///< words loaded one by one are faster (Zen 4); the processor's, not the level's
  bool is_x86() const { return level != TargetLevel::kAarch64; }
  bool avx512() const { return is_x86() && level >= TargetLevel::kX86V4; }
  bool vnni_vbmi() const { return is_x86() && level >= TargetLevel::kX86V4Vnni; }
  int vector_bits() const { return !is_x86() ? 128 : avx512() ? 512 : 256; }
  /// What a look-up of a byte in a table of 256 costs, in operations on bytes (kernel::ScheduleOptions).
  int look_up_cost() const { return !is_x86() ? 16 : vnni_vbmi() ? 4 : avx512() ? 18 : 20; }
  std::string name() const;      ///< "x86-64-v4-vnni"
  std::string cpu() const;       ///< LLVM's name of the processor
  std::string features() const;  ///< LLVM's feature string beyond the processor
  std::string triple() const;    ///< LLVM's name of architecture and system
};

/// The best level of this machine; nullopt on others than those above (the interpreter then runs kernels).
std::optional<Target> host_target();
/// By name; an error lists the names.
Result<Target> target_from_name(std::string_view name);
/// Every level that this machine can run.
std::vector<Target> runnable_targets();

}  // namespace galatea::codegen
