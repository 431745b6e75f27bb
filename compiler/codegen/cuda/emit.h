// CUDA C++ text from loops.
//
// Comes in: loops that were lowered with ScheduleOptions::gpu. Goes out: text that NVRTC compiles for a GPU,
// and any C++17 compiler for the host: the macros of the prelude say what differs. One launch runs the calls
// of many samples, each by one block of threads or, where can_be_tiled(), by any number of them; phases are
// separated by barriers (on the host: each phase is a loop over the threads, in order or permuted).
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::codegen {

/// Types, scalar operations and macros that every kernel's text needs once.
const std::string& cuda_prelude();
/// One kernel, `extern "C"` under `name` (a C identifier).
std::string emit_cuda(const kernel::LoopKernel& loops, const std::string& name);
/// The same as the body, braces included, of a function that a kernel for several (emit_launch.h) runs for a
/// call.
std::string emit_cuda_arm(const kernel::LoopKernel& loops);
/// Tensors of a call that are read; those behind them are written.
int num_inputs(const kernel::LoopKernel& loops);
/// Whether several blocks may share a call: no barrier stands between its loops, or it shares_phases().
bool can_be_tiled(const kernel::LoopKernel& loops);
/// Whether blocks make tiles of the output, and nothing else: places and sizes of stages take many registers
/// then.
bool is_made_in_tiles(const kernel::LoopKernel& loops);
/// How many blocks of a call have something to do, over parameters; empty where only a call's tensors tell.
kernel::Expr blocks_with_work(const kernel::LoopKernel& loops);
/// What may raise flags in a call (an integer division by zero). Loops divide by extents as well, which
/// cannot fail, so stages are asked.
struct FlagCauses {
  bool may_fail = false;          ///< a kernel computes a divisor: only it knows
  std::vector<int32_t> divisors;  ///< parameters that it divides by: a call where all are other than 0 cannot
};
FlagCauses flag_causes(const kernel::Kernel& kernel);
/// Threads of a block for which kernels are written (any number works).
inline constexpr int kCudaThreads = 256;

}  // namespace galatea::codegen
