// Sample kernels that read pixels elsewhere than they write them: resizes, windows, crops, warps; the list of
// those in tiles.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/loops/sample_kernels.h"
#include "tests/loops/sample_stages.h"

namespace galatea::testing {

using namespace sample;

namespace {

std::vector<uint64_t> resize_call(int64_t ih, int64_t iw, int64_t oh, int64_t ow, int64_t tx, int64_t ty,
                                  bool mirror, bool upside_down) {
  double sx = static_cast<double>(iw) / static_cast<double>(std::max<int64_t>(ow, 1)),
         sy = static_cast<double>(ih) / static_cast<double>(std::max<int64_t>(oh, 1));
  double ry = static_cast<double>(ty) / 2;
  if (upside_down) {
    ry -= static_cast<double>(ih);
    sy = -sy;
  }
  // in_h, in_w, out_h, out_w, taps_x, taps_y, scale_x, scale_y, reach_x, reach_y, a, b (mirror)
  return {bits(ih),
          bits(iw),
          bits(oh),
          bits(ow),
          bits(tx),
          bits(ty),
          bits(sx),
          bits(sy),
          bits(static_cast<double>(tx) / 2),
          bits(ry),
          bits(int64_t{mirror ? -1 : 1}),
          bits(mirror ? ow - 1 : int64_t{0})};
}

std::vector<std::vector<uint64_t>> resize_params() {
  std::vector<std::vector<uint64_t>> out;
  const auto add = [&](int64_t ih, int64_t iw, int64_t oh, int64_t ow, int64_t tx, int64_t ty, bool mirror,
                       bool upside_down) {
    out.push_back(resize_call(ih, iw, oh, ow, tx, ty, mirror, upside_down));
  };
  add(13, 17, 7, 9, 5, 5, false, false);
  add(5, 6, 11, 19, 2, 2, true, false);
  add(9, 40, 4, 16, 6, 7, true, true);
  add(1, 1, 3, 5, 2, 2, false, false);
  add(20, 33, 20, 1, 40, 3, false, true);
  add(3, 3, 0, 5, 2, 2, false, false);
  add(4, 4, 5, 0, 2, 2, false, false);
  add(6, 5, 17, 37, 1, 1, true, true);
  // Pixels far apart: each has a span of its own.
  add(5, 170, 3, 21, 17, 4, false, false);
  add(4, 97, 2, 18, 12, 5, true, false);
  return out;
}

Kernel resize_base(DType source, int channels, Expr finish, DType out_type, bool mirror) {
  Kernel k;
  k.name = "resize";
  add_params(k, {{"in_h", DType::kI64},
                 {"in_w", DType::kI64},
                 {"out_h", DType::kI64},
                 {"out_w", DType::kI64},
                 {"taps_x", DType::kI64},
                 {"taps_y", DType::kI64},
                 {"scale_x", DType::kF64},
                 {"scale_y", DType::kF64},
                 {"reach_x", DType::kF64},
                 {"reach_y", DType::kF64},
                 {"mirror_a", DType::kI64},
                 {"mirror_b", DType::kI64}});
  const Expr c = const_int(channels);
  const bool integer = source == DType::kU8;
  const DType sum = integer ? DType::kI32 : DType::kF32;
  k.inputs.push_back({"image", source, {i64(0), i64(1), c}, 2});
  k.stages.push_back(first_table("first_x", i64(3), param(6, DType::kF64), param(8, DType::kF64)));
  k.stages.push_back(weight_table("weights_x", sum, i64(3), i64(4)));
  k.stages.push_back(first_table("first_y", i64(2), param(7, DType::kF64), param(9, DType::kF64)));
  k.stages.push_back(weight_table("weights_y", DType::kF32, i64(2), i64(5)));
  const Expr x = mirror ? axis(1) * i64(10) + i64(11) : axis(1);
  const Expr first_x = convert(of(0, DType::kI32, {x}), DType::kI64),
             first_y = convert(of(2, DType::kI32, {axis(0)}), DType::kI64);
  Expr h_finish = convert(accumulator(sum), DType::kF32);
  if (integer) h_finish = h_finish * const_float(1.0 / 16384);
  k.stages.push_back(band("h", DType::kF32, {i64(0), i64(3), c}, 1, sum, first_x, i64(4),
                          of(1, sum, {x, tap()}),
                          in(0, source, {axis(0), first_x + tap(), axis(2)}, Border::kClamp), h_finish));
  k.stages.push_back(band("v", out_type, {i64(2), i64(3), c}, 0, DType::kF32, first_y, i64(5),
                          of(3, DType::kF32, {axis(0), tap()}),
                          of(4, DType::kF32, {first_y + tap(), axis(1), axis(2)}, Border::kClamp), finish));
  return k;
}

}  // namespace

SampleKernel resize_u8(bool chw, int channels) {
  const Expr acc = accumulator(DType::kF32);
  const Expr c = convert(axis(2), DType::kF32);
  const Expr finish = chw ? fma(acc, c + const_float(0.25), c * const_float(3.0)) : saturate(acc, DType::kU8);
  Kernel k = resize_base(DType::kU8, channels, finish, chw ? DType::kF32 : DType::kU8, chw);
  if (chw)
    k.outputs.push_back({5, {2, 0, 1}, true, 3});
  else
    k.outputs.push_back({5, {0, 1, 2}, false, 2});
  return {k, resize_params()};
}

SampleKernel nearest_rows(int channels) {
  Kernel k;
  k.name = "nearest_rows";
  add_params(k, {{"in_h", DType::kI64}, {"w", DType::kI64}, {"out_h", DType::kI64}, {"scale", DType::kF64}});
  const Expr c = const_int(channels);
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), c}, 2});
  k.stages.push_back(first_table("row", i64(2), param(3, DType::kF64), const_float(0, DType::kF64)));
  k.stages.push_back(map("weights", DType::kF32, {const_int(3)},
                         convert(axis(0) + const_int(1), DType::kF32) * const_float(0.25)));
  k.stages.push_back(
      band("across", DType::kF32, {i64(0), i64(1), c}, 1, DType::kF32, axis(1) - const_int(1), const_int(3),
           of(1, DType::kF32, {tap()}),
           in(0, DType::kU8, {axis(0), axis(1) - const_int(1) + tap(), axis(2)}, Border::kClamp), Expr()));
  const Expr row = convert(of(0, DType::kI32, {axis(0)}), DType::kI64);
  k.stages.push_back(map("down", DType::kF32, {i64(2), i64(1), c},
                         of(2, DType::kF32, {row, axis(1), axis(2)}, Border::kClamp)));
  k.outputs.push_back({3, {0, 1, 2}, false, 3});
  std::vector<std::vector<uint64_t>> params;
  for (const auto& [ih, w, oh] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {40, 70, 66}, {300, 33, 64}, {1000, 40, 35}, {1, 5, 40}, {50, 8, 0}})
    params.push_back({bits(ih), bits(w), bits(oh),
                      bits(static_cast<double>(ih) / static_cast<double>(std::max<int64_t>(oh, 1)))});
  return {k, params};
}

