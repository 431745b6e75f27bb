// Places and sizes in 32 bits, where the ranges of their values prove that nothing is lost.
//
// Comes in: loops in the form for GPUs. Goes out: the same loops for calls whose numbers are small, as nearly
// all are: a register holds a place, and a division is a quarter as long. Every expression is asked by itself:
// what need not fit stays in 64 bits. The values are the same bits.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::kernel {

/// Numbers of a call that are called small: from -kMostOfSmall to kMostOfSmall. An image of so many rows and
/// columns of three channels has fewer than 2^31 elements.
inline constexpr int64_t kMostOfSmall = 16383;

struct SmallIndices {
  LoopKernel loops;         ///< variables of places and sizes are i32, those of loops as well
  std::vector<int> params;  ///< i64 parameters that must be small
};
SmallIndices narrow_indices(const LoopKernel& loops);

}  // namespace galatea::kernel
