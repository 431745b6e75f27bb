// Sample kernels of pixels and of whole images, and the list of all but those in tiles.
#include "tests/loops/sample_kernels.h"

#include <cmath>

#include "tests/loops/sample_stages.h"

namespace galatea::testing {

using namespace sample;

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

SampleKernel dilated(bool framed) {
  Kernel k;
  k.name = "dilated";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}});
  const int64_t frame = framed ? 2 : 0;
  k.inputs.push_back({"image", DType::kF32, {i64(0), i64(1), const_int(3)}, 3});
  const auto above = [&](int64_t dy) {
    return in(0, DType::kF32, {axis(0) + const_int(dy), axis(1) - const_int(frame / 2), axis(2)},
              Border::kClamp);
  };
  k.stages.push_back(map("columns", DType::kF32, {i64(0), i64(1) + const_int(frame), const_int(3)},
                         max(max(above(-1), above(0)), above(1))));
  const auto beside = [&](int64_t dx) {
    return load({LoadTarget::Kind::kStage, 0}, DType::kF32, {axis(0), axis(1) + const_int(dx), axis(2)},
                Border::kClamp);
  };
  k.stages.push_back(map("dilated", DType::kF32, {i64(0), i64(1) + const_int(frame), const_int(3)},
                         max(max(beside(-1), beside(0)), beside(1))));
  k.outputs.push_back({1, {0, 1, 2}, true, 3});
  return {k, {{5, 9}, {1, 1}, {4, 40}, {1, 2}}};
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