SampleKernel resize_f32(int channels) {
  Kernel k =
      resize_base(DType::kF32, channels, saturate(accumulator(DType::kF32), DType::kI16), DType::kI16, true);
  k.outputs.push_back({5, {0, 1, 2}, false, 0});
  return {k, resize_params()};
}

/// An image on a larger canvas, or cut off by a smaller one.
SampleKernel padded() {
  Kernel k;
  k.name = "padded";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"out_h", DType::kI64},
                 {"out_w", DType::kI64},
                 {"top", DType::kI64},
                 {"left", DType::kI64}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 3});
  k.stages.push_back(
      map("pad", DType::kU8, {i64(2), i64(3), const_int(3)},
          in(0, DType::kU8, {axis(0) - i64(4), axis(1) - i64(5), axis(2)}, Border::kConstant, Cell{77})));
  k.outputs.push_back({0, {0, 1, 2}, true, 3});
  std::vector<std::vector<uint64_t>> params;
  for (const auto& [h, w, oh, ow, top, left] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>>{{10, 40, 13, 90, 1, 33},
                                                                                     {10, 40, 13, 90, 1, 0},
                                                                                     {10, 40, 6, 30, -2, -7},
                                                                                     {4, 5, 3, 70, 1, 80},
                                                                                     {4, 5, 3, 70, 1, -6},
                                                                                     {4, 5, 9, 30, -5, 3},
                                                                                     {4, 5, 9, 0, 1, 1},
                                                                                     {0, 900, 5, 300, 1, -70},
                                                                                     {900, 0, 300, 5, -70, 1},
                                                                                     {0, 5, 3, 20, 1, 1}})
    params.push_back({bits(h), bits(w), bits(oh), bits(ow), bits(top), bits(left)});
  return {k, params};
}

