// random.beta: beta-distributed numbers in [0, 1], as mixing weights are drawn from.
//
// Comes in: nothing, or a tensor whose shape is taken. Goes out: X / (X + Y) of two gamma-distributed
// numbers, each by the squeeze of Marsaglia and Tsang, whose rejection is bounded: of all attempts the first
// that fits counts. One fits with a probability of 0.95 or more, so that none of eight does once in 10^10.
#include "stdlib_ops/operators.h"

#include <limits>
#include <numbers>

#include "stdlib_ops/random/draw.h"

namespace galatea::ops {
namespace {

constexpr int64_t kAttempts = 8;
constexpr int64_t kDrawsPerGamma = 3 * kAttempts + 1;
/// Above it the acceptance test would only see rounding errors, and nearly everything is accepted.
constexpr double kLargeShape = 1e4;
constexpr double kLargestFloat = std::numeric_limits<float>::max();

Expr log_of(const Expr& x) { return kernel::unary(ScalarOp::kLog, x); }
/// Uniform in (0, 1], so that its logarithm is finite.
Expr positive_unit(const RecipeBuilder& b, const Expr& element) { return f32(1) - b.random_unit(element); }

/// The logarithm of a gamma-distributed number of the given shape (f32), from the draws at `first`. A
/// logarithm, because small shapes give numbers that f32 does not hold.
Expr log_gamma_draw(const RecipeBuilder& b, const Expr& shape, const Expr& first) {
  const Expr is_small = shape < f32(1);
  const Expr d = select(is_small, shape + f32(1), shape) - f32(1.0 / 3);
  const Expr c = f32(1) / kernel::unary(ScalarOp::kSqrt, f32(9) * d);
  Expr volume = f32(1);  // the mode, where no attempt fits
  for (int64_t k = kAttempts - 1; k >= 0; --k) {
    const Expr at = first + i64(1 + 3 * k);
    const Expr radius = kernel::unary(ScalarOp::kSqrt, f32(-2) * log_of(positive_unit(b, at)));
    const Expr x =
        radius * kernel::unary(ScalarOp::kCos, b.random_unit(at + i64(1)) * f32(2 * std::numbers::pi));
    const Expr root = f32(1) + c * x;
    const Expr inside = root > f32(0);
    const Expr v = select(inside, root * root * root, f32(1));
    const Expr bound = f32(0.5) * x * x + d * (f32(1) - v + log_of(v));
    const Expr fits = inside & ((log_of(positive_unit(b, at + i64(2))) < bound) | (d > f32(kLargeShape)));
    volume = select(fits, v, volume);
  }
  // Of a shape below 1: a number of shape + 1, times u^(1 / shape).
  const Expr shrunk = log_of(positive_unit(b, first)) / shape;
  return log_of(d * volume) + select(is_small, shrunk, f32(0));
}

Types beta_types(const TypeContext& ctx) {
  for (const char* name : {"alpha", "beta"})
    if (given_static(ctx, name) && !(ctx.number(name) > 0 && ctx.number(name) <= kLargestFloat))
      return ctx.error(fmt::format("random.beta: {} is {}; it must be positive, and finite as FLOAT", name,
                                   ctx.number(name)),
                       {}, name);
  const DType dtype = ctx.dtype("dtype", DType::kF32);
  if (dtype != DType::kF32 && dtype != DType::kF64)
    return ctx.error(
        fmt::format("random.beta: dtype {} holds few numbers between 0 and 1, or none", types_name(dtype)),
        "use FLOAT or FLOAT64", "dtype");
  GALATEA_ASSIGN(ir::Type out, drawn_type(ctx, dtype, 0));
  return std::vector{out};
}

void define_beta(RecipeBuilder& b) {
  const Expr alpha = b.arg("alpha", DType::kF32), beta = b.arg("beta", DType::kF32);
  const Expr most = f32(std::numeric_limits<float>::max());
  b.check((alpha > f32(0)) & (alpha <= most), "alpha must be positive and finite, got {}", {alpha}, {},
          "alpha");
  b.check((beta > f32(0)) & (beta <= most), "beta must be positive and finite, got {}", {beta}, {}, "beta");
  output_draws(b, 0, [&](const Expr& e) { return beta_draw(b, alpha, beta, e * i64(kDrawsPerBeta)); });
}

}  // namespace

Expr beta_draw(const RecipeBuilder& b, const Expr& alpha, const Expr& beta, const Expr& first) {
  static_assert(kDrawsPerBeta == 2 * kDrawsPerGamma);
  const Expr x = log_gamma_draw(b, alpha, first), y = log_gamma_draw(b, beta, first + i64(kDrawsPerGamma));
  return f32(1) / (f32(1) + kernel::unary(ScalarOp::kExp, y - x));
}

Operator make_random_beta() {
  Operator op;
  op.name = "random.beta";
  op.summary = "Beta-distributed random numbers.";
  op.documentation =
      "Numbers in [0, 1] with the density x^(alpha - 1) (1 - x)^(beta - 1), scaled to 1: X / (X + Y) of two "
      "gamma-distributed numbers (Marsaglia and Tsang, at most 8 attempts, in f32). alpha = beta = 1 is the "
      "uniform distribution.";
  op.inputs = {{.name = "shape_like",
                .documentation = "a tensor whose shape is taken",
                .optional = true,
                .any_device = true}};
  op.max_inputs = 1;
  op.args = {{.name = "alpha",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "The first shape, positive."},
             {.name = "beta",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .per_sample = true,
              .documentation = "The second shape, positive."},
             shape_arg(),
             dtype_arg("Element type of the output, FLOAT or FLOAT64; FLOAT if not given.")};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.example = "return fn.random.beta(alpha=0.4, beta=0.4)\n";
  op.type_rule = beta_types;
  op.define = define_beta;
  return op;
}

}  // namespace galatea::ops
