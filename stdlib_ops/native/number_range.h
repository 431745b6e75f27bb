// The ends of a list of numbers.
//
// numbers.range: input 0 = i32 or i64 [n]. Results: the least and the largest (i64); of no numbers, 0 and 0.
#pragma once

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kNumberRange = "numbers.range";

runtime::NativeFunction number_range_function();

}  // namespace galatea::native