/// Rows added to an image whose columns stay: a column of the output is one of the input, which need not have
/// any element.
SampleKernel rows_padded(bool planes, bool known_width, bool edges_alike) {
  Kernel k;
  k.name = "rows_padded";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"out_h", DType::kI64}, {"top", DType::kI64}});
  constexpr int64_t kKnown = 300;
  const Expr c = const_int(3), w = known_width ? const_int(kKnown) : i64(1);
  k.inputs.push_back(
      {"image", DType::kU8, planes ? std::vector{c, i64(0), w} : std::vector{i64(0), w, c}, 3});
  const auto pixel = [&](const Expr& y) {
    const Expr x = axis(1);
    return in(0, DType::kU8, planes ? std::vector{axis(2), y, x} : std::vector{y, x, axis(2)},
              Border::kConstant, Cell{77});
  };
  const Expr y = axis(0) - i64(3);
  k.stages.push_back(map("pad", DType::kU8, {i64(2), w, c},
                         edges_alike ? pixel(y) : max(pixel(y), pixel(y + const_int(1)))));
  k.outputs.push_back({0, {0, 1, 2}, true, 3});
  std::vector<std::vector<uint64_t>> params;
  for (const auto& [h, w_now, oh, top] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{{10, 40, 13, 1},
                                                                   {10, 40, 6, -2},
                                                                   {0, 900, 5, 0},
                                                                   {0, 900, 5, -1},
                                                                   {0, 900, 5, 9},
                                                                   {0, 0, 5, 0},
                                                                   {7, 0, 5, 0}})
    params.push_back({bits(h), bits(known_width ? kKnown : w_now), bits(oh), bits(top)});
  return {k, params};
}

SampleKernel divided_rows() {
  Kernel k;
  k.name = "divided_rows";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"out_w", DType::kI64},
                 {"left", DType::kI64},
                 {"step", DType::kI64}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 3});
  k.stages.push_back(
      map("rows", DType::kU8, {const_int(4), i64(2), const_int(3)},
          in(0, DType::kU8, {axis(0) / i64(4), axis(1) - i64(3), axis(2)}, Border::kConstant, Cell{77})));
  k.outputs.push_back({0, {0, 1, 2}, true, 3});
  std::vector<std::vector<uint64_t>> params;
  for (const int64_t step : {2, 0})
    for (const auto& [h, w, ow, left] : std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{
             {5, 40, 60, 7}, {5, 40, 60, 90}, {5, 40, 60, -90}, {5, 40, 0, 7}, {0, 40, 60, 90}})
      params.push_back({bits(h), bits(w), bits(ow), bits(left), bits(step)});
  return {k, params};
}

SampleKernel gaussian(Border border, int channels) {
  Kernel k;
  k.name = "gaussian";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"size", DType::kI64}, {"radius", DType::kI64}});
  const Expr c = const_int(channels);
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), c}, 2});
  k.stages.push_back(map("window", DType::kF32, {i64(2)},
                         convert(axis(0) * axis(0) + const_int(1), DType::kF32) * const_float(0.01)));
  k.stages.push_back(band("across", DType::kF32, {i64(0), i64(1), c}, 1, DType::kF32, axis(1) - i64(3),
                          i64(2), of(0, DType::kF32, {tap()}),
                          in(0, DType::kU8, {axis(0), axis(1) - i64(3) + tap(), axis(2)}, border), Expr()));
  k.stages.push_back(band("down", DType::kU8, {i64(0), i64(1), c}, 0, DType::kF32, axis(0) - i64(3), i64(2),
                          of(0, DType::kF32, {tap()}),
                          of(1, DType::kF32, {axis(0) - i64(3) + tap(), axis(1), axis(2)}, border),
                          saturate(accumulator(DType::kF32), DType::kU8)));
  k.outputs.push_back({2, {0, 1, 2}, false, 3});
  std::vector<std::vector<uint64_t>> params;
  for (const auto& [h, w, size, radius] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{{11, 13, 3, 1},
                                                                   {6, 21, 5, 2},
                                                                   {2, 3, 7, 3},
                                                                   {1, 1, 5, 2},
                                                                   {9, 1, 9, 4},
                                                                   {5, 8, 2, 9},
                                                                   {12, 40, 4, -3},
                                                                   {0, 4, 3, 1},
                                                                   {7, 5, 1, 0}})
    params.push_back({bits(h), bits(w), bits(size), bits(radius)});
  return {k, params};
}

