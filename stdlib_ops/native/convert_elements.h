// Elements of one type as those of another, by the rules of fn.cast: floats round half to even and are clamped,
// NaN gives 0, integers are clamped; to BOOL, floats are rounded half away from zero first.
//
// Comes in: what a file holds. Goes out: the elements of an output.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace galatea::native {

/// `count` elements; `from` and `to` may have any alignment and do not overlap.
void convert_elements(DType from_type, const uint8_t* from, DType to_type, uint8_t* to, int64_t count);

}  // namespace galatea::native
