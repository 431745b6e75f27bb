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
                 .first = [&](Expr i) { return i - radius; },
                 .weight = [&](Expr, Expr k) { return b.load(window.weights, {k}); },
                 .source =
                     [&](const Axes& at, Expr index) {
                       Axes from = at;
                       from[a] = index;
                       return source.index < 0 ? b.load(0, from, Border::kReflect101)
                                               : b.load(source, from, Border::kReflect101);
                     },
                 .finish = [&](Expr acc) { return kernel::saturate(acc, type); }});
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

}  // namespace galatea::ops