SampleKernel crop_mirror_normalize() {
  Kernel k;
  k.name = "crop_mirror_normalize";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"out_h", DType::kI64},
                 {"out_w", DType::kI64},
                 {"y0", DType::kI64},
                 {"a", DType::kI64},
                 {"b", DType::kI64},
                 {"mean", DType::kF32},
                 {"scale", DType::kF32}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 2});
  k.inputs.push_back({"mean", DType::kF32, {const_int(3)}, 1});
  const Expr pixel =
      in(0, DType::kU8, {axis(0) + i64(4), axis(1) * i64(5) + i64(6), axis(2)}, Border::kConstant, Cell{77});
  const Expr body = (convert(pixel, DType::kF32) - in(1, DType::kF32, {axis(2)}) - f32(7)) * f32(8);
  k.stages.push_back(map("cmn", DType::kF32, {i64(2), i64(3), const_int(3)}, body));
  k.outputs.push_back({0, {2, 0, 1}, true, 2});
  std::vector<std::vector<uint64_t>> params;
  for (const auto& [h, w, oh, ow, y0, a, b] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>>{
           {10, 20, 6, 18, 2, 1, 1},
           {10, 20, 6, 18, 2, -1, 18},
           {4, 5, 9, 19, -2, 1, -7},
           {4, 5, 9, 19, -2, -1, 12},
           {1, 1, 1, 1, 0, 1, 0},
           {3, 3, 0, 4, 0, 1, 0},
           {0, 3, 2, 4, 0, 1, 0}})
    params.push_back(
        {bits(h), bits(w), bits(oh), bits(ow), bits(y0), bits(a), bits(b), bits(1.5F), bits(0.125F)});
  return {k, params};
}

SampleKernel resize_read_backwards() {
  SampleKernel out = resize_u8(true, 3);
  Stage& h = out.kernel.stages[4];
  Stage& v = out.kernel.stages[5];
  const Expr first_x = convert(of(0, DType::kI32, {axis(1)}), DType::kI64);
  h.first = first_x;
  h.weight = of(1, DType::kI32, {axis(1), tap()});
  h.source = in(0, DType::kU8, {axis(0), first_x + tap(), axis(2)}, Border::kClamp);
  v.source = of(4, DType::kF32, {v.first + tap(), axis(1) * i64(10) + i64(11), axis(2)}, Border::kClamp);
  out.params.push_back(out.params[0]);
  out.params.back()[11] = bits(int64_t{-3});  // reads beyond the left edge: clamped
  return out;
}

SampleKernel horizontal_only() {
  Kernel k = resize_base(DType::kU8, 3, Expr(), DType::kF32, true);
  k.stages.pop_back();
  k.stages[4].type = DType::kU8;
  k.stages[4].finish = saturate(fma(convert(accumulator(DType::kI32), DType::kF32), const_float(1.0 / 16384),
                                    convert(axis(2), DType::kF32)),
                                DType::kU8);
  k.outputs.push_back({4, {0, 1, 2}, true, 2});
  return {k, resize_params()};
}

