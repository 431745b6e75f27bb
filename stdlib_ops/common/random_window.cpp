// Random windows: see random_window.h.
#include "stdlib_ops/common/random_window.h"

#include <cmath>

namespace galatea::ops {
namespace {

constexpr int64_t kMaxAttempts = 100;  // attempts are unrolled in the sample program

Expr root(const Expr& e) { return kernel::unary(ScalarOp::kSqrt, e); }

struct Extents {
  Expr h, w;
};

Extents choose_extents(const Expr& condition, const Extents& a, const Extents& b) {
  return {select(condition, a.h, b.h), select(condition, a.w, b.w)};
}

struct Ranges {
  double area_lo, area_hi, ratio_lo, ratio_hi;
};

Ranges ranges(const RecipeBuilder& b) {
  const auto area = b.numbers("random_area"), ratio = b.numbers("random_aspect_ratio");
  return {area[0], area[1], ratio[0], ratio[1]};
}

/// A uniform number in [lo, hi) from element e of the stream, in f64.
Expr uniform(const RecipeBuilder& b, int64_t e, double lo, double hi) {
  return f64(lo) + to_f64(b.random_unit(i64(e))) * f64(hi - lo);
}

/// What is taken when no attempt fits.
Extents fallback(const Ranges& r, const Expr& height, const Expr& width, const Expr& max_h,
                 const Expr& max_w) {
  const Expr h = to_f64(height), w = to_f64(width);
  const Expr too_wide = w > h * f64(r.ratio_hi), too_tall = w < h * f64(r.ratio_lo);
  const Extents whole =
      choose_extents(too_wide, {height, max_w}, choose_extents(too_tall, {max_h, width}, {height, width}));
  const Expr area = to_f64(whole.h) * to_f64(whole.w);
  const Expr shrink = root(kernel::min(f64(1), f64(r.area_hi) * h * w / area));
  return {max(to_i64(to_f64(whole.h) * shrink), i64(1)), max(to_i64(to_f64(whole.w) * shrink), i64(1))};
}

}  // namespace

std::vector<ArgSpec> random_window_args() {
  return {
      {.name = "random_area",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.08, 1.0},
       .documentation = "Range of the window's area, as a fraction of the image's."},
      {.name = "random_aspect_ratio",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.75, 1.333333},
       .documentation = "Range of width / height; uniform in the logarithm."},
      {.name = "num_attempts",
       .kind = ArgKind::kInt,
       .default_value = int64_t{10},
       .documentation = "How many windows are drawn before the largest allowed one is taken."},
  };
}

Status check_random_window(const TypeContext& ctx) {
  for (const char* name : {"random_area", "random_aspect_ratio"}) {
    const auto range = ctx.numbers(name);
    if (range.size() != 2)
      return ctx.error(fmt::format("{}: {} needs two numbers, (low, high)", ctx.op().name, name), {}, name);
    if (!(range[0] > 0) || !(range[0] <= range[1]) || !std::isfinite(range[1]))
      return ctx.error(fmt::format("{}: {} must be 0 < low <= high, not ({}, {})", ctx.op().name, name,
                                   range[0], range[1]),
                       {}, name);
  }
  const int64_t attempts = ctx.integer("num_attempts");
  if (attempts < 1 || attempts > kMaxAttempts)
    return ctx.error(fmt::format("{}: num_attempts must be between 1 and {}, not {}", ctx.op().name,
                                 kMaxAttempts, attempts),
                     {}, "num_attempts");
  return {};
}

std::pair<AxisRange, AxisRange> random_window(RecipeBuilder& b, const Expr& height, const Expr& width) {
  const Ranges r = ranges(b);
  const int64_t attempts = b.integer("num_attempts");
  const Expr h = to_f64(height), w = to_f64(width), pixels = h * w;
  const Expr max_w = max(i64(1), to_i64(h * f64(r.ratio_hi))),
             max_h = max(i64(1), to_i64(w / f64(r.ratio_lo)));
  Extents window = fallback(r, height, width, max_h, max_w);
  for (int64_t n = attempts; n-- > 0;) {
    const Expr area = uniform(b, 2 * n, r.area_lo, r.area_hi) * pixels;
    const Expr ratio =
        kernel::unary(ScalarOp::kExp, uniform(b, 2 * n + 1, std::log(r.ratio_lo), std::log(r.ratio_hi)));
    const Extents drawn = {max(round_to_i64(root(area / ratio)), i64(1)),
                           max(round_to_i64(root(area * ratio)), i64(1))};
    const Expr rounded = to_f64(drawn.w) / to_f64(drawn.h);
    const Expr fits = (drawn.h <= height) & (drawn.w <= width) & (rounded >= f64(r.ratio_lo)) &
                      (rounded <= f64(r.ratio_hi));
    window = choose_extents(fits, drawn, window);
  }
  // Images so long that no window of an allowed ratio reaches the smallest area.
  const Expr min_area = pixels * f64(r.area_lo);
  window = choose_extents(h * to_f64(max_w) < min_area, {height, max_w},
                          choose_extents(w * to_f64(max_h) < min_area, {max_h, width}, window));
  const Expr rows = kernel::min(window.h, height), columns = kernel::min(window.w, width);
  const Expr y = b.random_below(i64(2 * attempts), height - rows + i64(1)),
             x = b.random_below(i64(2 * attempts + 1), width - columns + i64(1));
  return {{y, rows}, {x, columns}};
}

}  // namespace galatea::ops
