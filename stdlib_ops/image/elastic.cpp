// galatea.elastic: moves pixels by smooth random fields.
//
// Comes in: an image. Goes out: an image of the same extents, each pixel looked up a little beside its place.
#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/common/pixels.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr double kMostSigma = 1000;
constexpr double kMostAlpha = 1e6;

Status check_numbers_within(const TypeContext& ctx, const char* name, double low, double high) {
  GALATEA_TRY(check_length(ctx, name, 2));
  if (!given_static(ctx, name)) return {};
  for (const double value : ctx.numbers(name))
    if (!(value >= low && value <= high))
      return ctx.error(fmt::format("galatea.elastic: {} is {}", name, value),
                       fmt::format("use numbers from {} to {}", low, high), name);
  return {};
}

Types elastic_types(const TypeContext& ctx) {
  GALATEA_TRY(check_numbers_within(ctx, "alpha", -kMostAlpha, kMostAlpha));
  GALATEA_TRY(check_numbers_within(ctx, "sigma", 0, kMostSigma));
  GALATEA_TRY(check_lookup_filter(ctx, "interp_type", {Filter::kNearest, Filter::kLinear, Filter::kCubic}));
  GALATEA_TRY(check_fill_value(ctx));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  return std::vector{out};
}

/// f32 [rows, columns]: numbers uniform in [-1, 1), smoothed. Those of field k are the elements 2 i + k.
StageRef smooth_field(RecipeBuilder& b, int64_t k, const Axes& extents, const std::vector<Expr>& sigma) {
  const std::string name = k == 0 ? "x" : "y";
  const StageRef noise = b.map(name + "_noise", DType::kF32, extents, [&](const Axes& at) {
    const Expr element = (at[0] * extents[1] + at[1]) * i64(2) + i64(k);
    return b.random_unit(element) * f32(2) - f32(1);
  });
  // The windows of a field are as wide as its own sigma asks for, along both axes.
  const Expr taps = to_i64(sigma[static_cast<size_t>(k)] * f32(8) + f32(1)) | i64(1);
  const Expr radius = taps / i64(2);
  StageRef field = noise;
  for (const int axis : {1, 0}) {
    const std::string along = name + (axis == 1 ? "_across" : "_down");
    const StageRef weights = gaussian_weights(b, along, sigma[axis == 1 ? 0 : 1], taps);
    const StageRef source = field;
    field = b.band({.name = along,
                    .type = DType::kF32,
                    .extents = extents,
                    .axis = axis,
                    .accumulator = DType::kF32,
                    .taps = taps,
                    .first = [&](const Expr& i) { return i - radius; },
                    .weight = [&](const Expr&, const Expr& tap) { return b.load(weights, {tap}); },
                    .source =
                        [&](const Axes& at, const Expr& index) {
                          Axes from = at;
                          from[static_cast<size_t>(axis)] = index;
                          return b.load(source, from, Border::kReflect101);
                        },
                    .finish = [](const Expr& acc) { return acc; }});
  }
  return field;
}

void define_elastic(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w);
  const Expr height = b.extent(0, at.h), width = b.extent(0, at.w);
  const std::vector<Expr> alpha = list_arg(b, "alpha", 2, DType::kF32);
  const std::vector<Expr> sigma = list_arg(b, "sigma", 2, DType::kF32);
  for (const Expr& a : alpha)
    b.check(absolute(a) <= f32(kMostAlpha), "alpha is {}", {a},
            fmt::format("use numbers from {} to {}", -kMostAlpha, kMostAlpha), "alpha");
  for (const Expr& s : sigma)
    b.check((s >= f32(0)) & (s <= f32(kMostSigma)), "sigma is {}", {s},
            fmt::format("use numbers from 0 to {}", kMostSigma), "sigma");
  const Axes extents = {height, width};
  const StageRef fields[] = {smooth_field(b, 0, extents, sigma), smooth_field(b, 1, extents, sigma)};
  const Expr rows = to_f32(max(height, i64(1))), columns = to_f32(max(width, i64(1)));
  const Expr reach[] = {alpha[0] * f32(0.5) * columns / rows, alpha[1] * f32(0.5) * rows / columns};
  const Lookup lookup{.b = b,
                      .at = at,
                      .filter = static_cast<Filter>(b.integer("interp_type")),
                      .outside = Outside::kFill,
                      .fill = fill_or_zero(b, at)};
  b.output_stage(0, b.map("elastic", b.output_type(0).dtype, b.extents(0), [&](const Axes& index) {
    const auto place = [&](size_t k, size_t dim) {
      const Expr own = to_f32(kernel::convert(index[dim], DType::kI32));
      return kernel::fma(b.load(fields[k], {index[h], index[w]}), reach[k], own);
    };
    return lookup(index, place(0, w), place(1, h));
  }));
}

}  // namespace

Operator make_galatea_elastic() {
  Operator op;
  op.name = "galatea.elastic";
  op.summary = "Moves pixels by smooth random fields.";
  op.documentation =
      "Output pixel (x, y) shows the image at (x + alpha_x / 2 * W / H * u, y + alpha_y / 2 * H / W * v), "
      "where u and v are fields of numbers uniform in [-1, 1), one for each pixel, smoothed by Gaussian "
      "windows of 2 trunc(4 sigma + 1/2) + 1 taps that mirror at the edges: what torchvision's "
      "ElasticTransform computes (of Simard, Steinkraus and Platt, \"Best practices for convolutional neural "
      "networks applied to visual document analysis\", 2003). Smoothing makes fields small: of sigma 5, "
      "alpha 50 moves pixels by some 0.8 on average. Albumentations' ElasticTransform moves pixels by alpha, not "
      "alpha / 2. Channels move together. Computed in f32; values round half to even.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "alpha",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{50.0},
              .per_sample = true,
              .documentation = "How far pixels move: (x, y) or one number, as in the formula."},
             {.name = "sigma",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{5.0},
              .per_sample = true,
              .documentation = "How smooth the fields are, in pixels: (x, y) or one number; 0: not at all."},
             {.name = "fill_value",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{0.0},
              .documentation = "What stands outside the image, converted to its type: one value, or one per "
                               "channel; torchvision's `fill`."},
             {.name = "interp_type",
              .kind = ArgKind::kInterp,
              .default_value = static_cast<int64_t>(Filter::kLinear),
              .documentation = "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC; torchvision's `interpolation`."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.galatea.elastic(image, alpha=120.0, sigma=4.0, fill_value=128), label");
  op.type_rule = elastic_types;
  op.define = define_elastic;
  return op;
}

}  // namespace galatea::ops