SampleKernel warp() {
  Kernel k;
  k.name = "warp";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"out_h", DType::kI64},
                 {"out_w", DType::kI64},
                 {"m", DType::kF32}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 2});
  const Expr y = convert(axis(0), DType::kF32), x = convert(axis(1), DType::kF32);
  const Expr sx = convert(unary(ScalarOp::kFloor, fma(x, f32(4), y * const_float(0.5))), DType::kI64);
  const Expr sy = convert(unary(ScalarOp::kFloor, fma(y, f32(4), x * const_float(-0.25))), DType::kI64);
  k.stages.push_back(map("warp", DType::kU8, {i64(2), i64(3), const_int(3)},
                         in(0, DType::kU8, {sy, sx, axis(2)}, Border::kConstant, Cell{9})));
  k.outputs.push_back({0, {0, 1, 2}, true, 3});
  return {k,
          {{9, 12, 8, 21, bits(0.9F)},
           {3, 3, 5, 5, bits(1.7F)},
           {0, 2, 2, 3, bits(1.0F)},
           {0, 900, 2, 300, bits(1.0F)},  // of rows that are not there nothing is read
           {900, 0, 300, 2, bits(1.0F)},
           {40, 110, 30, 75, bits(0.9F)}}};
}

SampleKernel warp_linear(DType type, bool filled, bool slants) {
  Kernel k;
  k.name = slants ? "warp_linear" : "warp_shift";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"out_h", DType::kI64},
                 {"out_w", DType::kI64},
                 {"m00", DType::kF32},
                 {"m01", DType::kF32},
                 {"m02", DType::kF32},
                 {"m10", DType::kF32},
                 {"m11", DType::kF32},
                 {"m12", DType::kF32},
                 {"fill", type}});
  k.inputs.push_back({"image", type, {i64(0), i64(1), const_int(3)}, 2});
  const DType wide = type == DType::kI32 ? DType::kF64 : DType::kF32;
  auto centre = [](int a) { return convert(convert(axis(a), DType::kI32), DType::kF32) + const_float(0.5); };
  auto place = [&](int row) {
    const int p = 4 + 3 * row;
    if (!slants) return centre(1 - row) + f32(p + 2);
    return fma(f32(p), centre(1), fma(f32(p + 1), centre(0), f32(p + 2)));
  };
  const Expr sx = place(0), sy = place(1);
  const Expr left = unary(ScalarOp::kFloor, sx), top = unary(ScalarOp::kFloor, sy);
  auto index = [](const Expr& e) {
    return convert(convert(clamp(e, const_float(-2), const_float(16777218)), DType::kI32), DType::kI64);
  };
  auto pixel = [&](int64_t dx, int64_t dy) {
    const Expr x = index(left) + const_int(dx), y = index(top) + const_int(dy);
    const Expr value = in(0, type, {y, x, axis(2)}, Border::kClamp);
    const Expr zero = const_int(0);
    const Expr inside = (x >= zero) & (x < i64(1)) & (y >= zero) & (y < i64(0));
    return convert(filled ? select(inside, value, param(10, type)) : value, wide);
  };
  auto blend = [](const Expr& t, const Expr& a, const Expr& b) { return fma(t, b - a, a); };
  const Expr tx = convert(sx - left, wide), ty = convert(sy - top, wide);
  const Expr above = blend(tx, pixel(0, 0), pixel(1, 0)), below = blend(tx, pixel(0, 1), pixel(1, 1));
  k.stages.push_back(
      map("warp", type, {i64(2), i64(3), const_int(3)}, saturate(blend(ty, above, below), type)));
  k.outputs.push_back({0, {0, 1, 2}, true, 3});
  const uint64_t fill = cell_from_int(type, 9).bits;
  auto turned = [&](uint64_t h, uint64_t w, uint64_t out_h, uint64_t out_w, float c, float s, float shift) {
    return std::vector<uint64_t>{h,           w,       out_h,   out_w,        bits(c), bits(-s),
                                 bits(shift), bits(s), bits(c), bits(-shift), fill};
  };
  // Shears and shifts: of two fractions of a place, either or both may be zero.
  auto slanted = [&](float along_x, float shift_x, float along_y, float shift_y) {
    return std::vector<uint64_t>{
        12,  70, 10, 67, bits(1.0F), bits(along_x), bits(shift_x), bits(along_y), bits(1.0F), bits(shift_y),
        fill};
  };
  SampleKernel out = {
      k,
      {turned(9, 12, 8, 37, 0.8F, 0.6F, 1.3F), turned(3, 3, 5, 5, -1.0F, 0.0F, 3.0F),
       turned(1, 1, 2, 3, 0.3F, 0.1F, -0.5F), turned(7, 20, 4, 33, 1.0F, 0.0F, 3e12F),
       turned(12, 70, 10, 67, 1.0F, 0.0F, 3.25F), turned(40, 40, 40, 40, 0.8F, 0.6F, 9.0F),
       turned(60, 110, 9, 75, 0.98F, 0.2F, 20.5F), turned(60, 110, 9, 64, -0.98F, 0.2F, 90.5F),
       turned(60, 110, 9, 31, 0.98F, 0.2F, 20.5F), turned(60, 110, 9, 17, 0.98F, 0.2F, 20.5F),
       slanted(0.0F, 2.5F, 0.0F, 0.5F), slanted(0.0F, 2.5F, 0.0F, 0.75F), slanted(0.0F, 2.75F, 0.0F, 0.5F),
       slanted(0.3F, -0.5F, 0.0F, -0.5F), slanted(0.0F, -0.5F, 0.1F, -0.5F),
       // Rounded, the first pixel's place, and those of the last three, are of another run than the others'.
       slanted(0.0F, 0.5F - 0x1p-24F, 0.0F, 0.5F), slanted(0.0F, 0.5F - 0x1p-18F, 0.0F, 0.5F)}};
  // Of an image without elements there is only the fill.
  if (filled) out.params.push_back(turned(0, 900, 3, 40, 1.0F, 0.0F, 700.0F));
  return out;
}

