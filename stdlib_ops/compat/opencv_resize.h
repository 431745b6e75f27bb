// cv2.resize: INTER_LINEAR, INTER_CUBIC and INTER_AREA of bytes and floats.
//
// Comes in: an image or a window of it, rows and columns. Goes out: the resized image.
#pragma once

#include "compiler/op/operator.h"
#include "stdlib_ops/compat/resize_axis.h"

namespace galatea::ops {

/// `filter` is kLinear, kCubic or kBox, which only shrinks.
StageRef resize_as_opencv(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                          const CompatAxis& columns, op::Filter filter);

}  // namespace galatea::ops
