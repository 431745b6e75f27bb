// Boxes of an image that is turned: the native functions of fn.bbox_rotate.
//
// Of all three, input 0 = boxes (f32 [n, 4]), scalars: cosine and sine of the angle (f64), then width and
// height of the image and of its canvas (i64).
// bbox.count_turned: how many boxes are left (i64). bbox.keep_turned: the boxes that are left, on the canvas.
// bbox.keep_turned_rows: those rows of input 1 (i32).
#pragma once

#include <optional>
#include <vector>

#include "stdlib_ops/native/boxes.h"

namespace galatea::native {

inline constexpr const char* kBboxCountTurned = "bbox.count_turned";
inline constexpr const char* kBboxKeepTurned = "bbox.keep_turned";
inline constexpr const char* kBboxKeepTurnedRows = "bbox.keep_turned_rows";

struct BboxTurn {
  double cos = 1, sin = 0;
  std::array<double, 2> image{}, canvas{};  ///< along x, y
  /// What share of the excess of a box's hull over the box is taken off again, half of it at each side.
  double shrink = 0;
  double least_visible = 0;  ///< a box is left if so much of its area lies on the canvas
};

/// Pixels of the image to pixels of the canvas, clipped; nothing where too little of the box is left.
std::optional<Box> turned_box(const Box& box, const BboxTurn& turn);

std::vector<runtime::NativeFunction> bbox_rotate_functions();

}  // namespace galatea::native
