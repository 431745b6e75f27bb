// gaussian_blur: separable Gaussian windows, with sigma and window per axis and per sample.
//
// Comes in: an image of any layout. Goes out: one band per data axis, innermost first, f32 in between.
#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/compat/blur.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxWindow = 8191;

Types gaussian_types(const TypeContext& ctx) {
  GALATEA_TRY(check_filter_input(ctx, true));
  const ir::Type& in = ctx.input(0);
  const int axes = static_cast<int>(data_axes(in.layout, in.ndim).size());
  GALATEA_TRY(check_length(ctx, "sigma", axes));
  GALATEA_TRY(check_length(ctx, "window_size", axes));
  if (!ctx.given("sigma") && !ctx.given("window_size"))
    return ctx.error("gaussian_blur: neither sigma nor window_size", "give at least one of them");
  if (given_static(ctx, "sigma"))
    for (double s : ctx.numbers("sigma"))
      if (s < 0)
        return ctx.error(fmt::format("gaussian_blur: sigma must not be negative, got {}", s), {}, "sigma");
  if (given_static(ctx, "window_size"))
    for (int64_t w : ctx.integers("window_size"))
      if (w < 0 || (w != 0 && w % 2 == 0) || w > kMaxWindow)
        return ctx.error(
            fmt::format("gaussian_blur: window_size must be odd, between 1 and {} (or 0: from sigma); got {}",
                        kMaxWindow, w),
            {}, "window_size");
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_blur(ctx));
  return std::vector{with_dtype(in, ctx.dtype("dtype", in.dtype))};
}

Window gaussian_window(RecipeBuilder& b, const Expr& given_sigma, const Expr& given_window,
                       const std::string& name) {
  const Expr no_sigma = equal(given_sigma, f32(0)), no_window = equal(given_window, i64(0));
  b.check(given_sigma >= f32(0), "sigma must not be negative, got {}", {given_sigma}, {}, "sigma");
  b.check(logical_not(no_sigma & no_window), "sigma and window_size are both 0", {},
          "one of them must be positive");
  b.check((given_window >= i64(0)) & (given_window <= i64(kMaxWindow)) &
              (no_window | equal(given_window & i64(1), i64(1))),
          fmt::format("window_size must be odd, between 1 and {} (or 0: from sigma), got {{}}", kMaxWindow),
          {given_window}, {}, "window_size");
  b.check(given_sigma <= f32((kMaxWindow - 1) / 6.0), "sigma is too large: {}", {given_sigma}, {}, "sigma");
  const Expr from_sigma = i64(2) * ceil_to_i64(given_sigma * f32(3)) + i64(1);
  const Expr size = unrolled_size(given_window);
  const bool is_structure = kernel::is_const(size) && !kernel::is_const_int(size, 0);
  const Expr taps =
      is_structure && !kernel::is_user_constant(size) ? size : select(no_window, from_sigma, size);
  const Expr radius = taps / i64(2);
  const Expr from_window = (to_f32(radius) - f32(1)) * f32(0.3) + f32(0.8);
  const Expr sigma = select(no_sigma, from_window, given_sigma);
  return {gaussian_weights(b, name, sigma, taps), taps};
}

void define_gaussian(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) return define_compat_blur(b);
  const ir::Type& in = b.input_type(0);
  const auto axes = data_axes(in.layout, in.ndim);
  const int count = static_cast<int>(axes.size());
  const auto sigmas = list_arg(b, "sigma", count, DType::kF32);
  const auto windows = list_arg(b, "window_size", count, DType::kI64);
  StageRef result;
  if (in.dtype == DType::kF64)
    result =
        b.map("narrowed", DType::kF32, b.extents(0), [&](const Axes& at) { return to_f32(b.load(0, at)); });
  for (int a = count; a-- > 0;) {
    const auto n = static_cast<size_t>(a);
    const Window window = gaussian_window(b, sigmas[n], windows[n], fmt::format("window{}", a));
    result = a > 0 ? convolve(b, fmt::format("blur{}", a), result, axes[n], window)
                   : convolve(b, "gaussian_blur", result, axes[n], window, b.output_type(0).dtype);
  }
  b.output_stage(0, result);
}

}  // namespace

Operator make_gaussian_blur() {
  Operator op;
  op.name = "gaussian_blur";
  op.summary = "Blurs images with a Gaussian window.";
  op.documentation =
      "Separable weights exp(-i^2 / (2 sigma^2)), normalised to sum 1, along every axis but channels. "
      "Without window_size the window has 2 ceil(3 sigma) + 1 taps; without sigma it is "
      "((window_size - 1) / 2 - 1) * 0.3 + 0.8. Past the edge the image is mirrored without repeating the "
      "edge pixel. Sums in f32 (of FLOAT64 as well, as in DALI), rounded at the end only.";
  op.inputs = {{.name = "data",
                .documentation = "image of any layout with one to three axes besides the channels",
                .axes = "^F"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "sigma",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.0},
       .per_sample = true,
       .documentation =
           "Standard deviation in pixels, one or one per axis (outermost first); 0: from window_size."},
      {.name = "window_size",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{0},
       .per_sample = true,
       .documentation = "Odd number of taps, one or one per axis (outermost first); 0: from sigma."},
      dtype_arg("Element type of the output: the input's or FLOAT.")};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.gaussian_blur(image, sigma={})", {"1.0", "3.0", "8.0"});
  op.example = image_example("fn.gaussian_blur(image, sigma=fn.random.uniform(range=[0.5, 3.0])), label");
  op.presets = blur_presets();
  op.type_rule = gaussian_types;
  op.places = op::Places::kKept;
  op.define = define_gaussian;
  return op;
}

}  // namespace galatea::ops
