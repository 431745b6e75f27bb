// A pixel of a mask by chance: the native function of fn.segmentation.random_mask_pixel.
//
// mask.random_pixel: input 0 = mask (integers, bool or f32, any number of axes); scalars: 64 random bits as two
// i64 of 32 bits, whether the foreground is wanted (i64), and what makes it: the threshold (f32) or the value
// (i64), as the configuration says. Results: the pixel's index along each axis (i64).
#pragma once

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kMaskRandomPixel = "mask.random_pixel";

runtime::NativeFunction mask_pixel_function();

}  // namespace galatea::native
