// Nearest neighbours as DALI finds them, in f32: cell i looks at pixel floor(start + (i + 1/2) step). Cells of the
// innermost axis compute their places one by one; along all others the step is added from cell to cell, so that
// errors add up. Masks depend on it, since with whole factors many places lie at the border of two pixels.
//
// Comes in: an axis of a resampling. Goes out: the pixel of each cell, as an expression.
#pragma once

#include <functional>

#include "stdlib_ops/common/axis_order.h"

namespace galatea::ops {

/// Places along one axis, in pixels from `origin` on.
struct NearestAxis {
  Expr start, step;   ///< f32
  Expr origin, last;  ///< i64
  Expr adds_up;       ///< bool
};

NearestAxis nearest_axis(const ResampleAxis& axis, const CountedAxis& counted);

/// The pixel of each cell, as an expression of the cell. `name`: of the axis.
std::function<Expr(const Expr&)> nearest_pixels(RecipeBuilder& b, const ResampleAxis& axis,
                                                const NearestAxis& nearest, const std::string& name);

}  // namespace galatea::ops
