// hue, saturation, hsv, color_twist: one affine colour transform per sample.
//
// Comes in: an RGB image. Goes out: B C (Q Hue Sat V P in) + B (center - center C), as a 3x4 matrix computed
// per sample and applied by explicit fma.
//
// P turns RGB into YIQ (coefficients to three decimals, as the NTSC definition prints them); Q is the
// numerical inverse of P, so that neutral parameters give the input back exactly (up to rounding in f32).
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/compat/colour.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;
constexpr Matrix kRgbToYiq = {{{.299, .587, .114}, {.596, -.274, -.321}, {.211, -.523, .311}}};

/// Inverse by cofactors.
Matrix invert(const Matrix& m) {
  auto cofactor = [&](size_t r, size_t c) {
    const size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
    return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
  };
  const double determinant = m[0][0] * cofactor(0, 0) + m[0][1] * cofactor(0, 1) + m[0][2] * cofactor(0, 2);
  Matrix out{};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 3; ++c) out[c][r] = cofactor(r, c) / determinant;
  return out;
}

struct Parameters {
  Expr hue, saturation, value, brightness, contrast;  // f64; empty where the operator lacks it
};

/// The 3x3 matrix, row-major, as f32 scalars of the sample program.
std::array<std::array<Expr, 3>, 3> transform(const Parameters& p) {
  static const Matrix yiq_to_rgb = invert(kRgbToYiq);
  const Expr angle = p.hue * f64(std::numbers::pi / 180);
  const Expr turn_cos = kernel::unary(ScalarOp::kCos, angle) * p.saturation,
             turn_sin = kernel::unary(ScalarOp::kSin, angle) * p.saturation;
  const Expr gain = p.brightness * p.contrast * p.value;
  std::array<std::array<Expr, 3>, 3> m;
  for (size_t c = 0; c < 3; ++c) {
    // Column c of P after saturation and the rotation of the I, Q plane.
    const double y = kRgbToYiq[0][c], i = kRgbToYiq[1][c], q = kRgbToYiq[2][c];
    const Expr i_turned = turn_cos * f64(i) + turn_sin * f64(q),
               q_turned = turn_cos * f64(q) - turn_sin * f64(i);
    for (size_t r = 0; r < 3; ++r) {
      const Expr sum =
          f64(yiq_to_rgb[r][0] * y) + f64(yiq_to_rgb[r][1]) * i_turned + f64(yiq_to_rgb[r][2]) * q_turned;
      m[r][c] = to_f32(sum * gain);
    }
  }
  return m;
}

void define_color(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) return define_compat_colour(b);
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  auto parameter = [&](const char* name, double neutral) {
    const bool exists = b.node().op->find_arg(name) != nullptr;
    return exists ? to_f64(finite_arg(b, name)) : f64(neutral);
  };
  const Parameters p{parameter("hue", 0), parameter("saturation", 1), parameter("value", 1),
                     parameter("brightness", 1), parameter("contrast", 1)};
  std::vector<Expr> extents = b.extents(0);
  b.check(equal(extents.back(), i64(3)), "a colour operator needs 3 channels, the image has {}",
          {extents.back()}, "decode with output_type=types.RGB");
  extents.back() = i64(3);
  const auto m = transform(p);
  const Expr center = f64(is_float(in) ? 0.5 : 128);
  const Expr offset = to_f32(p.brightness * (center - center * p.contrast));
  const StageRef stage = b.map("color", out, extents, [&](const Axes& at) {
    Expr sum = offset;
    for (size_t c = 0; c < 3; ++c) {
      Axes from = at;
      from.back() = i64(static_cast<int64_t>(c));
      const Expr channel = kernel::convert(b.load(0, std::move(from)), DType::kF32);
      sum = kernel::fma(choose(at.back(), {m[0][c], m[1][c], m[2][c]}), channel, sum);
    }
    return kernel::saturate(sum, out);
  });
  b.output_stage(0, stage);
}

ArgSpec parameter_arg(const char* name) {
  const std::string_view which = name;
  if (which == "hue")
    return {.name = "hue",
            .kind = ArgKind::kFloat,
            .default_value = 0.0,
            .per_sample = true,
            .documentation = "Rotation of the hue, in degrees."};
  const char* text = which == "saturation"   ? "Factor of the saturation; 0 gives grey."
                     : which == "value"      ? "Factor of the value (all components)."
                     : which == "brightness" ? "Factor of the brightness."
                                             : "Factor of the contrast about half the range.";
  return {
      .name = name, .kind = ArgKind::kFloat, .default_value = 1.0, .per_sample = true, .documentation = text};
}

