// reductions.variance, std_dev: the spread about a given mean along some or all axes, per sample.
//
// Comes in: a tensor and its mean. Goes out: one reduce stage over squared distances,
// which are f32, in leaves and f64 (kernel.h).
#include <algorithm>

#include "stdlib_ops/operators.h"
#include "stdlib_ops/reduce/reduction.h"

namespace galatea::ops {
namespace {

/// Whether the mean's extents can be those of the reduced input; -1 fits anything.
bool extents_fit(const ir::Type& mean, const ir::Type& wanted) {
  if (mean.ndim != wanted.ndim) return false;
  for (size_t d = 0; d < wanted.extents.size(); ++d)
    if (mean.extents[d] >= 0 && wanted.extents[d] >= 0 && mean.extents[d] != wanted.extents[d]) return false;
  return true;
}

Types variance_types(const TypeContext& ctx) {
  const ir::Type &in = ctx.input(0), &mean = ctx.input(1);
  GALATEA_ASSIGN(const auto axes, resolve_axes(ctx, in, in.layout));
  if (ctx.integer("ddof") < 0)
    return ctx.error(
        fmt::format("{}: ddof must not be negative, it is {}", ctx.op().name, ctx.integer("ddof")),
        "0 divides by the number of elements, 1 by one less", "ddof");
  const ir::Type kept = reduced_type(in, axes, true, DType::kF32),
                 dropped = reduced_type(in, axes, false, DType::kF32);
  if (!extents_fit(mean, kept) && !extents_fit(mean, dropped))
    return ctx.error(fmt::format("{}: the mean is {}, but the reduced input is {} (or {} with keep_dims)",
                                 ctx.op().name, describe(mean), describe(dropped), describe(kept)),
                     "take fn.reductions.mean of the same input along the same axes");
  return std::vector{ctx.flag("keep_dims") ? kept : dropped};
}

/// Where the mean of an element of the result stands; checks the extents that only the run tells.
std::function<Axes(const Axes&)> index_of_mean(RecipeBuilder& b, const std::vector<int>& axes) {
  const int ndim = b.input_type(0).ndim;
  const bool kept = b.input_type(1).ndim == ndim;
  std::vector<int> result_axis;  // per dimension of the mean; -1: a reduced axis that stays
  int next = 0, dim_of_mean = 0;
  for (int d = 0; d < ndim; ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    const int axis = reduced && !b.flag("keep_dims") ? -1 : next++;
    if (reduced && !kept) continue;
    result_axis.push_back(reduced ? -1 : axis);
    const Expr wanted = reduced ? i64(1) : b.extent(0, d), given = b.extent(1, dim_of_mean++);
    if (!kernel::same(wanted, given))
      b.check(equal(wanted, given),
              fmt::format("the mean has extent {{}} where the input's axis {} gives {{}}", d),
              {given, wanted}, "take fn.reductions.mean of the same input along the same axes");
  }
  return [result_axis](const Axes& at) {
    Axes index;
    for (int axis : result_axis) index.push_back(axis < 0 ? i64(0) : at[static_cast<size_t>(axis)]);
    return index;
  };
}

void define_variance(RecipeBuilder& b, bool root) {
  const ir::Type& in = b.input_type(0);
  const auto axes = resolve_axes(b, in.ndim, in.layout);
  const ReductionBox box = reduction_box(b, axes, b.flag("keep_dims"));
  const int64_t ddof = b.integer("ddof");
  const auto mean_at = index_of_mean(b, axes);
  // Along no axes there is nothing to vary; a number without axes has its distance from the mean.
  const bool varies = !axes.empty() || in.ndim == 0;
  if (varies)
    b.check(box.count > b.arg("ddof", DType::kI64),
            fmt::format("ddof={} leaves nothing to divide by: {{}} elements are reduced", ddof), {box.count},
            "reduce more elements, or make ddof smaller", ddof > 0 ? "ddof" : "");
  const StageRef stage =
      b.reduce({.name = root ? "std_dev" : "variance",
                .type = DType::kF32,
                .extents = box.extents,
                .reduce_extents = box.over,
                .accumulator = DType::kF64,
                .combiner = kernel::Combiner::kSum,
                .body =
                    [&](const Axes& at, const Axes& inner) {
                      const Expr distance = to_f32(b.load(0, box.index(at, inner))) - b.load(1, mean_at(at));
                      return distance * distance;
                    },
                .finish =
                    [&](const Expr& acc) {
                      if (!varies) return f32(0);
                      const Expr variance = to_f32(acc / to_f64(box.count - b.arg("ddof", DType::kI64)));
                      return root ? kernel::unary(ScalarOp::kSqrt, variance) : variance;
                    }});
  b.output_stage(0, stage);
}

Operator make(const char* name, bool root) {
  Operator op;
  op.name = std::string("reductions.") + name;
  op.inputs = {reduction_input(),
               {.name = "mean",
                .documentation = "the mean along the same axes, with or without keep_dims",
                .dtypes = {DType::kF32}}};
  op.min_inputs = op.max_inputs = 2;
  op.args = reduction_args();
  op.args.push_back({.name = "ddof",
                     .kind = ArgKind::kInt,
                     .default_value = int64_t{0},
                     .documentation = "What is subtracted from the number of elements in the divisor."});
  op.devices = {"cpu", "gpu"};
  op.type_rule = variance_types;
  op.places = op::Places::kNone;
  op.define = [root](RecipeBuilder& b) { define_variance(b, root); };
  return op;
}

std::string example(const char* name) {
  return "encoded, label = fn.readers.file(file_root=data)\n"
         "image = fn.decoders.image(encoded)\n"
         "mean = fn.reductions.mean(image, axis_names=\"HW\")\n" +
         fmt::format("return fn.reductions.{}(image, mean, axis_names=\"HW\"), label\n", name);
}

}  // namespace

Operator make_reductions_variance() {
  Operator op = make("variance", false);
  op.summary = "The variance about a given mean along axes.";
  op.documentation =
      "sum((in - mean)^2) / (N - ddof) over the reduced axes, summed in 64 bits and given as FLOAT; N is the "
      "number of elements. With axes=[] every element stands alone: 0. N <= ddof is an error.";
  op.example = example("variance");
  return op;
}

Operator make_reductions_std_dev() {
  Operator op = make("std_dev", true);
  op.summary = "The standard deviation about a given mean along axes.";
  op.documentation =
      "The square root of fn.reductions.variance, in f32. With axes=[] every element stands alone: 0. N <= "
      "ddof is an error.";
  op.example = example("std_dev");
  return op;
}

}  // namespace galatea::ops
