// Integer arithmetic in fewer bits, where the ranges of its values prove that nothing is lost.
//
// Comes in: a kernel as the passes leave it. Goes out: comparisons and saturating or narrowing conversions
// of 32- and 64-bit arithmetic on bytes and words as arithmetic of 8 or 16 bits, so that a register holds
// two to eight times as many elements. The values are the same bits.
//
// What the user writes as a number is a parameter of 32 bits, and its value is not the kernel's to know. So
// there are two forms: one that holds whatever the numbers are, and one for small numbers, which
// lower() makes beside the first where it gains something (choose_loops.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

struct Narrowing {
  bool changed = false;
  std::vector<bool> params;  ///< those of which the promise was used
};
/// Narrows what it can where parameters are as promised.
Narrowing narrow_integers(Kernel& kernel, const std::optional<ScalarRange>& promised);
/// The second form: for numbers of the widest range by which something is narrowed, and the condition that
/// they lie in it.
struct SmallNumbers {
  Kernel kernel;
  Expr condition;
  ScalarRange range;
};
std::optional<SmallNumbers> narrow_for_small_numbers(const Kernel& kernel);
/// The arithmetic of a stage in words, for explain ("arithmetic in i16: values from -255 to 510"); empty:
/// none in fewer than 32 bits.
std::string narrow_arithmetic_of(const Stage& stage, const std::optional<ScalarRange>& promised = {});

}  // namespace galatea::kernel
