// The judge: runs kernel IR element by element, as slowly and plainly as its definition reads.
//
// Comes in: a verified Kernel (or loops) and a call. Goes out: the output tensors' bytes. Every backend must
// agree bit for bit.
#pragma once

#include "base/result.h"
#include "compiler/kernel/kernel.h"
#include "runtime/kernel_abi.h"

namespace galatea::kernel {

/// Runs stages: evaluates every stage whole, in order.
void interpret_stages(const Kernel& kernel, const runtime::KernelCall& call);

struct LoopKernel;
/// Runs loops; vector and grid loops in order, forward or (for finding hidden dependences) in a permuted
/// order.
void interpret_loops(const LoopKernel& kernel, const runtime::KernelCall& call, bool permuted = false);

}  // namespace galatea::kernel
