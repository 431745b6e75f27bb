// Gaussian windows as DALI cuts them, in f32. A window of radius r weighs a pixel at distance t by exp(-(2 t / r)^2),
// which at its edge is 0.018 and no less: whether a pixel on the edge counts shows, and rounding decides about it.
//
// DALI keeps 65 values of the window, with straight lines between them and down to 0 behind the last one. Cell i
// looks at the pixels from ceil(s) on, s = i step + ((start + (step / 2 - 1/2)) - half the window).
//
// An axis that keeps its extent is no exception, so that it matters which axes DALI resamples.
//
// Comes in: an axis of a resampling. Goes out: the first pixel of each cell and the weight of each tap.
#pragma once

#include "stdlib_ops/common/axis_order.h"

namespace galatea::ops {

/// The width of a window.
struct GaussianWidth {
  Expr per_pixel;  ///< f32: values of the table in a pixel
  Expr half;       ///< f32: pixels
  Expr taps;       ///< i64
};

GaussianWidth gaussian_width(const Expr& radius);

/// A window along one axis.
class GaussianAxis {
 public:
  GaussianAxis(const ResampleAxis& axis, const GaussianWidth& width, const CountedAxis& counted);

  /// The first pixel of cell `i`.
  Expr first(const Expr& i) const;
  /// Before normalisation; f32.
  Expr weight(const Expr& i, const Expr& tap) const;

 private:
  /// Where the window of cell `i` begins, in pixels from origin_ on.
  Expr place(const Expr& i) const;

  Expr step_, start_;  ///< f32
  Expr origin_;        ///< i64
  Expr per_pixel_;     ///< f32
  Expr is_resampled_;  ///< bool
};

}  // namespace galatea::ops
