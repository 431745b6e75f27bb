// The random window of area and aspect ratio, shared by random_resized_crop and decoders.image_random_crop.
//
// Comes in: random_area, random_aspect_ratio, num_attempts of a node; the image's extents. Goes out: an
// integer window.
//
// Up to num_attempts times: area = U(area) H W, ratio w/h = exp U(log ratio), w = round sqrt(area ratio), h =
// round sqrt(area / ratio); the first window that fits, and whose rounded ratio is in range, is taken. Else
// the largest window of an allowed ratio, shrunk to an allowed area. Its place is uniform.
#pragma once

#include "stdlib_ops/common/window.h"

namespace galatea::ops {

std::vector<ArgSpec> random_window_args();
Status check_random_window(const TypeContext& ctx);
/// {rows, columns}. Uses elements 0 .. 2 num_attempts + 1 of the node's random stream.
std::pair<AxisRange, AxisRange> random_window(RecipeBuilder& b, const Expr& height, const Expr& width);

}  // namespace galatea::ops