SampleKernel warp_to_planes() {
  SampleKernel out = warp_linear(DType::kU8, true);
  Stage& stage = out.kernel.stages[0];
  out.kernel.name = "warp_to_planes";
  stage.type = DType::kF32;
  stage.body = fma(convert(stage.body, DType::kF32), const_float(0.5), const_float(-3));
  out.kernel.outputs[0].axis_of = {2, 0, 1};
  return out;
}

namespace {

/// 256 bytes, too much work to be computed for each pixel; the first table of the kernel: before stage s.
Expr looked_up(Kernel& k, size_t s, Expr byte) {
  const Expr x = convert(convert(axis(0), DType::kU8), DType::kF64);
  const Expr root = unary(ScalarOp::kSqrt, x / const_float(255, DType::kF64));
  const Expr curve = unary(ScalarOp::kSqrt, root) * const_float(180, DType::kF64) + root / (root + x);
  k.stages.insert(k.stages.begin() + static_cast<std::ptrdiff_t>(s),
                  map("curve", DType::kU8, {const_int(256)}, saturate(curve, DType::kU8)));
  return of(static_cast<int>(s), DType::kU8, {convert(byte, DType::kI64)});
}

}  // namespace

SampleKernel resize_curve(bool planes) {
  SampleKernel out = resize_u8(planes, 3);
  const Expr entry = looked_up(out.kernel, 5, saturate(accumulator(DType::kF32), DType::kU8));
  out.kernel.name = "resize_curve";
  out.kernel.stages[6].finish =
      planes ? fma(convert(entry, DType::kF32), const_float(0.25), convert(axis(2), DType::kF32)) : entry;
  out.kernel.outputs[0].stage = 6;
  return out;
}

SampleKernel warp_curve() {
  SampleKernel out = warp_linear(DType::kU8, true);
  const Expr entry = looked_up(out.kernel, 0, out.kernel.stages[0].body);
  out.kernel.name = "warp_curve";
  out.kernel.stages[1].body = entry;
  out.kernel.outputs[0].stage = 1;
  return out;
}

SampleKernel flip_view() {
  SampleKernel out = colour_matrix();
  out.kernel.inputs[0].dense_axes = 1;  // the call decides how far apart pixels lie, and in which direction
  Stage planes = out.kernel.stages[0];
  planes.type = DType::kF32;
  planes.body = convert(in(0, DType::kU8, {axis(0), axis(1), axis(2)}), DType::kF32) - const_float(3.0);
  out.kernel.stages.push_back(planes);
  out.kernel.outputs.push_back({1, {2, 0, 1}, true, 3});
  for (int i = 0; i < 6; ++i)
    out.params.push_back({static_cast<uint64_t>(2 + i), static_cast<uint64_t>(7 * i + 3), bits(0.2F)});
  return out;
}

