// What a kernel of the user's own says in its status word, beside kFlagDivisionByZero: that it asked for an
// element outside of a tensor. The text around it (compiler/codegen/cuda/text_kernel_prelude.cpp) writes it,
// of the first such element.
#pragma once

#include <cstdint>

namespace galatea::runtime {

inline constexpr uint32_t kFlagOutside = 2;
/// From the lowest bit on: flags, the function's parameter (from 1 on; 0: a tensor that the text made), the
/// axis, the index (of what does not fit the nearest number that does).
inline constexpr int kParameterBit = 2, kAxisBit = 9, kIndexBit = 12;

}  // namespace galatea::runtime
