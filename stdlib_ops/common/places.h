// Maps of places: what operators that move a picture say of what lies on it (op::Operator::define_places).
//
// Comes in: where a place of input 0 lies in output 0 of the same call. Goes out: output 0 of `NAME.places`,
// FLOAT64 [3, 3]: the place (x, y) goes to (X / W, Y / W), where (X, Y, W) is the matrix times (x, y, 1).
// Places are counted from corners of pixels: pixel k covers [k, k + 1).
#pragma once

#include <array>

#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/common/window.h"

namespace galatea::ops {

/// Along one axis, p goes to factor * p + offset; f64.
struct AxisPlaces {
  Expr factor = f64(1), offset = f64(0);
};

/// Of a window of the input.
AxisPlaces window_places(const AxisRange& window);
/// Of what was resampled.
AxisPlaces resampled_places(const ResampleAxis& axis);
/// The same, where the output, which has `extent` pixels, is mirrored in the end.
AxisPlaces mirrored_places(const AxisPlaces& places, const Expr& mirrored, const Expr& extent);

void output_places(RecipeBuilder& b, const AxisPlaces& x, const AxisPlaces& y);
/// From places of the input to places of the output.
void output_places(RecipeBuilder& b, const AffineMap& map);

/// The declaration of an operator that moves its picture.
void moves_places(Operator& op, std::function<void(RecipeBuilder&)> define_places);

}  // namespace galatea::ops
