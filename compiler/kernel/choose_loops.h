// Two forms of one kernel's loops as one kernel, which asks its parameters.
//
// Comes in: loops that compute the same, of which one may take something for granted. Goes out: both, the
// special ones where the condition holds. Tensors are the same in both; scratch memory is that of the form
// that runs.
#pragma once

#include "compiler/kernel/loops.h"

namespace galatea::kernel {

/// `special` where the condition, over parameters, holds, else `any`.
LoopKernel choose_loops(const Expr& condition, LoopKernel special, LoopKernel any);

}  // namespace galatea::kernel
