// One text for a launch: of one kernel, or of several, of which each call names its own.
//
// Comes in: loops lowered for a GPU. Goes out: CUDA text. The arms of a policy are kernels of one launch: a
// sample runs one of them, and its blocks branch to it as one, so that nothing diverges within a block.
// Designs considered: function pointers in the descriptors (calls through pointers cannot be inlined, and
// NVRTC must assume the most registers all the same), a launch an arm (what the merging is to avoid).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// `extern "C"` under `name`; call.kernel counts `kernels` from 0.
std::string emit_cuda_launch(std::span<const kernel::LoopKernel* const> kernels, const std::string& name);

/// The same text in pieces, each of which compiles by itself behind the prelude.
struct LaunchUnits {
  struct Arm {
    std::string text;
    int most_registers = 0;
  };
  std::vector<Arm> arms;  ///< a function each, under a name that only its text decides; none twice
  std::string entry;      ///< what is launched: it calls the arms, or is the only kernel
  /// All of it, as one text.
  std::string together() const;
};
LaunchUnits emit_cuda_units(std::span<const kernel::LoopKernel* const> kernels, const std::string& name);

}  // namespace galatea::codegen
