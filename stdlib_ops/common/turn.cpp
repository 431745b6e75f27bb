// The canvas of a turned image: see turn.h.
#include "stdlib_ops/common/turn.h"

#include <cmath>
#include <numbers>

namespace galatea::ops {

namespace {

CanvasExtent covering(const Expr& length, const Expr& like) {
  constexpr double kSlack = 0.01;  // so much of a pixel may stick out
  return {ceil_to_i64(length - f64(kSlack)), like};
}

/// Rounded to f32 as in DALI.
Expr radians_of(const Expr& angle) { return to_f64(angle * f32(std::numbers::pi / 180)); }

}  // namespace

Expr canvas_extent(const CanvasExtent& extent) {
  return extent.least + ((extent.least ^ extent.like) & i64(1));
}

Expr canvas_of_frames(RecipeBuilder& b, const CanvasExtent& extent) {
  const Expr odd = b.holds_for_most_frames(equal(extent.like & i64(1), i64(1)));
  return canvas_extent({b.largest_of_frames(extent.least), to_i64(odd)});
}

std::array<CanvasExtent, 2> turned_canvas(const Expr& h, const Expr& w, const Expr& angle) {
  const Expr radians = radians_of(angle);
  const Expr c = absolute(kernel::unary(ScalarOp::kCos, radians));
  const Expr s = absolute(kernel::unary(ScalarOp::kSin, radians));
  const auto length = [&](const Expr& along, const Expr& across) {
    return c * to_f64(along) + s * to_f64(across);
  };
  const Expr upright = s <= c;
  return {covering(length(h, w), select(upright, h, w)), covering(length(w, h), select(upright, w, h))};
}

Status check_axis(const TypeContext& ctx, const std::string& help) {
  const std::string& name = ctx.op().name;
  const int64_t length = length_of(ctx, "axis");
  if (length >= 0 && length != 3)
    return ctx.error(fmt::format("{}: axis has {} elements, 3 are needed", name, length),
                     "an axis is a vector x, y, z; " + help, "axis");
  if (ctx.is_per_sample("axis")) return {};
  const auto axis = ctx.numbers("axis");
  for (const double x : axis)
    if (!std::isfinite(x))
      return ctx.error(fmt::format("{}: the axis has the element {}", name, x), "use finite numbers", "axis");
  if (axis[0] == 0 && axis[1] == 0 && axis[2] == 0)
    return ctx.error(name + ": the axis has no direction", "use a vector that is not 0", "axis");
  return {};
}

std::array<Expr, 3> unit_axis(RecipeBuilder& b) {
  std::array<Expr, 3> u;
  const auto given = exact_list_arg(b, "axis", 3, DType::kF32);
  for (size_t k = 0; k < 3; ++k) u[k] = to_f64(given[k]);
  const Expr length = kernel::unary(ScalarOp::kSqrt, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  b.check((length > f64(0)) & (length < f64(HUGE_VAL)), "the axis ({}, {}, {}) has no direction",
          {u.begin(), u.end()}, "use a vector of finite numbers that is not 0", "axis");
  for (Expr& x : u) x = x / length;
  return u;
}

Rotation rotation_about(const std::array<Expr, 3>& unit, const Expr& cosine, const Expr& sine) {
  Rotation rotation;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      const Expr along = (f64(1) - cosine) * unit[i] * unit[j];
      if (i == j) {
        rotation[i][j] = along + cosine;
        continue;
      }
      const Expr across = sine * unit[3 - i - j];
      rotation[i][j] = (j + 3 - i) % 3 == 1 ? along - across : along + across;
    }
  return rotation;
}

std::array<CanvasExtent, 3> turned_canvas(const std::array<Expr, 3>& extents, const std::array<Expr, 3>& unit,
                                          const Expr& angle) {
  const Expr radians = radians_of(angle);
  const Rotation rotation =
      rotation_about(unit, kernel::unary(ScalarOp::kCos, radians), kernel::unary(ScalarOp::kSin, radians));
  // Rows are x first, extents d first.
  const std::array<Expr, 3> of = {extents[2], extents[1], extents[0]};
  std::array<CanvasExtent, 3> canvas;
  for (size_t i = 0; i < 3; ++i) {
    Expr length = f64(0), most = to_f32(absolute(rotation[i][i])), like = of[i];
    for (size_t j = 0; j < 3; ++j) {
      const Expr share = absolute(rotation[i][j]), narrow = to_f32(share);
      length = j == 0 ? share * to_f64(of[j]) : length + share * to_f64(of[j]);
      if (i == j) continue;
      like = select(narrow > most, of[j], like);
      most = max(narrow, most);
    }
    canvas[2 - i] = covering(length, like);
  }
  return canvas;
}

}  // namespace galatea::ops
