// The kernels of sample_kernels.h, written with the scalar builder.
#include "tests/loops/sample_kernels.h"

#include <cmath>

namespace galatea::testing {

using namespace galatea::kernel;

namespace {

Expr i64(int index) { return param(index, DType::kI64); }
Expr f32(int index) { return param(index, DType::kF32); }
uint64_t bits(float value) { return cell_from_double(DType::kF32, static_cast<double>(value)).bits; }
uint64_t bits(double value) { return cell_from_double(DType::kF64, value).bits; }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
Expr in(int index, DType type, std::vector<Expr> at, Border border = Border::kNone, Cell fill = {}) {
  return load({LoadTarget::Kind::kInput, index}, type, std::move(at), border, fill);
}
Expr of(int stage, DType type, std::vector<Expr> at, Border border = Border::kNone) {
  return load({LoadTarget::Kind::kStage, stage}, type, std::move(at), border);
}
void add_params(Kernel& k, std::vector<std::pair<std::string, DType>> params) {
  for (auto& [name, type] : params) k.params.push_back({name, type});
}
Stage map(std::string name, DType type, std::vector<Expr> extents, Expr body) {
  Stage s;
  s.name = std::move(name);
  s.type = type;
  s.extents = std::move(extents);
  s.body = std::move(body);
  return s;
}

/// first(i) = floor((i + 0.5) * scale - reach), as a table of i32.
Stage first_table(std::string name, Expr width, Expr scale, Expr reach) {
  const Expr position = (convert(axis(0), DType::kF64) + const_float(0.5, DType::kF64)) * scale - reach;
  return map(std::move(name), DType::kI32, {std::move(width)},
             convert(unary(ScalarOp::kFloor, position), DType::kI32));
}
Stage weight_table(std::string name, DType type, Expr width, Expr taps) {
  const Expr seed = (axis(0) * const_int(7) + axis(1) * const_int(13)) % const_int(29) - const_int(9);
  Expr value = convert(seed, type);
  if (is_float(type))
    value = value * const_float(0.0371, type);
  else
    value = value * const_int(401, type);
  return map(std::move(name), type, {std::move(width), std::move(taps)}, value);
}
Stage band(std::string name, DType type, std::vector<Expr> extents, int along, DType accumulator, Expr first,
           Expr taps, Expr weight, Expr source, Expr finish) {
  Stage s;
  s.form = StageForm::kBand;
  s.name = std::move(name);
  s.type = type;
  s.extents = std::move(extents);
  s.band_axis = along;
  s.accumulator = accumulator;
  s.first = std::move(first);
  s.taps = std::move(taps);
  s.weight = std::move(weight);
  s.source = std::move(source);
  s.finish = std::move(finish);
  return s;
}

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
                                                                                     {0, 5, 3, 20, 1, 1}})
    params.push_back({bits(h), bits(w), bits(oh), bits(ow), bits(top), bits(left)});
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

SampleKernel brightness() {
  Kernel k;
  k.name = "brightness";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"gain", DType::kF32}, {"shift", DType::kF32}});
  const std::vector<Expr> extents = {i64(0), i64(1), const_int(3)};
  const std::vector<Expr> at = {axis(0), axis(1), axis(2)};
  k.inputs.push_back({"image", DType::kU8, extents, 2});
  k.stages.push_back(
      map("b", DType::kU8, extents,
          saturate(fma(convert(in(0, DType::kU8, at), DType::kF32), f32(2), f32(3)), DType::kU8)));
  k.stages.push_back(map("c", DType::kU8, extents,
                         saturate(convert(of(0, DType::kU8, at), DType::kI32) * const_int(3, DType::kI32) -
                                      const_int(40, DType::kI32),
                                  DType::kU8)));
  k.outputs.push_back({1, {0, 1, 2}, true, 3});
  return {k,
          {{7, 11, bits(1.3F), bits(-20.0F)},
           {1, 1, bits(0.5F), bits(2.5F)},
           {0, 3, bits(1.0F), bits(0.0F)},
           {2, 64, bits(-1.0F), bits(255.0F)}}};
}

SampleKernel colour_matrix() {
  Kernel k;
  k.name = "colour_matrix";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"m", DType::kF32}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 2});
  Expr sum = const_float(0.5);
  for (int c = 0; c < 3; ++c) {
    const Expr weight = f32(2) * convert(axis(2) * const_int(3) + const_int(c), DType::kF32);
    sum = fma(weight, convert(in(0, DType::kU8, {axis(0), axis(1), const_int(c)}), DType::kF32), sum);
  }
  k.stages.push_back(map("matrix", DType::kU8, {i64(0), i64(1), const_int(3)}, saturate(sum, DType::kU8)));
  k.outputs.push_back({0, {0, 1, 2}, true, 2});
  return {k, {{5, 9, bits(0.11F)}, {1, 33, bits(-0.3F)}, {3, 0, bits(1.0F)}}};
}

