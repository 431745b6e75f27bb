// brightness, contrast, brightness_contrast: one multiply-add per element.
//
// Comes in: an image. Goes out: shift * range + brightness * (center + contrast * (in - center)), as in *
// factor + offset with both scalars per sample.
#include <cmath>

#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/compat/colour.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// The default centre of contrast: half the range of the input's type.
double default_center(DType type) {
  if (is_float(type)) return 0.5;
  const int bits = size_of(type) * 8;
  return std::ldexp(1.0, is_signed_int(type) ? bits - 2 : bits - 1);
}

double range_of(DType type) { return is_float(type) ? 1.0 : static_cast<double>(max_int(type)); }

void define(RecipeBuilder& b, bool has_brightness, bool has_contrast) {
  if (b.compat() != op::Compat::kDali) return define_compat_colour(b);
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  const auto factor_of = [&](const char* name) { return finite_factor(b, name); };
  const Expr brightness = has_brightness ? factor_of("brightness") : f32(1);
  const Expr shift = has_brightness ? factor_of("brightness_shift") : f32(0);
  const Expr contrast = has_contrast ? factor_of("contrast") : f32(1);
  const Expr center =
      has_contrast && b.given("contrast_center") ? factor_of("contrast_center") : f32(default_center(in));
  const Expr factor = brightness * contrast;
  const Expr offset = has_contrast ? shift * f32(range_of(out)) + brightness * (center - contrast * center)
                                   : shift * f32(range_of(out));
  pointwise(b, has_contrast ? "contrast" : "brightness", [&](const std::vector<Expr>& x) {
    return kernel::saturate(kernel::fma(kernel::convert(x[0], DType::kF32), factor, offset), out);
  });
}

Operator make(std::string name, bool has_brightness, bool has_contrast) {
  Operator op;
  op.name = std::move(name);
  op.documentation =
      "out = brightness_shift * range + brightness * (contrast_center + contrast * (in - contrast_center)), "
      "where range is the largest value of the output's integer type, or 1. "
      "Evaluated in f32 as one multiply-add, then rounded half to even and clamped. Factors may be negative.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC"},
                .dtypes = {DType::kU8, DType::kI16, DType::kI32, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  if (has_brightness)
    append(op.args, {{.name = "brightness",
                      .kind = ArgKind::kFloat,
                      .default_value = 1.0,
                      .per_sample = true,
                      .any_device = true,
                      .documentation = "Factor of the brightness."},
                     {.name = "brightness_shift",
                      .kind = ArgKind::kFloat,
                      .default_value = 0.0,
                      .per_sample = true,
                      .any_device = true,
                      .documentation = "Added brightness, as a fraction of the output type's range."}});
  if (has_contrast)
    append(op.args, {{.name = "contrast",
                      .kind = ArgKind::kFloat,
                      .default_value = 1.0,
                      .per_sample = true,
                      .any_device = true,
                      .documentation = "Factor of the distance from contrast_center."},
                     {.name = "contrast_center",
                      .kind = ArgKind::kFloat,
                      .per_sample = true,
                      .any_device = true,
                      .documentation = "The value that contrast leaves; if not given, half the range of the "
                                       "input's type (128 for UINT8, 0.5 for FLOAT)."}});
  op.args.push_back(
      dtype_arg("Element type of the output: UINT8, INT16, INT32 or FLOAT; the input's if not given."));
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.presets = colour_presets();
  op.type_rule = [](const TypeContext& ctx) -> Types {
    if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_colour(ctx));
    ir::Type out = ctx.input(0);
    out.layout = ctx.input_layout(0);
    out.dtype = ctx.dtype("dtype", out.dtype);
    if (out.dtype != DType::kU8 && out.dtype != DType::kI16 && out.dtype != DType::kI32 &&
        out.dtype != DType::kF32)
      return ctx.error(fmt::format("{}: dtype {} is not UINT8, INT16, INT32 or FLOAT", ctx.op().name,
                                   types_name(out.dtype)),
                       "convert the result with fn.cast", "dtype");
    return std::vector{out};
  };
  op.places = op::Places::kKept;
  op.define = [has_brightness, has_contrast](RecipeBuilder& b) { define(b, has_brightness, has_contrast); };
  return op;
}

}  // namespace

Operator make_brightness() {
  Operator op = make("brightness", true, false);
  op.summary = "Scales and shifts the brightness of images.";
  op.effect = effect("fn.brightness(image, brightness={})", {"1.2", "1.5", "2.0"});
  op.example = image_example("fn.brightness(image, brightness=fn.random.uniform(range=[0.5, 1.5])), label");
  return op;
}

Operator make_contrast() {
  Operator op = make("contrast", false, true);
  op.summary = "Scales the contrast of images about a centre.";
  op.effect = effect("fn.contrast(image, contrast={})", {"1.3", "2.0", "3.0"});
  op.example = image_example("fn.contrast(image, contrast=1.5), label");
  return op;
}

Operator make_brightness_contrast() {
  Operator op = make("brightness_contrast", true, true);
  op.summary = "Scales brightness and contrast of images in one step.";
  op.effect = effect(
      "fn.brightness_contrast(image, {})",
      {"brightness=0.9, contrast=1.2", "brightness=0.7, contrast=1.5", "brightness=0.5, contrast=2.0"});
  op.example = image_example("fn.brightness_contrast(image, brightness=0.8, contrast=1.5), label");
  return op;
}

}  // namespace galatea::ops
