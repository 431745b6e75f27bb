// See blur.h. Sources of the formulas: Pillow's BoxBlur.c; torchvision's transforms/v2/functional/_misc.py; OpenCV's
// smooth.dispatch.cpp and getGaussianKernelBitExact; recorded outputs confirm them (tests/oracle, group blur).
//
// Pillow: three box filters along columns, then three along rows, bytes after each, whose ends count in part.
// OpenCV: weights of 8 bits that sum to 256 exactly, whose rounding errors move on from tap to tap.
// torchvision: f32 weights, rounded to bytes at the end.
#include "stdlib_ops/compat/blur.h"

#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/compat/checks.h"

namespace galatea::ops {
namespace {

constexpr int kBoxes = 3;
constexpr int64_t kBoxBits = 24;
constexpr double kLargestSigma = 1000;
constexpr int64_t kLargestWindow = 8191;

/// Weights [taps] about the middle one, and what is past the edge.
struct BlurBand {
  StageRef weights;
  Expr taps;
  Border border = Border::kReflect101;
};

/// `source` (input 0 where its index < 0) filtered along `axis`.
StageRef blur_along(RecipeBuilder& b, const std::string& name, StageRef source, int axis,
                    const BlurBand& band, DType type, DType accumulator,
                    const std::function<Expr(Expr)>& finish) {
  const auto a = static_cast<size_t>(axis);
  const Expr radius = band.taps / i64(2);
  return b.band({.name = name,
                 .type = type,
                 .extents = b.extents(0),
                 .axis = axis,
                 .accumulator = accumulator,
                 .taps = band.taps,
                 .first = [&](const Expr& i) { return i - radius; },
                 .weight = [&](const Expr&, const Expr& k) { return b.load(band.weights, {k}); },
                 .source =
                     [&](const Axes& at, const Expr& index) {
                       Axes from = at;
                       from[a] = index;
                       return source.index < 0 ? b.load(0, from, band.border)
                                               : b.load(source, from, band.border);
                     },
                 .finish = finish});
}

Expr square_root(const Expr& e) { return kernel::unary(ScalarOp::kSqrt, e); }

// ---- Pillow

/// The box whose threefold use has the variance: whole taps on each side, and a part of the next (f32).
Expr box_radius(const Expr& sigma) {
  const Expr variance = sigma * sigma / f32(kBoxes);
  const Expr length = to_f32(square_root(f64(12) * to_f64(variance) + f64(1)));
  const Expr l = to_f32(whole_below((to_f64(length) - f64(1)) / f64(2)));
  const Expr a = (f32(2) * l + f32(1)) * (l * (l + f32(1)) - f32(3) * variance);
  return l + a / (f32(6) * (variance - (l + f32(1)) * (l + f32(1))));
}

BlurBand box(RecipeBuilder& b, const std::string& name, const Expr& sigma) {
  const Expr radius = box_radius(sigma), whole = to_i64(radius);
  const Expr full = to_i64(f32(static_cast<double>(1 << kBoxBits)) / (radius * f32(2) + f32(1)));
  const Expr part = (i64(1 << kBoxBits) - (whole * i64(2) + i64(1)) * full) / i64(2);
  BlurBand band{.weights = {}, .taps = whole * i64(2) + i64(3), .border = Border::kClamp};
  band.weights = b.map(name, DType::kI32, {band.taps}, [&](const Axes& at) {
    const Expr end = equal(at[0], i64(0)) | equal(at[0], whole * i64(2) + i64(2));
    return to_i32(select(end, part, full));
  });
  return band;
}

StageRef pillow_blur(RecipeBuilder& b, const std::vector<int>& axes, const std::vector<Expr>& sigmas) {
  // Sums reach 2^32: they wrap in i32, and are read as what they are.
  const auto finish = [](const Expr& sum) {
    const Expr bits = kernel::convert(sum, DType::kU32) + kernel::const_int(1 << (kBoxBits - 1), DType::kU32);
    return kernel::convert(shift_right(bits, kBoxBits), DType::kU8);
  };
  StageRef result;
  for (size_t a = axes.size(); a-- > 0;) {
    const BlurBand band = box(b, fmt::format("box{}", a), sigmas[a]);
    for (int pass = 0; pass < kBoxes; ++pass)
      result = blur_along(b, fmt::format("blur{}_{}", a, pass), result, axes[a], band, DType::kU8,
                          DType::kI32, finish);
  }
  return result;
}

// ---- OpenCV

/// The kernels of one to nine taps that OpenCV has for sigma 0, in 256ths, from the middle outwards.
Expr small_weight(const Expr& radius, const Expr& distance) {
  const auto row = [&](std::initializer_list<double> weights) {
    std::vector<Expr> list;
    for (const double w : weights) list.push_back(f64(w / 256));
    return choose(distance, list);
  };
  return choose(radius, {row({256}), row({128, 64}), row({96, 64, 16}), row({72, 56, 28, 8}),
                         row({60, 51, 30, 13, 4})});
}

BlurBand opencv_window(RecipeBuilder& b, const std::string& name, const Expr& given_sigma,
                       const Expr& given_window) {
  const Expr no_sigma = given_sigma <= f32(0), no_window = equal(given_window, i64(0));
  const Expr from_sigma = to_i64(nearest_even(to_f64(given_sigma) * f64(3) * f64(2) + f64(1))) | i64(1);
  BlurBand band;
  band.taps = select(no_window, from_sigma, given_window);
  const Expr radius = band.taps / i64(2);
  const Expr from_window = f64(0.3) * ((to_f64(band.taps) - f64(1)) * f64(0.5) - f64(1)) + f64(0.8);
  const Expr sigma = select(no_sigma, from_window, to_f64(given_sigma));
  const Expr exponent = f64(-0.5) / (sigma * sigma);
  const StageRef raw = b.map(name + "_raw", DType::kF64, {band.taps}, [&](const Axes& at) {
    const Expr distance = to_f64(at[0] - radius);
    return kernel::unary(ScalarOp::kExp, distance * distance * exponent);
  });
  const StageRef sum =
      b.reduce({.name = name + "_sum",
                .type = DType::kF64,
                .extents = {i64(1)},
                .reduce_extents = {band.taps},
                .accumulator = DType::kF64,
                .body = [&](const Axes&, const Axes& over) { return b.load(raw, {over[0]}); }});
  // An error that moves on to the next tap is the rounding of sums.
  const StageRef sums = b.scan({.name = name + "_sums",
                                .type = DType::kF64,
                                .extents = {band.taps},
                                .accumulator = DType::kF64,
                                .body = [&](const Axes& at) {
                                  const Expr small = small_weight(radius, absolute(at[0] - radius));
                                  const Expr own = b.load(raw, {at[0]}) / b.load(sum, {i64(0)});
                                  return f64(256) * select(no_sigma & (radius <= i64(4)), small, own);
                                }});
  band.weights = b.map(name + "_weights", DType::kI32, {band.taps}, [&](const Axes& at) {
    const Expr outer = kernel::min(at[0], band.taps - i64(1) - at[0]);
    const auto whole = [&](const Expr& i) {
      const Expr sum_there = b.load(sums, {max(i, i64(0))});
      return select(i < i64(0), i64(0), to_i64(nearest_even(sum_there)));
    };
    const Expr middle = i64(256) - i64(2) * whole(radius - i64(1));
    return to_i32(select(equal(outer, radius), middle, whole(outer) - whole(outer - i64(1))));
  });
  return band;
}

StageRef opencv_blur(RecipeBuilder& b, const std::vector<int>& axes, const std::vector<Expr>& sigmas,
                     const std::vector<Expr>& windows) {
  StageRef result;
  for (size_t a = axes.size(); a-- > 0;) {
    const BlurBand band = opencv_window(b, fmt::format("window{}", a), sigmas[a], windows[a]);
    if (a > 0) {
      result = blur_along(b, "blur1", result, axes[a], band, DType::kI32, DType::kI32, {});
      continue;
    }
    result = blur_along(
        b, "gaussian_blur", result, axes[a], band, DType::kU8, DType::kI32,
        [](const Expr& sum) { return kernel::saturate(shift_right(sum + i32(1 << 15), 16), DType::kU8); });
  }
  return result;
}

// ---- torchvision

BlurBand torchvision_window(RecipeBuilder& b, const std::string& name, const Expr& given_sigma,
                            const Expr& window) {
  const Expr from_window = to_f32(to_f64(window) * f64(0.15) + f64(0.35));
  const Expr sigma = select(equal(given_sigma, f32(0)), from_window, given_sigma);
  BlurBand band{.weights = {}, .taps = window};
  const Expr radius = window / i64(2);
  const StageRef raw = b.map(name + "_raw", DType::kF32, {window}, [&](const Axes& at) {
    const Expr x = to_f64(at[0] - radius) / (square_root(f64(2)) * to_f64(sigma));
    return to_f32(kernel::unary(ScalarOp::kExp, -(x * x)));
  });
  const StageRef sum =
      b.reduce({.name = name + "_sum",
                .type = DType::kF64,
                .extents = {i64(1)},
                .reduce_extents = {window},
                .accumulator = DType::kF64,
                .body = [&](const Axes&, const Axes& over) { return to_f64(b.load(raw, {over[0]})); }});
  band.weights = b.map(name + "_weights", DType::kF32, {window}, [&](const Axes& at) {
    return to_f32(to_f64(b.load(raw, {at[0]})) / b.load(sum, {i64(0)}));
  });
  return band;
}

StageRef torchvision_blur(RecipeBuilder& b, const std::vector<int>& axes, const std::vector<Expr>& sigmas,
                          const std::vector<Expr>& windows) {
  StageRef result;
  for (size_t a = axes.size(); a-- > 0;) {
    const BlurBand band = torchvision_window(b, fmt::format("window{}", a), sigmas[a], windows[a]);
    const Expr extent = b.extent(0, axes[a]);
    b.check(windows[a] / i64(2) < extent,
            "a window of {} taps is mirrored at the edge of {} pixels only once, as torchvision pads",
            {windows[a], extent}, {}, "window_size");
    const DType type = a > 0 ? DType::kF32 : DType::kU8;
    result = blur_along(b, a > 0 ? "blur1" : "gaussian_blur", result, axes[a], band, type, DType::kF32,
                        [&](const Expr& sum) { return kernel::saturate(sum, type); });
  }
  return result;
}

}  // namespace

Status check_compat_blur(const TypeContext& ctx) {
  GALATEA_TRY(check_bytes(ctx));
  const ir::Type& in = ctx.input(0);
  if (data_axes(in.layout, in.ndim).size() != 2)
    return preset_error(ctx, " takes images, HWC, CHW or HW", "");
  if (ctx.compat() == Compat::kPil) {
    GALATEA_TRY(check_without(ctx, {{"window_size", "sigma says how wide the boxes are"}}));
  } else if (ctx.compat() == Compat::kTorchvision && !ctx.given("window_size")) {
    return preset_error(ctx, " needs window_size, torchvision's kernel_size", "give window_size", "sigma");
  }
  return {};
}

void define_compat_blur(RecipeBuilder& b) {
  const ir::Type& in = b.input_type(0);
  const std::vector<int> axes = data_axes(in.layout, in.ndim);
  const auto sigmas = list_arg(b, "sigma", 2, DType::kF32);
  const auto windows = list_arg(b, "window_size", 2, DType::kI64);
  const bool pil = b.compat() == Compat::kPil;
  for (size_t a = 0; a < 2; ++a) {
    b.check((sigmas[a] >= f32(0)) & (sigmas[a] <= f32(kLargestSigma)),
            fmt::format("sigma is {{}}; it is between 0 and {}", kLargestSigma), {sigmas[a]}, {}, "sigma");
    if (pil) continue;
    const Expr no_window = equal(windows[a], i64(0));
    b.check(
        (no_window & (sigmas[a] > f32(0))) | ((windows[a] >= i64(1)) & (windows[a] <= i64(kLargestWindow)) &
                                              equal(windows[a] & i64(1), i64(1))),
        fmt::format("window_size must be odd, between 1 and {}, got {{}}", kLargestWindow), {windows[a]}, {},
        "window_size");
    if (b.compat() == Compat::kTorchvision)
      b.check(logical_not(no_window),
              "window_size is 0; torchvision's kernel_size says how many taps there are", {}, {},
              "window_size");
  }
  b.output_stage(0, pil                                  ? pillow_blur(b, axes, sigmas)
                    : b.compat() == Compat::kTorchvision ? torchvision_blur(b, axes, sigmas, windows)
                                                         : opencv_blur(b, axes, sigmas, windows));
}

std::vector<op::Preset> blur_presets() {
  return {{.peer = Compat::kPil,
           .differs =
               "ImageFilter.GaussianBlur: three boxes along each axis, bytes after each, the edge repeated"},
          {.peer = Compat::kTorchvision,
           .differs = "gaussian_blur of a u8 tensor: without sigma it is 0.15 window_size + 0.35"},
          {.peer = Compat::kOpenCv,
           .differs =
               "cv2.GaussianBlur: weights of 8 bits; without window_size it has round(6 sigma + 1) taps or "
               "one more, without sigma small windows have weights of their own"}};
}

}  // namespace galatea::ops
