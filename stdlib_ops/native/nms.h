// Non-maximum suppression: the native function of fn.galatea.nms and fn.galatea.batched_nms.
//
// boxes.nms: inputs 0 = boxes (f32 [n, 4]: left, top, right, bottom), 1 = scores (f32 [n]), perhaps 2 = classes
// (i32 or i64 [n]); scalars: the threshold of the overlap and that of scores (f64). Configuration: max_boxes, -1
// for all of them. Output, which the function allocates: i64 [k], rows of the boxes that are kept.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/native.h"

namespace galatea::native {

inline constexpr const char* kBoxesNms = "boxes.nms";

struct Corners {
  float left = 0, top = 0, right = 0, bottom = 0;
};

struct NmsOptions {
  double iou_threshold = 0.5;
  double score_threshold = 0;  ///< only boxes above it
  int64_t max_boxes = -1;      ///< the best so many; less than 0: all
};

/// Rows of the boxes that are kept, the best first, of equal scores the first. Boxes suppress those of their own
/// class alone; no classes: all are of one. Numbers must be numbers. Nothing: it was cancelled.
std::optional<std::vector<int64_t>> suppress_overlaps(std::span<const Corners> boxes,
                                                      std::span<const float> scores,
                                                      std::span<const int64_t> classes,
                                                      const NmsOptions& options,
                                                      const std::function<bool()>& cancelled = {});

runtime::NativeFunction nms_function();

}  // namespace galatea::native
