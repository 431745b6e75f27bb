// Which phases of a kernel several blocks of a GPU share.
//
// Comes in: loops in the form for GPUs. Goes out: Phase::spread, where a phase is worth more than one block.
// Never changes a value: every iteration of a phase may run anywhere once the phases before it are done.
#pragma once

#include "compiler/kernel/loops.h"

namespace galatea::kernel {

/// Marks them; with a `random_seed` that is not 0, by chance (the kernel fuzzer).
void spread_phases(LoopKernel& loops, uint64_t random_seed);

/// Whether blocks that share a call have to wait for each other, by counters of the call: there is more than
/// one phase, or loop over tiles, and some are for several blocks.
bool shares_phases(const LoopKernel& loops);

/// What blocks of such a kernel do: parts of `spread` (none: nothing), then one of them, all of `alone`.
struct SharedStep {
  const Statement* spread = nullptr;  ///< a Phase, or a loop over tiles
  std::vector<const Phase*> alone;
};
std::vector<SharedStep> shared_steps(const LoopKernel& loops);

}  // namespace galatea::kernel
