// RoIAlign: what boxes reach of an image, asked before a pixel is there, and the bins of boxes that each have
// their own number of samples. What is computed stands in stdlib_ops/image/roi_align.cpp.
//
// Of both, the configuration says rows and columns (of bins), sampling_ratio, aligned.
//
// roi.reach: input 0 = boxes (f32 [n, 4]: left, top, right, bottom); scalar: the scale of the boxes (f32). Results
// (i64): the first row that is read and the one behind the last, the same of columns; they may lie outside of the
// image.
// roi.align: inputs 0 = a window of an image that holds what the boxes reach (u8, i16, u16 or f32), 1 = boxes;
// scalars: the scale (f32), first row and column of the window, rows and columns of the image (i64). Configuration
// besides: the layout of the window; axes but H, W and C are frames. Output: frames, boxes, the other axes of the
// layout; f32, or the type of the window.
#pragma once

#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kRoiReach = "roi.reach";
inline constexpr const char* kRoiAlign = "roi.align";
/// More samples of one bin are a mistake.
inline constexpr int64_t kMostRoiSamples = int64_t{1} << 26;

std::vector<runtime::NativeFunction> roi_align_functions();

}  // namespace galatea::native
