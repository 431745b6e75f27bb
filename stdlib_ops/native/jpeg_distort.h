// Images as JPEG leaves them: the native function of fn.jpeg_compression_distortion.
//
// jpeg.distort: input 0 = an image u8 [h, w, 3] or images u8 [f, h, w, 3], RGB. Scalar 0: the quality, 1 to 100
// (i64). Output: each image after it was encoded (baseline, 4:2:0) and decoded, of the same extents.
#pragma once

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kJpegDistort = "jpeg.distort";
/// Of an image's extents; the format has 16 bits for them, the library a little less.
inline constexpr int64_t kMostJpegPixels = 65500;

runtime::NativeFunction jpeg_distort_function();

}  // namespace galatea::native
