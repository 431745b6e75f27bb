// See opencv_resize.h. Source of the formulas: OpenCV's resize.cpp, as recorded outputs confirm (tests/oracle, group
// compat_resize).
//
// Columns first, then rows. Of bytes weights have 11 bits, and what columns give stays in i32; INTER_AREA, and
// floats, add up in f32.
#include "stdlib_ops/compat/opencv_resize.h"

#include <cmath>

#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {
namespace {

constexpr int64_t kOpenCvBits = 11;      // of weights between bytes
constexpr double kAreaSlack = 1e-3;      // a part of a pixel that INTER_AREA leaves out
constexpr double kWholeSlack = 0x1p-52;  // DBL_EPSILON

/// Pixels of the input per cell, as cv2.resize computes it.
Expr opencv_scale(const CompatAxis& axis) { return f64(1) / (to_f64(axis.n) / to_f64(axis.extent)); }

/// The place of a cell, f32, counted from the middle of the first pixel.
Expr opencv_place(const CompatAxis& axis, const Expr& i) {
  return to_f32((to_f64(i) + f64(0.5)) * opencv_scale(axis) - f64(0.5));
}

/// OpenCV's weights [n, taps] of f32 ones: of bytes, in 11 bits, half to even.
StageRef opencv_weights_of(RecipeBuilder& b, const CompatAxis& axis, const Expr& taps,
                           const std::function<Expr(const Axes&)>& weight) {
  if (is_of_floats(b)) return b.map(axis.name + "_weight", DType::kF32, {axis.n, taps}, weight);
  return b.map(axis.name + "_weight", DType::kI32, {axis.n, taps}, [&](const Axes& at) {
    return kernel::saturate(weight(at) * f32(1 << kOpenCvBits), DType::kI32);
  });
}

/// Sums along columns, before rows are added up.
DType type_of_sums(const RecipeBuilder& b) { return is_of_floats(b) ? DType::kF32 : DType::kI32; }

/// Two pixels. Of columns, the second one counts nothing at the edge; of rows it is the edge again.
CompatBand linear_pair(RecipeBuilder& b, const CompatAxis& axis, bool stops_at_edge) {
  const Expr last = axis.extent - i64(1);
  const auto left = [=](const Expr& i) { return floor_to_i64(opencv_place(axis, i)); };
  CompatBand band;
  band.taps = i64(2);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    return stops_at_edge ? clamp(left(at[0]), i64(0), last) : left(at[0]);
  });
  band.weight = opencv_weights_of(b, axis, band.taps, [&](const Axes& at) {
    const Expr place = opencv_place(axis, at[0]);
    Expr beyond = place - kernel::unary(ScalarOp::kFloor, place);
    if (stops_at_edge) beyond = select((left(at[0]) < i64(0)) | (left(at[0]) >= last), f32(0), beyond);
    return select(equal(at[1], i64(0)), f32(1) - beyond, beyond);
  });
  return band;
}

StageRef opencv_linear(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                       const CompatAxis& columns) {
  const StageRef across = apply_band(b, "across", columns, linear_pair(b, columns, true), source.window,
                                     source.extents, type_of_sums(b), type_of_sums(b), {});
  const CompatBand down = linear_pair(b, rows, false);
  Axes extents = source.extents;
  const auto h = static_cast<size_t>(rows.dim);
  extents[h] = rows.n;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  if (is_of_floats(b)) {
    extents[h] = source.extents[h];
    return apply_band(b, "resize", rows, down, across, extents, DType::kF32, DType::kF32, {});
  }
  return b.map("resize", DType::kU8, extents, [&](const Axes& at) {
    // Each product loses its low bits before the sum, as in 16-bit lanes.
    Expr sum = kernel::const_int(2, DType::kI32);
    for (int64_t k = 0; k < 2; ++k) {
      Axes from = at;
      from[h] = b.load(down.first, {at[h]}) + i64(k);
      const Expr value = shift_right(b.load(across, from, Border::kClamp), 4);
      sum = sum + shift_right(value * b.load(down.weight, {at[h], i64(k)}), 16);
    }
    return kernel::saturate(shift_right(sum, 2), DType::kU8);
  });
}

CompatBand cubic_four(RecipeBuilder& b, const CompatAxis& axis) {
  CompatBand band;
  band.taps = i64(4);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n},
                     [&](const Axes& at) { return floor_to_i64(opencv_place(axis, at[0])) - i64(1); });
  band.weight = opencv_weights_of(b, axis, band.taps, [&](const Axes& at) {
    const Expr place = opencv_place(axis, at[0]);
    const Expr x = place - kernel::unary(ScalarOp::kFloor, place), y = f32(1) - x;
    const Expr a = f32(kOpenCvCubic), z = x + f32(1);
    const Expr c0 = ((a * z - f32(5) * a) * z + f32(8) * a) * z - f32(4) * a;
    const auto inner = [&](const Expr& t) { return ((a + f32(2)) * t - (a + f32(3))) * t * t + f32(1); };
    const Expr c1 = inner(x), c2 = inner(y);
    return choose(at[1], {c0, c1, c2, f32(1) - c0 - c1 - c2});
  });
  return band;
}

