// to_decibels: magnitudes or powers on a logarithmic scale.
//
// Comes in: numbers, not negative. Goes out: their logarithms against a reference, which is given or the largest of
// the sample, and not below a floor.
#include <limits>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

Types decibel_types(const TypeContext& ctx) {
  if (ctx.given("reference") && ctx.number("reference") == 0)
    return ctx.error("to_decibels: reference must not be 0",
                     "leave it out for the largest element of the sample", "reference");
  return std::vector{ctx.input(0)};
}

/// 1 / the largest element; what is negative or NaN does not count, and of zeros alone it is 1.
StageRef inverse_of_largest(RecipeBuilder& b) {
  return b.reduce(
      {.name = "inverse_reference",
       .type = DType::kF32,
       .extents = {i64(1)},
       .reduce_extents = b.extents(0),
       .accumulator = DType::kF32,
       .combiner = kernel::Combiner::kMax,
       .body = [&](const Axes&, const Axes& at) { return max(b.load(0, at), f32(0)); },
       .finish =
           [](const Expr& largest) { return f32(1) / select(equal(largest, f32(0)), f32(1), largest); }});
}

void define_decibels(RecipeBuilder& b) {
  const Expr multiplier = finite_arg(b, "multiplier");
  check_finite(b, "cutoff_db", {b.arg("cutoff_db", DType::kF32)});
  const Expr exponent = b.arg("cutoff_db", DType::kF64) / to_f64(multiplier);
  const Expr floor = max(to_f32(kernel::binary(ScalarOp::kPow, f64(10), exponent)),
                         f32(std::numeric_limits<float>::denorm_min()));
  const StageRef largest = b.given("reference") ? StageRef() : inverse_of_largest(b);
  const Expr given = b.given("reference") ? f32(1) / finite_arg(b, "reference") : Expr();
  b.output_stage(0, b.map("decibels", DType::kF32, b.extents(0), [&](const Axes& at) {
    const Expr ratio = b.load(0, at) * (given ? given : b.load(largest, {i64(0)}));
    return multiplier * kernel::unary(ScalarOp::kLog10, max(ratio, floor));
  }));
}

}  // namespace

Operator make_to_decibels() {
  Operator op;
  op.name = "to_decibels";
  op.summary = "Puts magnitudes on a logarithmic scale.";
  op.documentation =
      "out = multiplier * log10(max(in / reference, 10^(cutoff_db / multiplier))), in f32. What is negative or NaN "
      "counts as below the floor. A floor that f32 does not hold is its smallest number.";
  op.inputs = {{.name = "magnitudes", .documentation = "of any layout", .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "multiplier",
       .kind = ArgKind::kFloat,
       .default_value = 10.0,
       .documentation =
           "10 for powers (squared magnitudes), 20 for magnitudes; ln(10) gives natural logarithms."},
      {.name = "reference",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation =
           "What becomes 0 dB, not 0. If not given, the largest element of the sample, or 1 where none is above 0."},
      {.name = "cutoff_db",
       .kind = ArgKind::kFloat,
       .default_value = -200.0,
       .documentation = "The least result, dB."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = sound_example("fn.to_decibels(fn.spectrogram(sound, nfft=512), cutoff_db=-80)");
  op.type_rule = decibel_types;
  op.define = define_decibels;
  return op;
}

}  // namespace galatea::ops