/// A curve, two matrices of colours, a curve, planes of floats: long enough to go two vectors side by side.
SampleKernel colour_chain(bool planes) {
  Kernel k;
  k.name = "colour_chain";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"m", DType::kF32}});
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), const_int(3)}, 3});
  const auto stage = [](int s, std::vector<Expr> indices) {
    return load({LoadTarget::Kind::kStage, s}, DType::kU8, std::move(indices));
  };
  const Expr entry = convert(axis(0), DType::kF32);
  k.stages.push_back(
      map("curve", DType::kU8, {const_int(256)}, saturate(fma(entry, f32(2), const_float(7)), DType::kU8)));
  k.stages.push_back(map("last_curve", DType::kU8, {const_int(256)},
                         saturate(const_float(255) - entry * f32(2), DType::kU8)));
  const auto matrix = [&](const std::function<Expr(int)>& channel) {
    Expr sum = const_float(0.5);
    for (int c = 0; c < 3; ++c) {
      const Expr number = convert(axis(2) * const_int(3) + const_int(c), DType::kF32);
      const Expr weight = fma(f32(2), number, const_float(0.1));
      sum = fma(weight, convert(channel(c), DType::kF32), sum);
    }
    return saturate(sum, DType::kU8);
  };
  const std::vector<Expr> extents = {i64(0), i64(1), const_int(3)};
  k.stages.push_back(map("first", DType::kU8, extents, matrix([&](int c) {
                           const Expr byte = in(0, DType::kU8, {axis(0), axis(1), const_int(c)});
                           return stage(0, {convert(byte, DType::kI64)});
                         })));
  k.stages.push_back(map("second", DType::kU8, extents,
                         matrix([&](int c) { return stage(2, {axis(0), axis(1), const_int(c)}); })));
  const Expr byte = stage(1, {convert(stage(3, {axis(0), axis(1), axis(2)}), DType::kI64)});
  k.stages.push_back(map("finish", planes ? DType::kF32 : DType::kU8, extents,
                         planes ? fma(convert(byte, DType::kF32), f32(2), const_float(-3)) : byte));
  k.outputs.push_back({4, planes ? std::vector<int>{2, 0, 1} : std::vector<int>{0, 1, 2}, true, 3});
  return {k,
          {{5, 9, bits(0.11F)},
           {7, 33, bits(-0.3F)},
           {9, 64, bits(0.05F)},
           {3, 47, bits(0.2F)},
           {1, 31, bits(0.07F)},
           {3, 0, bits(1.0F)}}};
}

SampleKernel broadcast() {
  Kernel k;
  k.name = "broadcast";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}, {"bh", DType::kI64}, {"bw", DType::kI64}});
  k.inputs.push_back({"a", DType::kI32, {i64(0), i64(1)}, 2});
  k.inputs.push_back({"b", DType::kI32, {i64(2), i64(3)}, 1});
  const auto index = [](int d, int p) { return select(equal(i64(p), const_int(1)), const_int(0), axis(d)); };
  const Expr a = in(0, DType::kI32, {axis(0), axis(1)}), b = in(1, DType::kI32, {index(0, 2), index(1, 3)});
  k.stages.push_back(
      map("quotient", DType::kI32, {i64(0), i64(1)}, a / b + a % (b - const_int(3, DType::kI32))));
  k.outputs.push_back({0, {1, 0}, false, 2});
  return {k, {{4, 19, 4, 19}, {4, 19, 1, 19}, {4, 19, 4, 1}, {4, 19, 1, 1}, {0, 5, 1, 5}}};
}

