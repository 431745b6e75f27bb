// random.normal: normally distributed numbers.
//
// Comes in: nothing, or a tensor whose shape is taken. Goes out: Box-Muller transforms of two draws each
// (elements 2n and 2n + 1 of the node's stream).
#include <numbers>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

Types normal_types(const TypeContext& ctx) {
  if (given_static(ctx, "stddev") && ctx.number("stddev") < 0)
    return ctx.error(fmt::format("random.normal: stddev must not be negative, got {}", ctx.number("stddev")),
                     {}, "stddev");
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, ctx.dtype("dtype", DType::kF32), 0));
  return std::vector{out};
}

void define_normal(RecipeBuilder& b) {
  const Expr mean = finite_arg(b, "mean"), deviation = finite_arg(b, "stddev");
  b.check(deviation >= f32(0), "stddev must not be negative, got {}", {deviation}, {}, "stddev");
  output_draws(b, 0, [&](const Expr& e) {
    const Expr first = e * i64(2);
    const Expr u = f32(1) - b.random_unit(first);  // in (0, 1], so that its logarithm is finite
    const Expr angle = b.random_unit(first + i64(1)) * f32(2 * std::numbers::pi);
    const Expr radius = kernel::unary(ScalarOp::kSqrt, f32(-2) * kernel::unary(ScalarOp::kLog, u));
    return kernel::fma(radius * kernel::unary(ScalarOp::kCos, angle), deviation, mean);
  });
}

}  // namespace

Operator make_random_normal() {
  Operator op;
  op.name = "random.normal";
  op.summary = "Normally distributed random numbers.";
  op.documentation =
      "mean + stddev * z with z of the standard normal distribution (Box-Muller transform of two uniform "
      "draws, in f32). Integer types round half to even and clamp.";
  op.inputs = {{.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.max_inputs = 1;
  op.args = {{.name = "mean",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "Mean of the distribution."},
             {.name = "stddev",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "Standard deviation, not negative."},
             shape_arg(),
             dtype_arg("Element type of the output; FLOAT if not given.")};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.aliases = {"normal_distribution"};
  op.example = "return fn.random.normal(stddev=2.0, shape=[3])\n";
  op.type_rule = normal_types;
  op.define = define_normal;
  return op;
}

}  // namespace galatea::ops