StageRef opencv_cubic(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                      const CompatAxis& columns) {
  const StageRef across = apply_band(b, "across", columns, cubic_four(b, columns), source.window,
                                     source.extents, type_of_sums(b), type_of_sums(b), {});
  Axes extents = source.extents;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  std::function<Expr(Expr)> finish;
  if (!is_of_floats(b)) finish = [](const Expr& sum) { return byte_of(sum, 2 * kOpenCvBits); };
  return apply_band(b, "resize", rows, cubic_four(b, rows), across, extents, type_of_image(b),
                    type_of_sums(b), finish);
}

/// Pixels that a cell covers, by the share of the cell that each fills; by 1 where factors are whole.
CompatBand area_band(RecipeBuilder& b, const CompatAxis& axis, const Expr& whole) {
  const Expr scale = opencv_scale(axis);
  const auto begin = [=](const Expr& i) { return to_f64(i) * scale; };
  const auto second = [=](const Expr& i) { return floor_to_i64(begin(i) + scale); };
  const Expr last = axis.extent - i64(1);
  const auto end = [=](const Expr& i) { return kernel::min(second(i), last); };
  const auto start = [=](const Expr& i) { return kernel::min(ceil_to_i64(begin(i)), end(i)); };
  const Expr factor = round_to_i64(scale);
  CompatBand band;
  band.taps = ceil_to_i64(scale) + i64(1);
  band.first = b.map(axis.name + "_first", DType::kI64, {axis.n}, [&](const Axes& at) {
    const Expr from = start(at[0]);
    const Expr part = (to_f64(from) - begin(at[0])) > f64(kAreaSlack);
    return select(whole, at[0] * factor, select(part, from - i64(1), from));
  });
  band.weight = b.map(axis.name + "_weight", DType::kF32, {axis.n, band.taps}, [&](const Axes& at) {
    const Expr pixel = b.load(band.first, {at[0]}) + at[1], from = start(at[0]), to = end(at[0]);
    const Expr cell = kernel::min(scale, to_f64(axis.extent) - begin(at[0]));
    const Expr rest = begin(at[0]) + scale - to_f64(to);
    const Expr behind =
        select(rest > f64(kAreaSlack), kernel::min(kernel::min(rest, f64(1)), cell) / cell, f64(0));
    const Expr share = select(pixel < from, (to_f64(from) - begin(at[0])) / cell,
                              select(pixel < to, f64(1) / cell, select(equal(pixel, to), behind, f64(0))));
    return select(whole, select(at[1] < factor, f32(1), f32(0)), to_f32(share));
  });
  return band;
}

StageRef opencv_area(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                     const CompatAxis& columns) {
  b.check(
      (rows.n <= rows.extent) & (columns.n <= columns.extent),
      "INTERP_BOX is OpenCV's INTER_AREA, which only shrinks here: {} x {} would be larger than the image",
      {rows.n, columns.n}, "use types.INTERP_LINEAR where an image grows", "interp_type");
  const Expr down = opencv_scale(rows), across = opencv_scale(columns);
  const auto is_whole = [](const Expr& scale) {
    return absolute(scale - to_f64(round_to_i64(scale))) < f64(kWholeSlack);
  };
  const Expr whole = is_whole(down) & is_whole(across);
  const Expr cells = round_to_i64(down) * round_to_i64(across);
  const Expr two = equal(round_to_i64(down), i64(2)) & equal(round_to_i64(across), i64(2)) & whole;
  const Expr share = f32(1) / to_f32(cells);
  const StageRef sums = apply_band(b, "across", columns, area_band(b, columns, whole), source.window,
                                   source.extents, DType::kF32, DType::kF32, {});
  Axes extents = source.extents;
  extents[static_cast<size_t>(columns.dim)] = columns.n;
  return apply_band(b, "resize", rows, area_band(b, rows, whole), sums, extents, type_of_image(b),
                    DType::kF32, [&](const Expr& sum) {
                      if (is_of_floats(b)) return select(whole, sum * share, sum);
                      const Expr half_up = kernel::unary(ScalarOp::kFloor, (sum + f32(2)) * f32(0.25));
                      return kernel::saturate(select(two, half_up, select(whole, sum * share, sum)),
                                              DType::kU8);
                    });
}

}  // namespace

StageRef resize_as_opencv(RecipeBuilder& b, const CompatSource& source, const CompatAxis& rows,
                          const CompatAxis& columns, op::Filter filter) {
  if (filter == op::Filter::kLinear) return opencv_linear(b, source, rows, columns);
  return filter == op::Filter::kCubic ? opencv_cubic(b, source, rows, columns)
                                      : opencv_area(b, source, rows, columns);
}

}  // namespace galatea::ops
