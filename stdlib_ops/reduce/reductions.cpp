// reductions.min, max, sum, mean: along some or all axes, per sample.
//
// Comes in: a tensor. Goes out: one reduce stage. Integer sums are exact in 64 bits; float sums have the
// kernel IR's fixed tree.
#include <algorithm>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class Kind : uint8_t { kMin, kMax, kSum, kMean };

DType sum_type(DType in) {
  return is_float(in) ? DType::kF32 : is_signed_int(in) ? DType::kI64 : DType::kU64;
}

Result<DType> result_dtype(const TypeContext& ctx, Kind kind) {
  const DType in = ctx.input(0).dtype;
  if (kind == Kind::kMin || kind == Kind::kMax) return in;
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
  ir::Type out = with_dtype(in, dtype);
  out.extents.clear();
  std::string letters;
  for (int d = 0; d < in.ndim; ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (reduced && !ctx.flag("keep_dims")) continue;
    out.extents.push_back(reduced ? 1 : in.extents[static_cast<size_t>(d)]);
    if (!in.layout.empty()) letters += in.layout[d];
  }
  out.ndim = static_cast<int>(out.extents.size());
  out.layout = Layout(letters);
  return std::vector{out};
}

void define_reduction(RecipeBuilder& b, Kind kind) {
  const ir::Type& in = b.input_type(0);
  const DType out = b.output_type(0).dtype;
  const auto axes = resolve_axes(b, in.ndim, in.layout);
  std::vector<Expr> extents, over;
  Expr count = i64(1);
  std::vector<int> place(static_cast<size_t>(in.ndim), -1);  // of a kept dimension: its output axis
  for (int d = 0; d < in.ndim; ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (reduced) {
      over.push_back(b.extent(0, d));
      count = count * b.extent(0, d);
    }
    if (!reduced) place[static_cast<size_t>(d)] = static_cast<int>(extents.size());
    if (!reduced || b.flag("keep_dims")) extents.push_back(reduced ? i64(1) : b.extent(0, d));
  }
  if (kind != Kind::kSum)
    b.check(count > i64(0), "there is nothing to take the value of: the reduced axes hold {} elements",
            {count}, "guard samples without elements with an if");

  const bool extreme = kind == Kind::kMin || kind == Kind::kMax;
  // A single element is reduced where there is nothing to reduce over.
  if (over.empty()) over.push_back(i64(1));
  const DType accumulator = extreme ? (in.dtype == DType::kF16 ? DType::kF32 : in.dtype) : sum_type(in.dtype);
  const StageRef stage =
      b.reduce({.name = "reduce",
                .type = out,
                .extents = extents,
                .reduce_extents = over,
                .accumulator = accumulator,
                .combiner = kind == Kind::kMin   ? kernel::Combiner::kMin
                            : kind == Kind::kMax ? kernel::Combiner::kMax
                                                 : kernel::Combiner::kSum,
                .body =
                    [&](const Axes& at, const Axes& inner) {
                      Axes index;
                      size_t next = 0;
                      for (size_t d = 0; d < place.size(); ++d)
                        index.push_back(place[d] < 0 ? inner[next++] : at[static_cast<size_t>(place[d])]);
                      return kernel::convert(b.load(0, index), accumulator);
                    },
                .finish =
                    [&](Expr acc) {
                      if (kind != Kind::kMean) return kernel::saturate(acc, out);
                      // Exact integer sums divide in f64, so that the mean is correctly rounded.
                      if (is_float(accumulator)) return kernel::saturate(acc / to_f32(count), out);
                      return kernel::saturate(to_f32(to_f64(acc) / to_f64(count)), out);
                    }});
  b.output_stage(0, stage);
}

Operator make(const char* name, Kind kind) {
  Operator op;
  op.name = std::string("reductions.") + name;
  op.inputs = {{.name = "data",
                .documentation = "any tensor",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "axes",
              .kind = ArgKind::kIntList,
              .documentation = "The axes to reduce; all if not given; negative ones count from the end."},
             {.name = "axis_names",
              .kind = ArgKind::kLayout,
              .documentation = "The axes by letters of the layout; excludes axes."},
             {.name = "keep_dims",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether reduced axes stay, with extent 1."}};
  op.devices = {"cpu", "gpu"};
  op.type_rule = [kind](const TypeContext& ctx) { return reduction_types(ctx, kind); };
  op.define = [kind](RecipeBuilder& b) { define_reduction(b, kind); };
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
      "Integers are summed exactly in 64 bits, floats in f32 (16 partial sums, then pairwise). The result is "
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
      "The sum (exact for integers) divided by the number of elements, as FLOAT or converted to dtype (half "
      "to even, clamped). Nothing to reduce is an error.";
  op.args.push_back(dtype_arg("Element type of the result: FLOAT, or the input's."));
  op.example = image_example("fn.reductions.mean(image, axis_names=\"HW\"), label");
  return op;
}

}  // namespace galatea::ops
