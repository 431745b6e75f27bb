// laplacian: the sum of scaled second derivatives along the data axes, each a separable window.
//
// Comes in: an image of any layout. Goes out: per axis a derivative band and a smoothing band along the other
// axis, then their scaled sum.
//
//   smoothing of size s:  binomial row C(s - 1, k)
//   derivative of size d: binomial row of size d - 2, convolved with [1, -2, 1]
#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxLaplacianWindow = 31;

Types laplacian_types(const TypeContext& ctx) {
  GALATEA_TRY(check_filter_input(ctx));
  const ir::Type& in = ctx.input(0);
  const int axes = static_cast<int>(data_axes(in.layout, in.ndim).size());
  for (const char* name : {"window_size", "smoothing_size", "scale"})
    GALATEA_TRY(check_length(ctx, name, axes));
  auto check_sizes = [&](const char* name, int64_t least) -> Status {
    if (!given_static(ctx, name)) return {};
    for (int64_t w : ctx.integers(name))
      if (w < least || w > kMaxLaplacianWindow || w % 2 == 0)
        return ctx.error(fmt::format("laplacian: {} must be odd, between {} and {}; got {}", name, least,
                                     kMaxLaplacianWindow, w),
                         {}, name);
    return {};
  };
  GALATEA_TRY(check_sizes("window_size", 3));
  GALATEA_TRY(check_sizes("smoothing_size", 1));
  if (ctx.given("scale") && ctx.flag("normalized_kernel"))
    return ctx.error("laplacian: scale and normalized_kernel exclude each other", "leave one of them out",
                     "scale");
  return std::vector{with_dtype(in, ctx.dtype("dtype", in.dtype))};
}

/// C(n, k) for -2 <= k <= n + 2 and n <= 30, 0 outside the row: a product of at most 15 factors, exact in f64
/// after rounding.
Expr binomial(const Expr& n, const Expr& k) {
  const Expr steps = kernel::min(k, n - k);
  Expr product = f64(1);
  for (int64_t j = 1; j <= (kMaxLaplacianWindow - 1) / 2; ++j) {
    const Expr factor = to_f64(n - i64(j - 1)) / f64(static_cast<double>(j));
    product = product * select(i64(j) <= steps, factor, f64(1));
  }
  return select(steps >= i64(0), kernel::unary(ScalarOp::kRound, product), f64(0));
}

Window smoothing_window(RecipeBuilder& b, const Expr& size, const std::string& name) {
  return {b.map(name, DType::kF32, {size},
                [&](const Axes& at) { return to_f32(binomial(size - i64(1), at[0])); }),
          size};
}

Window derivative_window(RecipeBuilder& b, const Expr& size, const std::string& name) {
  const Expr row = size - i64(3);
  return {b.map(name, DType::kF32, {size},
                [&](const Axes& at) {
                  const Expr k = at[0];
                  return to_f32(binomial(row, k) - f64(2) * binomial(row, k - i64(1)) +
                                binomial(row, k - i64(2)));
                }),
          size};
}

void check_size(RecipeBuilder& b, const Expr& size, int64_t least, const char* name) {
  b.check((size >= i64(least)) & (size <= i64(kMaxLaplacianWindow)) & equal(size & i64(1), i64(1)),
          fmt::format("{} must be odd, between {} and {}, got {{}}", name, least, kMaxLaplacianWindow),
          {size}, {}, name);
}

/// 2^e for a small integer e.
Expr power_of_two(const Expr& e) {
  const Expr bits = (e + i64(1023)) * i64(int64_t{1} << 52);
  return to_f32(kernel::make_op(ScalarOp::kBitcast, DType::kF64, {bits}));
}

