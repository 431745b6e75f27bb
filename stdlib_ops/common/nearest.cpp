// Places of nearest neighbours: see nearest.h.
#include "stdlib_ops/common/nearest.h"

namespace galatea::ops {

NearestAxis nearest_axis(const ResampleAxis& axis, const CountedAxis& counted) {
  const Expr lo = to_f32(axis.lo), hi = to_f32(axis.hi);
  return {.start = lo - to_f32(counted.begin),
          .step = (hi - lo) / to_f32(max(axis.n, i64(1))),
          .origin = counted.begin,
          .last = counted.end - i64(1),
          .adds_up = logical_not(counted.is_innermost)};
}

std::function<Expr(const Expr&)> nearest_pixels(RecipeBuilder& b, const ResampleAxis& axis,
                                                const NearestAxis& nearest, const std::string& name) {
  const Expr &start = nearest.start, &step = nearest.step;
  const auto one_by_one = [=](const Expr& i) {
    // Cells as wide as pixels are copied as a run.
    const Expr here = select(equal(step, f32(1)), floor_to_i64(start + f32(0.5)) + i,
                             floor_to_i64(start + (to_f32(i) + f32(0.5)) * step));
    return clamp(here + nearest.origin, nearest.origin, nearest.last);
  };
  const bool is_known = kernel::is_const(nearest.adds_up);
  if (is_known && kernel::const_value(nearest.adds_up) == 0) return one_by_one;
  const StageRef places = b.scan(
      {.name = name + "_places",
       .type = DType::kF32,
       .extents = {axis.n},
       .accumulator = DType::kF32,
       .body = [&](const Axes& at) { return select(equal(at[0], i64(0)), start + f32(0.5) * step, step); }});
  // Bounds that change no pixel, and tell windows where rows can be: the first row is not past any other, and
  // sums are off by half a unit in the last place of the largest number each; here by twice as much.
  const Expr first = floor_to_i64(start + f32(0.5) * step) + nearest.origin, down = step > f32(0);
  const Expr least = max(select(down, first, nearest.origin), nearest.origin);
  const Expr most = kernel::min(select(down, nearest.last, first), nearest.last);
  const Expr largest = max(absolute(axis.lo), absolute(axis.hi));
  const Expr slack = to_f64(axis.n + i64(8)) * largest * f64(0x1p-23);
  const Expr scale = (axis.hi - axis.lo) / to_f64(max(axis.n, i64(1)));
  const auto added_up = [=, &b](const Expr& i) {
    const Expr exact = axis.lo + (to_f64(i) + f64(0.5)) * scale;
    const Expr here = floor_to_i64(b.load(places, {i})) + nearest.origin;
    return clamp(here, max(floor_to_i64(exact - slack), least),
                 kernel::min(floor_to_i64(exact + slack), most));
  };
  if (is_known) return added_up;
  return [=](const Expr& i) { return select(nearest.adds_up, added_up(i), one_by_one(i)); };
}

}  // namespace galatea::ops
