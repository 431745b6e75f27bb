// Boxes of four pictures that make up a mosaic: the native functions of galatea.mosaic.
//
// Of all three, inputs 0 to 3 = boxes of the pictures (f32 [n, 4]). Scalars, all i64: of each picture its width and
// height, and the column and row of the canvas where it begins, which may be negative; then width and height of the
// canvas.
// mosaic.count_boxes: how many boxes are left (i64). mosaic.boxes: the boxes that are left, on the canvas, picture by
// picture. mosaic.rows: those rows of inputs 4 to 7 (i32).
#pragma once

#include <optional>
#include <vector>

#include "stdlib_ops/native/boxes.h"

namespace galatea::native {

inline constexpr const char* kMosaicCountBoxes = "mosaic.count_boxes";
inline constexpr const char* kMosaicBoxes = "mosaic.boxes";
inline constexpr const char* kMosaicRows = "mosaic.rows";

/// Along x, y; pixels.
struct MosaicTile {
  std::array<double, 2> picture{}, start{};
};

/// A box in pixels of its picture as one of the canvas, clipped; nothing where less than that share of it is left,
/// or nothing.
std::optional<Box> box_on_canvas(const Box& box, const MosaicTile& tile, const std::array<double, 2>& canvas,
                                 double least_visible);

std::vector<runtime::NativeFunction> mosaic_box_functions();

}  // namespace galatea::native