SampleKernel chosen_steps() {
  Kernel k;
  k.name = "chosen_steps";
  add_params(k, {{"h", DType::kI64},
                 {"w", DType::kI64},
                 {"has_first", DType::kBool},
                 {"has_second", DType::kBool},
                 {"gain", DType::kF32}});
  const std::vector<Expr> extents = {i64(0), i64(1), const_int(3)};
  k.inputs.push_back({"image", DType::kU8, extents, 2});
  const auto pixel = [](int c) {
    return convert(in(0, DType::kU8, {axis(0), axis(1), const_int(c)}), DType::kF32);
  };
  const Expr mean = (pixel(0) + pixel(1) + pixel(2)) / const_float(3);
  const auto step = [&](Expr x, double shift) {
    for (int i = 0; i < 6; ++i) {
      x = unary(ScalarOp::kFloor, fma(mean, f32(4), x + const_float(shift + i)));
      x = kernel::min(kernel::max(x, const_float(0)), const_float(255));
    }
    return x;
  };
  Expr value = convert(in(0, DType::kU8, {axis(0), axis(1), axis(2)}), DType::kF32);
  value = select(param(2, DType::kBool), step(value, -20), value);
  value = select(param(3, DType::kBool), value * const_float(0.5), step(value, 3));
  k.stages.push_back(map("steps", DType::kU8, extents, saturate(value, DType::kU8)));
  k.outputs.push_back({0, {0, 1, 2}, true, 2});
  return {k,
          {{5, 9, 0, 0, bits(0.11F)},
           {5, 33, 0, 1, bits(-0.3F)},
           {2, 64, 1, 0, bits(0.05F)},
           {3, 47, 1, 1, bits(0.2F)},
           {3, 0, 1, 1, bits(1.0F)}}};
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

SampleKernel reductions(DType type, DType accumulator_type, Combiner combiner, bool leaves) {
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
    s.body = convert(in(0, type, std::move(at)), leaves ? DType::kF32 : accumulator_type);
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

SampleKernel sums_of_groups(bool known_length) {
  Kernel k;
  k.name = "sums_of_groups";
  add_params(k, {{"groups", DType::kI64}, {"rows", DType::kI64}, {"length", DType::kI64}});
  const Expr sixteen = const_int(16), place = reduce_axis(0);
  k.inputs.push_back({"groups", DType::kF32, {i64(0), i64(1), sixteen}, 3});
  Stage sum;
  sum.form = StageForm::kReduce;
  sum.name = "per_row";
  sum.type = DType::kF32;
  sum.accumulator = DType::kF64;
  sum.extents = {i64(1)};
  sum.reduce_extents = {known_length ? const_int(48) : i64(2)};
  sum.body = in(0, DType::kF32, {place / sixteen, axis(0), place % sixteen});
  k.stages.push_back(std::move(sum));
  k.outputs.push_back({0, {0}, false, 1});
  if (known_length) return {k, {{3, 7, 48}, {4, 1, 48}, {3, 0, 48}}};
  return {k, {{3, 7, 48}, {9, 5, 139}, {1, 20, 3}, {0, 0, 0}}};
}

SampleKernel samples_in_a_row(int dense_axes) {
  Kernel k;
  k.name = "samples_in_a_row";
  add_params(k, {{"frames", DType::kI64}, {"channels", DType::kI64}});
  const Expr count = i64(0) * i64(1), step = max(i64(1), const_int(1));
  k.inputs.push_back({"sound", DType::kF32, {i64(0), i64(1)}, dense_axes});
  k.stages.push_back(
      map("samples", DType::kF32, {count}, in(0, DType::kF32, {axis(0) / step, axis(0) % step})));
  const Expr own = of(0, DType::kF32, {axis(0)}),
             before = of(0, DType::kF32, {axis(0) - const_int(1)}, Border::kClamp);
  k.stages.push_back(map("differences", DType::kF32, {count}, own - before));
  k.outputs.push_back({1, {0}, false, 1});
  return {k, {{40, 1}, {1, 40}, {9, 3}, {1, 1}, {0, 3}, {3, 0}}};
}

SampleKernel equalized() {
  Kernel k;
  k.name = "equalized";
  add_params(k, {{"h", DType::kI64}, {"w", DType::kI64}});
  const Expr three = const_int(3), bins = const_int(256);
  k.inputs.push_back({"image", DType::kU8, {i64(0), i64(1), three}, 2});
  const auto bin_of = [](Expr value) { return convert(std::move(value), DType::kI64); };
  Stage counts;
  counts.form = StageForm::kHistogram;
  counts.name = "counts";
  counts.type = counts.accumulator = DType::kI32;
  counts.extents = {three, bins};
  counts.reduce_extents = {i64(0), i64(1)};
  counts.body = bin_of(in(0, DType::kU8, {reduce_axis(0), reduce_axis(1), axis(0)}));
  k.stages.push_back(counts);
  Stage below;
  below.form = StageForm::kScan;
  below.name = "below";
  below.type = below.accumulator = DType::kI32;
  below.extents = {three, bins};
  below.scan_axis = 1;
  below.body = of(0, DType::kI32, {axis(0), axis(1)});
  k.stages.push_back(below);
  Stage least;
  least.form = StageForm::kReduce;
  least.name = "least";
  least.type = least.accumulator = DType::kU8;
  least.combiner = Combiner::kMin;
  least.reduce_extents = {i64(0), i64(1), three};
  least.body = in(0, DType::kU8, {reduce_axis(0), reduce_axis(1), reduce_axis(2)});
  k.stages.push_back(least);
  const Expr pixel = in(0, DType::kU8, {axis(0), axis(1), axis(2)});
  const Expr rank = of(1, DType::kI32, {axis(2), bin_of(pixel)});
  const Expr all = convert(max(i64(0) * i64(1), const_int(1)), DType::kF32);
  k.stages.push_back(map("equal", DType::kU8, {i64(0), i64(1), three},
                         saturate(convert(rank, DType::kF32) * const_float(255) / all -
                                      convert(of(2, DType::kU8, {}), DType::kF32),
                                  DType::kU8)));
  k.outputs.push_back({3, {0, 1, 2}, true, 3});
  return {k, {{5, 7}, {1, 1}, {33, 3}, {2, 40}, {0, 4}, {90, 61}}};
}

std::vector<std::pair<std::string, SampleKernel>> sample_kernels() {
  std::vector<std::pair<std::string, SampleKernel>> out;
  out.emplace_back("resize_u8_chw", resize_u8(true, 3));
  out.emplace_back("resize_u8_hwc", resize_u8(false, 3));
  out.emplace_back("resize_u8_grey", resize_u8(false, 1));
  out.emplace_back("resize_u8_rgba", resize_u8(true, 4));
  out.emplace_back("resize_f32", resize_f32(3));
  out.emplace_back("padded", padded());
  for (const bool planes : {false, true})
    for (const bool known_width : {false, true})
      for (const bool edges_alike : {false, true})
        out.emplace_back(std::string("rows_padded") + (planes ? "_planes" : "") +
                             (known_width ? "_of_known_width" : "") + (edges_alike ? "" : "_from_two"),
                         rows_padded(planes, known_width, edges_alike));
  out.emplace_back("divided_rows", divided_rows());
  out.emplace_back("gaussian_reflect", gaussian(Border::kReflect101, 3));
  out.emplace_back("gaussian_clamp", gaussian(Border::kClamp, 1));
  out.emplace_back("gaussian_constant", gaussian(Border::kConstant, 3));
  out.emplace_back("crop_mirror_normalize", crop_mirror_normalize());
  out.emplace_back("brightness", brightness());
  out.emplace_back("colour_matrix", colour_matrix());
  out.emplace_back("dilated", dilated(false));
  out.emplace_back("dilated_framed", dilated(true));
  out.emplace_back("chosen_steps", chosen_steps());
  out.emplace_back("broadcast", broadcast());
  out.emplace_back("sum_u8", reductions(DType::kU8, DType::kI64, Combiner::kSum));
  out.emplace_back("sum_f32", reductions(DType::kF32, DType::kF64, Combiner::kSum));
  out.emplace_back("leaves_f32", reductions(DType::kF32, DType::kF64, Combiner::kSum, true));
  out.emplace_back("min_f32", reductions(DType::kF32, DType::kF32, Combiner::kMin));
  out.emplace_back("max_i16", reductions(DType::kI16, DType::kI16, Combiner::kMax));
  out.emplace_back("sums_of_groups", sums_of_groups(false));
  out.emplace_back("sums_of_groups_of_known_length", sums_of_groups(true));
  out.emplace_back("samples_in_a_row", samples_in_a_row(2));
  out.emplace_back("samples_in_a_row_of_a_view", samples_in_a_row(1));
  out.emplace_back("resize_read_backwards", resize_read_backwards());
  out.emplace_back("horizontal_only", horizontal_only());
  out.emplace_back("flip_view", flip_view());
  out.emplace_back("sum_u16", reductions(DType::kU16, DType::kU64, Combiner::kSum));
  out.emplace_back("max_u8", reductions(DType::kU8, DType::kU8, Combiner::kMax));
  out.emplace_back("equalized", equalized());
  out.emplace_back("warp", warp());
  out.emplace_back("warp_linear_filled", warp_linear(DType::kU8, true));
  out.emplace_back("warp_linear_edge", warp_linear(DType::kU8, false));
  out.emplace_back("warp_shift_filled", warp_linear(DType::kU8, true, false));
  out.emplace_back("warp_shift_edge", warp_linear(DType::kU8, false, false));
  out.emplace_back("warp_linear_f32", warp_linear(DType::kF32, true));
  out.emplace_back("warp_linear_i32", warp_linear(DType::kI32, false));
  out.emplace_back("warp_to_planes", warp_to_planes());
  out.emplace_back("warp_curve", warp_curve());
  out.emplace_back("resize_curve", resize_curve(false));
  out.emplace_back("resize_curve_planes", resize_curve(true));
  out.emplace_back("colour_chain_bytes", colour_chain(false));
  out.emplace_back("colour_chain_planes", colour_chain(true));
  return out;
}

}  // namespace galatea::testing
