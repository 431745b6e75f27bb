// Gaussian windows: see gaussian_window.h.
#include "stdlib_ops/common/gaussian_window.h"

#include <numbers>

namespace galatea::ops {
namespace {

constexpr double kLast = 64;  ///< of the values in the table
constexpr double kMiddle = kLast / 2;
constexpr double kPerDeviation = kMiddle / 2;  ///< values between the middle and where the weight is 1/e

/// Value `index` of the table (f32, whole).
Expr table_value(const Expr& index) {
  const Expr x = (index - f32(kMiddle)) * f32(1 / kPerDeviation);
  return select(index <= f32(kLast), kernel::unary(ScalarOp::kExp, -(x * x)), f32(0));
}

}  // namespace

GaussianWidth gaussian_width(const Expr& radius) {
  // 2 r, by way of the standard deviation and with its rounding errors: they move the edge.
  const Expr deviation = radius * f32(0.5) * f32(std::numbers::sqrt2 / 2);
  const Expr width = deviation * f32(4) * f32(std::numbers::sqrt2);
  const Expr per_pixel = f32(kLast) / width;
  return {.per_pixel = per_pixel,
          .half = f32(kMiddle) / per_pixel,
          .taps = max(ceil_to_i64(f32(kLast) / per_pixel), i64(1))};
}

GaussianAxis::GaussianAxis(const ResampleAxis& axis, const GaussianWidth& width, const CountedAxis& counted)
    : step_((to_f32(axis.hi) - to_f32(axis.lo)) / to_f32(max(axis.n, i64(1)))),
      start_((to_f32(axis.lo) - to_f32(counted.begin)) + ((f32(0.5) * step_ - f32(0.5)) - width.half)),
      origin_(counted.begin),
      per_pixel_(width.per_pixel),
      is_resampled_(counted.is_resampled) {}

Expr GaussianAxis::place(const Expr& i) const { return to_f32(i) * step_ + start_; }

Expr GaussianAxis::first(const Expr& i) const {
  return select(is_resampled_, ceil_to_i64(place(i)) + origin_, i);
}

Expr GaussianAxis::weight(const Expr& i, const Expr& tap) const {
  const Expr from = place(i);
  const Expr at = (kernel::unary(ScalarOp::kCeil, from) - from + to_f32(tap)) * per_pixel_;
  const Expr below = kernel::unary(ScalarOp::kFloor, at);
  const Expr value = table_value(below);
  const Expr weight = value + (at - below) * (table_value(below + f32(1)) - value);
  return select(is_resampled_, weight, select(equal(tap, i64(0)), f32(1), f32(0)));
}

}  // namespace galatea::ops