SampleKernel reductions(DType type, DType accumulator_type, Combiner combiner) {
  Kernel k;
  k.name = "reductions";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}});
  k.inputs.push_back({"image", type, {i64(0), i64(1), const_int(3)}, 2});
  const auto reduce = [&](std::string name, std::vector<Expr> extents, std::vector<Expr> box,
                          std::vector<Expr> at) {
    Stage s;
    s.form = StageForm::kReduce;
    s.name = std::move(name);
    s.type = accumulator_type;
    s.accumulator = accumulator_type;
    s.combiner = combiner;
    s.extents = std::move(extents);
    s.reduce_extents = std::move(box);
    s.body = convert(in(0, type, std::move(at)), accumulator_type);
    k.stages.push_back(std::move(s));
  };
  const Expr r0 = reduce_axis(0), r1 = reduce_axis(1), r2 = reduce_axis(2), three = const_int(3);
  reduce("all", {}, {i64(0), i64(1), three}, {r0, r1, r2});
  reduce("per_channel", {three}, {i64(0), i64(1)}, {r0, r1, axis(0)});
  reduce("per_row", {i64(0)}, {i64(1), three}, {axis(0), r0, r1});
  reduce("per_column", {i64(1), three}, {i64(0)}, {r0, axis(0), axis(1)});
  for (int s = 0; s < 4; ++s) {
    std::vector<int> order;
    for (int d = 0; d < k.stages[static_cast<size_t>(s)].rank(); ++d) order.push_back(d);
    k.outputs.push_back({s, order, false, k.stages[static_cast<size_t>(s)].rank()});
  }
  return {k, {{5, 7}, {1, 1}, {33, 3}, {2, 40}, {0, 4}, {3, 0}}};
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
           {40, 110, 30, 75, bits(0.9F)}}};
}

SampleKernel warp_linear(DType type, bool filled) {
  Kernel k;
  k.name = "warp_linear";
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
  return {k,
          {turned(9, 12, 8, 37, 0.8F, 0.6F, 1.3F), turned(3, 3, 5, 5, -1.0F, 0.0F, 3.0F),
           turned(1, 1, 2, 3, 0.3F, 0.1F, -0.5F), turned(7, 20, 4, 33, 1.0F, 0.0F, 3e12F),
           turned(12, 70, 10, 67, 1.0F, 0.0F, 3.25F), turned(40, 40, 40, 40, 0.8F, 0.6F, 9.0F),
           turned(60, 110, 9, 75, 0.98F, 0.2F, 20.5F), turned(60, 110, 9, 64, -0.98F, 0.2F, 90.5F),
           turned(60, 110, 9, 31, 0.98F, 0.2F, 20.5F), turned(60, 110, 9, 17, 0.98F, 0.2F, 20.5F)}};
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
  return out;
}

std::vector<std::pair<std::string, SampleKernel>> sample_kernels() {
  std::vector<std::pair<std::string, SampleKernel>> out;
  out.emplace_back("resize_u8_chw", resize_u8(true, 3));
  out.emplace_back("resize_u8_hwc", resize_u8(false, 3));
  out.emplace_back("resize_u8_grey", resize_u8(false, 1));
  out.emplace_back("resize_u8_rgba", resize_u8(true, 4));
  out.emplace_back("resize_f32", resize_f32(3));
  out.emplace_back("padded", padded());
  out.emplace_back("gaussian_reflect", gaussian(Border::kReflect101, 3));
  out.emplace_back("gaussian_clamp", gaussian(Border::kClamp, 1));
  out.emplace_back("gaussian_constant", gaussian(Border::kConstant, 3));
  out.emplace_back("crop_mirror_normalize", crop_mirror_normalize());
  out.emplace_back("brightness", brightness());
  out.emplace_back("colour_matrix", colour_matrix());
  out.emplace_back("broadcast", broadcast());
  out.emplace_back("sum_u8", reductions(DType::kU8, DType::kI64, Combiner::kSum));
  out.emplace_back("sum_f32", reductions(DType::kF32, DType::kF32, Combiner::kSum));
  out.emplace_back("min_f32", reductions(DType::kF32, DType::kF32, Combiner::kMin));
  out.emplace_back("max_i16", reductions(DType::kI16, DType::kI16, Combiner::kMax));
  out.emplace_back("resize_read_backwards", resize_read_backwards());
  out.emplace_back("horizontal_only", horizontal_only());
  out.emplace_back("flip_view", flip_view());
  out.emplace_back("sum_u16", reductions(DType::kU16, DType::kU64, Combiner::kSum));
  out.emplace_back("warp", warp());
  out.emplace_back("warp_linear_filled", warp_linear(DType::kU8, true));
  out.emplace_back("warp_linear_edge", warp_linear(DType::kU8, false));
  out.emplace_back("warp_linear_f32", warp_linear(DType::kF32, true));
  out.emplace_back("warp_linear_i32", warp_linear(DType::kI32, false));
  out.emplace_back("warp_to_planes", warp_to_planes());
  out.emplace_back("colour_chain_bytes", colour_chain(false));
  out.emplace_back("colour_chain_planes", colour_chain(true));
  return out;
}

}  // namespace galatea::testing
