// noise.gaussian: adds normally distributed noise.
//
// Comes in: data of any layout. Goes out: each element plus a draw of its own (elements 2n and 2n + 1 of the
// node's stream).
#include <numbers>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

void define_noise_gaussian(RecipeBuilder& b) {
  const Expr mean = finite_arg(b, "mean"), deviation = finite_arg(b, "stddev");
  b.check(deviation >= f32(0), "stddev must not be negative, got {}", {deviation}, {}, "stddev");
  const DType type = b.input_type(0).dtype;
  // f32 does not hold every value of wider types.
  const DType wide = size_of(type) >= 4 && type != DType::kF32 ? DType::kF64 : DType::kF32;
  const Axes extents = b.extents(0);
  b.output_stage(0, b.map("gaussian_noise", type, extents, [&](const Axes& at) {
    Expr element = i64(0);
    for (size_t d = 0; d < extents.size(); ++d) element = element * extents[d] + at[d];
    const Expr u = f32(1) - b.random_unit(element * i64(2));  // in (0, 1], so that its logarithm is finite
    const Expr angle = b.random_unit(element * i64(2) + i64(1)) * f32(2 * std::numbers::pi);
    const Expr radius = kernel::unary(ScalarOp::kSqrt, f32(-2) * kernel::unary(ScalarOp::kLog, u));
    const Expr noise = kernel::fma(radius * kernel::unary(ScalarOp::kCos, angle), deviation, mean);
    return kernel::saturate(kernel::convert(b.load(0, at), wide) + kernel::convert(noise, wide), type);
  }));
}

}  // namespace

Operator make_noise_gaussian() {
  Operator op;
  op.name = "noise.gaussian";
  op.summary = "Adds normally distributed noise.";
  op.documentation =
      "out = in + mean + stddev * z with z of the standard normal distribution (Box-Muller transform of two "
      "uniform draws, in f32), drawn anew for each element; integers round half to even and are clamped. "
      "Elements are counted row-major, so a sample's noise does not depend on batches or threads.";
  op.inputs = {{.name = "input",
                .documentation = "image or other data",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "mean",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "Mean of the noise."},
             {.name = "stddev",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "Standard deviation of the noise, not negative."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.noise.gaussian(image, stddev={})", {"10.0", "30.0", "80.0"});
  op.example = image_example("fn.noise.gaussian(image, stddev=fn.random.uniform(range=[0, 20])), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    if (!ctx.is_per_sample("stddev") && !(ctx.number("stddev") >= 0))
      return ctx.error(
          fmt::format("noise.gaussian: stddev must be finite and not negative, got {}", ctx.number("stddev")),
          {}, "stddev");
    return std::vector{ctx.input(0)};
  };
  op.places = op::Places::kKept;
  op.define = define_noise_gaussian;
  return op;
}

}  // namespace galatea::ops
