// reductions.min, max, sum, mean, mean_square, rms: along some or all axes, per sample.
//
// Comes in: a tensor. Goes out: one reduce stage. Integer sums are exact in 64 bits; floats are summed in
// f64, in the fixed order of the kernel IR, and the result is rounded once.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/reduce/over_batch.h"
#include "stdlib_ops/reduce/reduction.h"

namespace galatea::ops {
namespace {

enum class Kind : uint8_t { kMin, kMax, kSum, kMean, kMeanSquare, kRms };

bool is_extreme(Kind kind) { return kind == Kind::kMin || kind == Kind::kMax; }

Result<DType> result_dtype(const TypeContext& ctx, Kind kind) {
  const DType in = ctx.input(0).dtype;
  if (is_extreme(kind)) return in;
  const DType natural = kind == Kind::kSum ? sum_type(in) : DType::kF32;
  const DType asked = ctx.dtype("dtype", natural);
  if (asked != natural && asked != in && asked != DType::kF32)
    return ctx.error(fmt::format("{}: dtype {} is neither {}, the input's type nor FLOAT", ctx.op().name,
                                 types_name(asked), types_name(natural)),
                     "convert the result with fn.cast", "dtype");
  return asked;
}

Types reduction_types(const TypeContext& ctx, Kind kind) {
  const ir::Type& in = ctx.input(0);
  GALATEA_ASSIGN(const auto axes, resolve_axes(ctx, in, in.layout));
  GALATEA_ASSIGN(const DType dtype, result_dtype(ctx, kind));
  return std::vector{reduced_type(in, axes, ctx.flag("keep_dims"), dtype)};
}

/// What elements are combined in.
DType accumulator_of(DType in, Kind kind) {
  if (is_extreme(kind)) return in == DType::kF16 ? DType::kF32 : in;
  // Squares of wide integers leave 64 bits when they are summed.
  if ((kind == Kind::kMeanSquare || kind == Kind::kRms) && size_of(in) > 2) return DType::kF64;
  return sum_accumulator(in);
}

Expr finish(Kind kind, const Expr& acc, const Expr& count, DType out) {
  if (is_extreme(kind) || kind == Kind::kSum) return kernel::saturate(acc, out);
  if (kind != Kind::kRms) return mean_of(acc, count, out);
  return kernel::saturate(kernel::unary(ScalarOp::kSqrt, mean_of(acc, count, DType::kF32)), out);
}

void define_reduction(RecipeBuilder& b, Kind kind) {
  const ir::Type& in = b.input_type(0);
  const DType out = b.output_type(0).dtype;
  const ReductionBox box = reduction_box(b, resolve_axes(b, in.ndim, in.layout), b.flag("keep_dims"));
  if (kind != Kind::kSum)
    b.check(box.count > i64(0), "there is nothing to take the value of: the reduced axes hold {} elements",
            {box.count}, "guard samples without elements with an if");
  const DType accumulator = accumulator_of(in.dtype, kind);
  const StageRef stage =
      b.reduce({.name = "reduce",
                .type = out,
                .extents = box.extents,
                .reduce_extents = box.over,
                .accumulator = accumulator,
                .combiner = kind == Kind::kMin   ? kernel::Combiner::kMin
                            : kind == Kind::kMax ? kernel::Combiner::kMax
                                                 : kernel::Combiner::kSum,
                .body =
                    [&](const Axes& at, const Axes& inner) {
                      const Expr x = kernel::convert(b.load(0, box.index(at, inner)), accumulator);
                      return kind == Kind::kMeanSquare || kind == Kind::kRms ? x * x : x;
                    },
                .finish = [&](const Expr& acc) { return finish(kind, acc, box.count, out); }});
  b.output_stage(0, stage);
}

Operator make(const char* name, Kind kind) {
  Operator op;
  op.name = std::string("reductions.") + name;
  op.inputs = {reduction_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = reduction_args();
  op.devices = {"cpu", "gpu"};
  op.type_rule = [kind](const TypeContext& ctx) { return reduction_types(ctx, kind); };
  op.places = op::Places::kNone;
  op.define = [kind](RecipeBuilder& b) { define_reduction(b, kind); };
  if (kind == Kind::kMeanSquare || kind == Kind::kRms) return op;
  op.args.push_back(batch_arg("Whether to reduce over all samples of the batch, too: each gets the same."));
  op.expand = [kind](const op::Expansion& expansion) {
    const char* combine = kind == Kind::kMin ? "min" : kind == Kind::kMax ? "max" : "sum";
    return expand_reduction(expansion, combine, kind == Kind::kMean);
  };
  return op;
}

}  // namespace

Operator make_reductions_min() {
  Operator op = make("min", Kind::kMin);
  op.summary = "The smallest element along axes.";
  op.documentation = "The minimum over the reduced axes, in the input's type. Nothing to reduce is an error.";
  op.example = image_example("fn.reductions.min(image, axis_names=\"HW\"), label");
  return op;
}

Operator make_reductions_max() {
  Operator op = make("max", Kind::kMax);
  op.summary = "The largest element along axes.";
  op.documentation = "The maximum over the reduced axes, in the input's type. Nothing to reduce is an error.";
  op.example = image_example("fn.reductions.max(image, axis_names=\"HW\"), label");
  return op;
}

Operator make_reductions_sum() {
  Operator op = make("sum", Kind::kSum);
  op.summary = "The sum along axes.";
  op.documentation =
      "Integers are summed exactly in 64 bits, floats in 64 bits, too, and rounded once. The result is "
      "UINT64, INT64 or FLOAT, or converted to dtype (half to even, clamped).";
  op.args.push_back(
      dtype_arg("Element type of the result: UINT64 or INT64 (integers), FLOAT, or the input's."));
  op.example = image_example("fn.reductions.sum(image, axes=[0, 1]), label");
  return op;
}

Operator make_reductions_mean() {
  Operator op = make("mean", Kind::kMean);
  op.summary = "The mean along axes.";
  op.documentation =
      "The sum (in 64 bits) divided by the number of elements, rounded once, as FLOAT or converted to dtype "
      "(half to even, clamped). Nothing to reduce is an error.";
  op.args.push_back(dtype_arg("Element type of the result: FLOAT, or the input's."));
  op.example = image_example("fn.reductions.mean(image, axis_names=\"HW\"), label");
  return op;
}

Operator make_reductions_mean_square() {
  Operator op = make("mean_square", Kind::kMeanSquare);
  op.summary = "The mean of the squares along axes.";
  op.documentation =
      "The sum of the squares (exact for integers of 8 and 16 bits, else in 64-bit floats) divided by the "
      "number of elements, as FLOAT or converted to dtype (half to even, clamped). Nothing to reduce is an "
      "error.";
  op.args.push_back(dtype_arg("Element type of the result: FLOAT, or the input's."));
  op.example = image_example("fn.reductions.mean_square(image, axis_names=\"HW\"), label");
  return op;
}

Operator make_reductions_rms() {
  Operator op = make("rms", Kind::kRms);
  op.summary = "The root of the mean square along axes.";
  op.documentation =
      "The square root of fn.reductions.mean_square, in f32, as FLOAT or converted to dtype (half to even, "
      "clamped). Nothing to reduce is an error.";
  op.args.push_back(dtype_arg("Element type of the result: FLOAT, or the input's."));
  op.example = image_example("fn.reductions.rms(image, axis_names=\"HW\"), label");
  return op;
}

}  // namespace galatea::ops
