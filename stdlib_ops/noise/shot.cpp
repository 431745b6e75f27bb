// noise.shot: elements become counts of Poisson's distribution.
//
// Comes in: data of any layout. Goes out: factor times a draw with the mean in / factor, for each element
// (elements 2n and 2n + 1 of the node's stream).
//
// A draw is a function of two uniform ones, without loops or rejection, on every backend the same:
//
// - Small means: how many of the sums 1, 1 + p(1), 1 + p(1) + p(2), … of the probabilities are at most u. The
//   sums stop mattering where the probabilities are below the resolution of u.
// - Large means: floor(Q(z)) of a normally distributed z, where Q is the expansion of the quantile of
//   Poisson's distribution about the normal one by Temme, as Giles uses it ("Algorithm 955: approximation of
//   the inverse Poisson cumulative distribution function", ACM TOMS 42, 2016): with s = z / sqrt(lambda),
//
//     Q = lambda r(s) + c0(s) + c1(s) / lambda,    1 - r + r ln r = s^2 / 2,    c0 = ln(s sqrt(r) / (r - 1)) / ln r
//
//   r and c0 by polynomials, fitted with the weight exp(-4 s^2); c1 is fitted to exact quantiles. No
//   probability P(X <= k) is off by more than 3e-6, and it takes some 10^9 draws to tell the difference
//   (chi-square).
#include <array>
#include <cmath>
#include <numbers>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr double kLargeMean = 16;
/// Counts of small means: of more there is less than 2^-25.
constexpr int kMostCounted = 42;

// (r(s) - 1 - s) / s^2, c0(s), c1(s): coefficients from the lowest.
constexpr std::array kPoissonRatio = {1.66666651e-01,  -1.38859182e-02, 3.70360547e-03,
                                      -1.38250406e-03, 5.70488549e-04,  -7.23842627e-05,
                                      6.61936490e-05,  -2.44101338e-04, 1.09021826e-04};
constexpr std::array kPoissonFirst = {0.333341,    -0.02779255, 0.00837182,
                                      -0.00330009, 0.00264881,  -0.00145624};
constexpr std::array kPoissonSecond = {-0.01989229, 0.01898611, -0.01424853};
/// Where they were fitted.
constexpr double kLeastShift = -1.36, kMostShift = 1.75;

template <size_t N>
Expr shot_polynomial(const std::array<double, N>& coefficients, const Expr& x) {
  Expr sum = f32(coefficients[N - 1]);
  for (size_t k = N - 1; k-- > 0;) sum = kernel::fma(sum, x, f32(coefficients[k]));
  return sum;
}

/// f32; `mean` from 0 to kLargeMean, `u` uniform in [0, 1).
Expr poisson_counted(const Expr& mean, const Expr& u) {
  Expr probability = kernel::unary(ScalarOp::kExp, -mean), sum = probability, count = f32(0);
  for (int k = 1; k <= kMostCounted; ++k) {
    // Rounded sums may never reach the largest u; what is less probable than its resolution is not counted.
    const Expr is_more = u >= sum;
    probability = probability * (mean * f32(1.0 / k));
    count = select(is_more & (probability >= f32(0x1p-26)), f32(k), count);
    sum = sum + probability;
  }
  return count;
}

/// In the type of `mean`, which is kLargeMean or more; z is f32.
Expr poisson_expanded(const Expr& mean, const Expr& z) {
  const DType type = mean.type();
  const Expr root = kernel::unary(ScalarOp::kSqrt, mean);
  const Expr s = clamp(z / to_f32(root), f32(kLeastShift), f32(kMostShift));
  const Expr bent = kernel::fma(z * z, shot_polynomial(kPoissonRatio, s),
                                kernel::fma(shot_polynomial(kPoissonSecond, s), f32(1) / to_f32(mean),
                                            shot_polynomial(kPoissonFirst, s)));
  const Expr quantile = mean + (root * kernel::convert(z, type) + kernel::convert(bent, type));
  return max(kernel::unary(ScalarOp::kFloor, quantile), kernel::convert(f32(0), type));
}

void define_noise_shot(RecipeBuilder& b) {
  const Expr factor = b.arg("factor", DType::kF32);
  b.check((factor >= f32(0)) & (factor < f32(HUGE_VAL)), "factor must be finite and not negative, got {}",
          {factor}, {}, "factor");
  const DType type = b.input_type(0).dtype;
  // f32 does not hold every value of wider types.
  const DType wide = size_of(type) >= 4 && type != DType::kF32 ? DType::kF64 : DType::kF32;
  const Axes extents = b.extents(0);
  b.output_stage(0, b.map("shot_noise", type, extents, [&](const Axes& at) {
    Expr element = i64(0);
    for (size_t d = 0; d < extents.size(); ++d) element = element * extents[d] + at[d];
    const auto as_wide = [&](const Expr& e) { return kernel::convert(e, wide); };
    const Expr value = b.load(0, at);
    const Expr mean = as_wide(value) / as_wide(factor);
    const Expr u = b.random_unit(element * i64(2));
    const Expr angle = b.random_unit(element * i64(2) + i64(1)) * f32(2 * std::numbers::pi);
    // 1 - u lies in (0, 1], so that its logarithm is finite.
    const Expr radius = kernel::unary(ScalarOp::kSqrt, f32(-2) * kernel::unary(ScalarOp::kLog, f32(1) - u));
    const Expr z = radius * kernel::unary(ScalarOp::kCos, angle);
    const Expr few = poisson_counted(clamp(to_f32(mean), f32(0), f32(kLargeMean)), u);
    const Expr many = poisson_expanded(max(mean, as_wide(f32(kLargeMean))), z);
    const Expr count = select(mean < as_wide(f32(kLargeMean)), as_wide(few), many);
    // What has no finite mean stays.
    const Expr noisy = select(mean < as_wide(f32(HUGE_VAL)), count * as_wide(factor), as_wide(value));
    return select(equal(factor, f32(0)), value, kernel::saturate(noisy, type));
  }));
}

}  // namespace

Operator make_noise_shot() {
  Operator op;
  op.name = "noise.shot";
  op.summary = "Adds shot noise: elements become counts of Poisson's distribution.";
  op.documentation =
      "out = factor * X with X of Poisson's distribution with the mean max(0, in / factor), drawn anew for "
      "each element; integers round half to even and are clamped. The noise has the deviation sqrt(factor * "
      "in): a factor of 0 leaves the input as it is. Means below 16 are drawn by inversion, larger ones by "
      "the expansion of the quantile about the normal distribution (Giles, Algorithm 955, ACM TOMS 42), whose "
      "probabilities P(X <= k) are exact to 3e-6, in f32 (f64 where elements have 32 bits or more). Elements "
      "are counted row-major, so a sample's noise does not depend on batches or threads.";
  op.inputs = {{.name = "input",
                .documentation = "image or other data",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "factor",
              .kind = ArgKind::kFloat,
              .default_value = 20.0,
              .per_sample = true,
              .documentation = "What one count adds to an element, not negative: the larger, the more noise. "
                               "For levels of 0 to 1 that is a small number."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.noise.shot(image, factor=fn.random.uniform(range=[1, 20])), label");
  op.places = op::Places::kKept;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    if (!ctx.is_per_sample("factor") && !(ctx.number("factor") >= 0 && std::isfinite(ctx.number("factor"))))
      return ctx.error(
          fmt::format("noise.shot: factor must be finite and not negative, got {}", ctx.number("factor")), {},
          "factor");
    return std::vector{ctx.input(0)};
  };
  op.define = define_noise_shot;
  return op;
}

}  // namespace galatea::ops