SampleKernel shifted_windows() {
  Kernel k;
  k.name = "shifted_windows";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"dy", DType::kI64}, {"step", DType::kI64}});
  const std::vector<Expr> large = {i64(0) * const_int(2) + const_int(1), i64(1), const_int(3)};
  k.inputs.push_back({"image", DType::kU8, large, 2});
  const auto most = [](const std::function<Expr(int64_t)>& at) { return max(max(at(-1), at(0)), at(1)); };
  k.stages.push_back(map("across", DType::kU8, large, most([&](int64_t d) {
                           return in(0, DType::kU8, {axis(0), axis(1) + const_int(d), axis(2)},
                                     Border::kClamp);
                         })));
  k.stages.push_back(map("every_other", DType::kU8, {i64(0), i64(1), const_int(3)}, most([&](int64_t d) {
                           return of(0, DType::kU8, {axis(0) * i64(3) + const_int(d), axis(1), axis(2)},
                                     Border::kClamp);
                         })));
  k.stages.push_back(map("shifted", DType::kU8, {i64(0), i64(1), const_int(3)}, most([&](int64_t d) {
                           return of(1, DType::kU8, {axis(0) + i64(2) + const_int(d), axis(1), axis(2)},
                                     Border::kClamp);
                         })));
  k.outputs.push_back({2, {0, 1, 2}, true, 3});
  SampleKernel out{k, {}};
  for (const auto& [h, w, dy, step] :
       std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{{40, 35, 0, 2},
                                                                   {70, 9, 60, 2},
                                                                   {70, 9, 600, 1},
                                                                   {50, 40, -45, 2},
                                                                   {50, 40, -700, 1},
                                                                   {1, 5, 3, 0}})
    out.params.push_back({bits(h), bits(w), bits(dy), bits(step)});
  return out;
}

std::vector<std::pair<std::string, SampleKernel>> tiled_kernels() {
  std::vector<std::pair<std::string, SampleKernel>> out;
  const auto windows = [](SampleKernel sample) {
    sample.params.clear();
    for (const auto& [h, w, size, radius] : std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>{
             {70, 65, 3, 1}, {33, 70, 31, 15}, {60, 40, 101, 50}, {40, 40, 4, -30}, {2, 70, 9, 4}})
      sample.params.push_back({bits(h), bits(w), bits(size), bits(radius)});
    return sample;
  };
  const auto resizes = [](SampleKernel sample) {
    sample.params = {
        resize_call(100, 90, 70, 75, 4, 4, false, false), resize_call(30, 40, 65, 70, 2, 2, true, true),
        resize_call(600, 60, 40, 50, 3, 40, true, false), resize_call(1500, 8, 2, 40, 2, 1500, false, true),
        resize_call(1400, 8, 3, 66, 2, 1000, true, false)};
    return sample;
  };
  SampleKernel known = windows(gaussian(Border::kClamp, 3));
  known.kernel.stages[0].extents = {const_int(3)};
  known.kernel.stages[1].taps = known.kernel.stages[2].taps = const_int(3);
  for (std::vector<uint64_t>& params : known.params) params[3] = 1;
  out.emplace_back("tiles_of_resize", resizes(resize_u8(true, 3)));
  out.emplace_back("tiles_of_resize_grey", resizes(resize_u8(false, 1)));
  out.emplace_back("tiles_of_resize_f32", resizes(resize_f32(3)));
  out.emplace_back("tiles_of_gaussian_reflect", windows(gaussian(Border::kReflect101, 3)));
  out.emplace_back("tiles_of_gaussian_clamp", windows(gaussian(Border::kClamp, 1)));
  out.emplace_back("tiles_of_gaussian_constant", windows(gaussian(Border::kConstant, 3)));
  out.emplace_back("tiles_of_window", std::move(known));
  out.emplace_back("tiles_of_nearest_rows", nearest_rows(3));
  out.emplace_back("tiles_of_shifted_windows", shifted_windows());
  return out;
}

}  // namespace galatea::testing
