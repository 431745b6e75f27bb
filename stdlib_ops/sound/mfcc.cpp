// mfcc: mel frequency cepstral coefficients, the discrete cosine transform of log-mel bands.
//
// Comes in: bands on a logarithmic scale. Goes out: the first coefficients of their transform along an axis, each a
// sum of all bands: a `band` stage, whose weights are one period of a cosine looked up.
#include <array>
#include <numbers>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

Types mfcc_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  const int64_t axis = ctx.integer("axis"), type = ctx.integer("dct_type"), count = ctx.integer("n_mfcc");
  if (axis < 0 || axis >= in.ndim)
    return ctx.error(fmt::format("mfcc: axis {} is out of range for {}", axis, describe(in)),
                     "it is counted from 0, the outermost", "axis");
  if (type < 1 || type > 4)
    return ctx.error(fmt::format("mfcc: dct_type {} is unknown", type), "use 1, 2, 3 or 4", "dct_type");
  if (type == 1 && ctx.flag("normalize"))
    return ctx.error("mfcc: a transform of type 1 has no orthonormal form", "leave normalize out",
                     "normalize");
  if (count < 1)
    return ctx.error(fmt::format("mfcc: n_mfcc must be at least 1, it is {}", count), {}, "n_mfcc");
  ir::Type out = in;
  int64_t& extent = out.extents[static_cast<size_t>(axis)];
  if (extent >= 0) extent = std::min(extent, count);
  return std::vector{out};
}

/// One node's transform: of N bands to coefficients k from bands n.
class CosineTransform {
 public:
  explicit CosineTransform(RecipeBuilder& b)
      : b_(b),
        axis_(static_cast<int>(b.integer("axis"))),
        type_(b.integer("dct_type")),
        bands_(b.extent(0, axis_)) {}

  void define() {
    if (type_ == 1)
      b_.check(bands_ > i64(1), "a transform of type 1 needs two bands at least, the input has {}", {bands_},
               {}, "dct_type");
    const Expr count = min(b_.arg("n_mfcc", DType::kI64), bands_);
    const StageRef cosines = period();
    const StageRef weights = b_.map("dct_weights", DType::kF32, {count, bands_}, [&](const Axes& at) {
      const Expr cosine = b_.load(cosines, {place(at[0], at[1]) % length()});
      return to_f32(cosine * scale(at[0], at[1]) * lift(at[0]));
    });
    const auto a = static_cast<size_t>(axis_);
    Axes extents = b_.extents(0);
    extents[a] = count;
    b_.output_stage(0,
                    b_.band({.name = "mfcc",
                             .type = DType::kF32,
                             .extents = extents,
                             .axis = axis_,
                             .accumulator = DType::kF32,
                             .taps = max(bands_, i64(1)),
                             .first = [](const Expr&) { return i64(0); },
                             .weight = [&](const Expr& k, const Expr& n) { return b_.load(weights, {k, n}); },
                             .source =
                                 [&](const Axes& at, const Expr& n) {
                                   Axes from = at;
                                   from[a] = n;
                                   return b_.load(0, from);
                                 },
                             .finish = {}}));
  }

 private:
  /// How many places a turn has.
  Expr length() const {
    if (type_ == 1) return max(bands_ - i64(1), i64(1)) * i64(2);
    return max(bands_, i64(1)) * i64(type_ == 4 ? 8 : 4);
  }
  StageRef period() {
    return b_.map("cosines", DType::kF64, {length()}, [&](const Axes& at) {
      return kernel::unary(ScalarOp::kCos, to_f64(at[0]) * (f64(2 * std::numbers::pi) / to_f64(length())));
    });
  }
  /// Of the product of band and coefficient.
  Expr place(const Expr& k, const Expr& n) const {
    const auto half = [](const Expr& i) { return i * i64(2) + i64(1); };
    switch (type_) {
      case 1:
        return k * n;
      case 2:
        return k * half(n);
      case 3:
        return half(k) * n;
      default:
        return half(k) * half(n);
    }
  }
  Expr scale(const Expr& k, const Expr& n) const {
    if (type_ == 1) return select(equal(n, i64(0)) | equal(n, bands_ - i64(1)), f64(0.5), f64(1));
    if (!b_.flag("normalize")) return type_ == 3 ? select(equal(n, i64(0)), f64(0.5), f64(1)) : f64(1);
    const Expr all = kernel::unary(ScalarOp::kSqrt, f64(2) / to_f64(bands_));
    if (type_ == 4) return all;
    return select(equal(type_ == 2 ? k : n, i64(0)), all * f64(std::numbers::sqrt2 / 2), all);
  }
  Expr lift(const Expr& k) const {
    if (b_.number("lifter") == 0) return f64(1);
    const Expr lifter = b_.arg("lifter", DType::kF64);
    check_finite(b_, "lifter", {b_.arg("lifter", DType::kF32)});
    return kernel::fma(lifter * f64(0.5),
                       kernel::unary(ScalarOp::kSin, f64(std::numbers::pi) * to_f64(k + i64(1)) / lifter),
                       f64(1));
  }

  RecipeBuilder& b_;
  int axis_;
  int64_t type_;
  Expr bands_;
};

}  // namespace

Operator make_mfcc() {
  Operator op;
  op.name = "mfcc";
  op.summary = "Makes mel frequency cepstral coefficients of log-mel bands.";
  op.documentation =
      "The discrete cosine transform along an axis of N elements, of which the first min(n_mfcc, N) are kept. With x "
      "the input: type 1: (x[0] + (-1)^k x[N - 1]) / 2 + sum over the others of x[n] cos(pi n k / (N - 1)); type 2: "
      "sum of x[n] cos(pi (n + 1/2) k / N); type 3: x[0] / 2 + sum over the others of x[n] cos(pi n (k + 1/2) / N); "
      "type 4: sum of x[n] cos(pi (n + 1/2) (k + 1/2) / N). normalize=True makes types 2 to 4 orthonormal. With "
      "lifter=L, not 0, coefficient k is multiplied by 1 + L / 2 * sin(pi (k + 1) / L). Weights are computed in f64, "
      "products added in f32 from band 0 on.";
  op.inputs = {{.name = "bands",
                .documentation = "a spectrogram on the mel scale, in decibels",
                .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.outputs = {{.name = "coefficients", .documentation = "in place of the bands", .dtypes = {DType::kF32}}};
  op.args = {{.name = "n_mfcc",
              .kind = ArgKind::kInt,
              .default_value = int64_t{20},
              .documentation = "How many coefficients; as many as there are bands at most."},
             {.name = "dct_type",
              .kind = ArgKind::kInt,
              .default_value = int64_t{2},
              .documentation = "1, 2, 3 or 4: which cosine transform."},
             {.name = "normalize",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether the transform is orthonormal; not of type 1."},
             {.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .documentation = "The axis of the bands, counted from 0."},
             {.name = "lifter",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "Raises the coefficients in the middle of so many; 0: none."}};
  op.devices = {"cpu", "gpu"};
  op.example = sound_example(
      "fn.mfcc(fn.to_decibels(fn.mel_filter_bank(fn.spectrogram(sound, nfft=512), sample_rate=16000)), n_mfcc=13)");
  op.type_rule = mfcc_types;
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) { CosineTransform(b).define(); };
  return op;
}

}  // namespace galatea::ops
