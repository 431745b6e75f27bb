// From which pixel DALI counts positions along an axis. It resamples axis after axis, in the cheapest order, and
// counts the positions of all but the first one from the first pixel that is needed of them. Numbers of f32 that
// are counted from elsewhere round elsewhere, so nearest neighbours and the edges of windows depend on the order.
//
// Comes in: the axes of a resampling, and how far each one's filter reaches. Goes out: what each one counts from.
#pragma once

#include <vector>

#include "stdlib_ops/common/resample.h"

namespace galatea::ops {

/// The pixels that a filter looks at.
struct AxisReach {
  Expr before;  ///< f32: from the position to the first one
  Expr taps;    ///< i64
};

/// An axis as DALI counts it.
struct CountedAxis {
  Expr begin, end;    ///< i64: the pixels that there are then; positions are counted from `begin`
  Expr is_innermost;  ///< bool
  Expr is_resampled;  ///< bool; an axis that is not keeps its pixels
};

/// One for each of the axes, which are outermost first.
std::vector<CountedAxis> counted_axes(RecipeBuilder& b, const std::vector<ResampleAxis>& axes,
                                      const std::vector<AxisReach>& reaches, SpatialAxes spatial);

}  // namespace galatea::ops