Operator make(std::string name, std::initializer_list<const char*> parameters,
              std::optional<DType> default_dtype) {
  Operator op;
  op.name = std::move(name);
  op.documentation =
      "out = B C (Q Hue(h) Sat(s) V P in) + B (center - center C), where P turns RGB into YIQ, Q is its "
      "inverse, Hue rotates the I, Q plane by h degrees, Sat scales it by s, V, B and C are value, "
      "brightness and contrast; center is 128 for integers, 0.5 for floats. One matrix per sample, applied "
      "in f32; rounded half to even and clamped at the end only.";
  op.inputs = {{.name = "data",
                .documentation = "RGB image",
                .layouts = {"HWC"},
                .dtypes = {DType::kU8, DType::kI16, DType::kI32, DType::kF32, DType::kF16}}};
  op.min_inputs = op.max_inputs = 1;
  for (const char* parameter : parameters) op.args.push_back(parameter_arg(parameter));
  op.args.push_back(dtype_arg(default_dtype ? "Element type of the output; UINT8 if not given."
                                            : "Element type of the output; the input's if not given."));
  if (op.name != "hsv")
    op.args.push_back(ignored("image_type", ArgKind::kImageType, int64_t{0}, "Only RGB has a meaning."));
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  if (op.name == "hsv")
    op.no_preset = "its hue, saturation and value are DALI's own; fn.color_twist has presets";
  else
    op.presets = colour_presets();
  op.type_rule = [default_dtype](const TypeContext& ctx) -> Types {
    if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_colour(ctx));
    ir::Type out = ctx.input(0);
    out.layout = ctx.input_layout(0);
    out.dtype = ctx.dtype("dtype", default_dtype.value_or(out.dtype));
    if (out.extents.back() >= 0 && out.extents.back() != 3)
      return ctx.error(fmt::format("{}: the image needs 3 channels (RGB), but is {}", ctx.op().name,
                                   describe(ctx.input(0))),
                       "decode with output_type=types.RGB");
    out.extents.back() = 3;
    const DType d = out.dtype;
    if (d != DType::kU8 && d != DType::kI16 && d != DType::kI32 && d != DType::kF32 && d != DType::kF16)
      return ctx.error(fmt::format("{}: dtype {} is not UINT8, INT16, INT32, FLOAT or FLOAT16", ctx.op().name,
                                   types_name(d)),
                       "convert the result with fn.cast", "dtype");
    return std::vector{out};
  };
  op.places = op::Places::kKept;
  op.define = define_color;
  return op;
}

}  // namespace

Operator make_hue() {
  Operator op = make("hue", {"hue"}, std::nullopt);
  op.summary = "Rotates the hue of images.";
  op.effect = effect("fn.hue(image, hue={})", {"30.0", "90.0", "180.0"});
  op.example = image_example("fn.hue(image, hue=45), label");
  return op;
}

Operator make_saturation() {
  Operator op = make("saturation", {"saturation"}, std::nullopt);
  op.summary = "Scales the saturation of images.";
  op.effect = effect("fn.saturation(image, saturation={})", {"0.6", "0.0", "2.0"});
  op.example = image_example("fn.saturation(image, saturation=fn.random.uniform(range=[0.5, 1.5])), label");
  return op;
}

Operator make_hsv() {
  Operator op = make("hsv", {"hue", "saturation", "value"}, DType::kU8);
  op.summary = "Changes hue, saturation and value of images.";
  op.effect = effect("fn.hsv(image, {})", {"hue=15.0, saturation=0.9", "hue=45.0, saturation=0.7, value=1.2",
                                           "hue=120.0, saturation=1.5, value=0.8"});
  op.example = image_example("fn.hsv(image, hue=20, saturation=0.8, value=1.1), label");
  return op;
}

Operator make_color_twist() {
  Operator op = make("color_twist", {"hue", "saturation", "contrast", "brightness"}, std::nullopt);
  op.summary = "Changes hue, saturation, contrast and brightness of images.";
  op.effect =
      effect("fn.color_twist(image, {})", {"hue=10.0, contrast=1.1", "hue=30.0, contrast=1.4, saturation=0.7",
                                           "hue=90.0, contrast=1.8, saturation=1.5, brightness=0.8"});
  op.example =
      image_example("fn.color_twist(image, hue=20, saturation=0.8, contrast=1.2, brightness=0.9), label");
  return op;
}

}  // namespace galatea::ops
