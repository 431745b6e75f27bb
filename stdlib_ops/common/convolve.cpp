// Windows over images: see convolve.h.
#include "stdlib_ops/common/convolve.h"

namespace galatea::ops {

Expr unrolled_size(const Expr& size) {
  constexpr int64_t kMaxUnrolledTaps = 7;
  if (!kernel::is_const(size) || kernel::const_value(size) > kMaxUnrolledTaps) return size;
  return i64(kernel::const_value(size));
}

StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis,
                  const Window& window) {
  return convolve(b, name, source, axis, window, DType::kF32);
}

StageRef convolve(RecipeBuilder& b, const std::string& name, StageRef source, int axis, const Window& window,
                  DType type) {
  const Expr radius = window.taps / i64(2);
  const auto a = static_cast<size_t>(axis);
  return b.band({.name = name,
                 .type = type,
                 .extents = b.extents(0),
                 .axis = axis,
                 .accumulator = DType::kF32,
                 .taps = window.taps,
                 .first = [&](const Expr& i) { return i - radius; },
                 .weight = [&](const Expr&, const Expr& k) { return b.load(window.weights, {k}); },
                 .source =
                     [&](const Axes& at, const Expr& index) {
                       Axes from = at;
                       from[a] = index;
                       return source.index < 0 ? b.load(0, from, Border::kReflect101)
                                               : b.load(source, from, Border::kReflect101);
                     },
                 .finish = [&](const Expr& acc) { return kernel::saturate(acc, type); }});
}

Status check_filter_input(const TypeContext& ctx, bool takes_f64) {
  const ir::Type& in = ctx.input(0);
  if (is_bool(in.dtype) || (in.dtype == DType::kF64 && !takes_f64))
    return ctx.error(fmt::format("{} does not take {}", ctx.op().name, types_name(in.dtype)),
                     "convert it with fn.cast");
  const size_t axes = data_axes(in.layout, in.ndim).size();
  if (axes < 1 || axes > 3)
    return ctx.error(fmt::format("{} filters one to three axes besides the channels; the input is {}",
                                 ctx.op().name, describe(in)),
                     in.layout.empty() ? "name the axes: fn.reshape(x, layout=\"HWC\")" : "");
  const DType dtype = ctx.dtype("dtype", in.dtype);
  if (dtype != in.dtype && dtype != DType::kF32)
    return ctx.error(
        fmt::format("{}: dtype {} is neither the input's type nor FLOAT", ctx.op().name, types_name(dtype)),
        "convert the result with fn.cast", "dtype");
  return {};
}

StageRef gaussian_weights(RecipeBuilder& b, const std::string& name, const Expr& sigma, const Expr& taps) {
  const Expr radius = taps / i64(2);
  const Expr exponent = f32(-0.5) / max(sigma * sigma, f32(1e-30));
  const StageRef raw = b.map(name + "_raw", DType::kF32, {taps}, [&](const Axes& at) {
    const Expr distance = to_f32(at[0] - radius);
    return kernel::unary(ScalarOp::kExp, distance * distance * exponent);
  });
  const StageRef sum =
      b.reduce({.name = name + "_sum",
                .type = DType::kF32,
                .extents = {i64(1)},
                .reduce_extents = {taps},
                .accumulator = DType::kF64,
                .body = [&](const Axes&, const Axes& over) { return to_f64(b.load(raw, {over[0]})); }});
  return b.map(name + "_weights", DType::kF32, {taps},
               [&](const Axes& at) { return b.load(raw, {at[0]}) / b.load(sum, {i64(0)}); });
}

}  // namespace galatea::ops