void define_laplacian(RecipeBuilder& b) {
  const ir::Type& in = b.input_type(0);
  const auto axes = data_axes(in.layout, in.ndim);
  const int count = static_cast<int>(axes.size());
  auto sizes = list_arg(b, "window_size", count, DType::kI64);
  for (Expr& size : sizes) size = unrolled_size(size);
  const bool own_smoothing = b.given("smoothing_size");
  auto smooth = own_smoothing ? list_arg(b, "smoothing_size", count, DType::kI64) : sizes;
  for (Expr& size : smooth) size = unrolled_size(size);
  std::vector<Expr> scales = list_arg(b, "scale", count, DType::kF32);
  check_finite(b, "scale", scales);
  std::vector<Window> derivative, smoothing;
  for (size_t a = 0; a < axes.size(); ++a) {
    check_size(b, sizes[a], 3, "window_size");
    if (own_smoothing) check_size(b, smooth[a], 1, "smoothing_size");
    derivative.push_back(derivative_window(b, sizes[a], fmt::format("derivative{}", a)));
    if (count > 1) smoothing.push_back(smoothing_window(b, smooth[a], fmt::format("smoothing{}", a)));
  }
  std::vector<StageRef> partials;
  for (size_t p = 0; p < axes.size(); ++p) {
    Expr taps = i64(0);
    StageRef stage;
    for (size_t a = axes.size(); a-- > 0;) {
      // A given smoothing size belongs to the axis that is smoothed; else the derivative's own size smooths
      // the other axes.
      const Window& window = a == p ? derivative[a] : smoothing[own_smoothing ? a : p];
      stage = convolve(b, fmt::format("partial{}_{}", p, a), stage, axes[a], window);
      taps = taps + window.taps;
    }
    if (b.flag("normalized_kernel")) scales[p] = power_of_two(i64(count + 2) - taps);
    partials.push_back(stage);
  }
  const DType out = b.output_type(0).dtype;
  b.output_stage(0, b.map("laplacian", out, b.extents(0), [&](const Axes& at) {
    Expr sum = b.load(partials[0], at) * scales[0];
    for (size_t p = 1; p < partials.size(); ++p) sum = kernel::fma(b.load(partials[p], at), scales[p], sum);
    return kernel::saturate(sum, out);
  }));
}

}  // namespace

Operator make_laplacian() {
  Operator op;
  op.name = "laplacian";
  op.summary = "The Laplacian of images: where brightness bends.";
  op.documentation =
      "Sum over the axes (but the channels) of scale * second derivative, each with a derivative window "
      "along its own axis (a binomial row of size window_size - 2 convolved with [1, -2, 1]) and "
      "binomial smoothing windows along the others. normalized_kernel multiplies each term by 2^(n + 2 - s), "
      "n axes, s the sum of its window sizes. Past the edge the image is mirrored without "
      "repeating the edge pixel. Sums in f32, rounded at the end only.";
  op.inputs = {{.name = "data",
                .documentation = "image of any layout with one to three axes besides the channels",
                .axes = "^F"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "window_size",
              .kind = ArgKind::kIntList,
              .default_value = std::vector<int64_t>{3},
              .per_sample = true,
              .documentation = "Odd size of the derivative window, 3 to 31, one or one per axis."},
             {.name = "smoothing_size",
              .kind = ArgKind::kIntList,
              .per_sample = true,
              .documentation = "Odd size of the smoothing windows, 1 to 31, one or one per axis; the size of "
                               "the derivative's window if not given."},
             {.name = "scale",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{1.0},
              .per_sample = true,
              .documentation = "Factor of each axis's derivative, one or one per axis."},
             {.name = "normalized_kernel",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether each derivative is scaled so that its window is normalised."},
             dtype_arg("Element type of the output: the input's or FLOAT.")};
  op.devices = {"cpu", "gpu"};
  op.presets = {{.peer = op::Compat::kOpenCv,
                 .differs = {},
                 .refused = "cv2.Laplacian's windows are others; fn.filter with its window gives them"}};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect =
      effect("fn.laplacian(image, window_size=3, scale={}, dtype=types.UINT8)", {"0.25", "0.5", "1.5"});
  op.example = image_example("fn.laplacian(image, window_size=5, dtype=types.FLOAT), label");
  op.type_rule = laplacian_types;
  op.places = op::Places::kKept;
  op.define = define_laplacian;
  return op;
}

}  // namespace galatea::ops
