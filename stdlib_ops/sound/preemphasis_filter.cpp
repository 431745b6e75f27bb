// preemphasis_filter: each sample less a share of the one before it.
//
// Comes in: samples. Goes out: a map over them.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/sound/sound.h"

namespace galatea::ops {
namespace {

Types preemphasis_types(const TypeContext& ctx) {
  const std::string border = ctx.text("border");
  if (border != "clamp" && border != "reflect" && border != "zero")
    return ctx.error(fmt::format("preemphasis_filter: border \"{}\" is unknown", border),
                     "use \"clamp\", \"reflect\" or \"zero\"", "border");
  const DType out = ctx.dtype("dtype", DType::kF32);
  if (is_bool(out) || out == DType::kF16)
    return ctx.error(fmt::format("preemphasis_filter does not make {}", types_name(out)),
                     "convert the result with fn.cast", "dtype");
  return std::vector{with_dtype(ctx.input(0), out)};
}

/// The index of the second element, row-major: 1 along the last axis that has more than one. Of one element, 0.
Axes second_index(const Axes& extents) {
  Axes index(extents.size());
  Expr is_found = kernel::const_bool(false);
  for (size_t d = extents.size(); d-- > 0;) {
    const Expr is_longer = extents[d] > i64(1);
    index[d] = select(is_found, i64(0), select(is_longer, i64(1), i64(0)));
    is_found = is_found | is_longer;
  }
  return index;
}

/// The index of the element before that at `at`, which is not the first. Without divisions, which would be by
/// numbers that the compiler does not know.
Axes index_before(const Axes& extents, const Axes& at) {
  Axes index(at.size());
  Expr borrows = kernel::const_bool(true);
  for (size_t d = at.size(); d-- > 0;) {
    const Expr wraps = d > 0 ? borrows & equal(at[d], i64(0)) : kernel::const_bool(false);
    index[d] = select(wraps, extents[d] - i64(1), select(borrows, at[d] - i64(1), at[d]));
    borrows = wraps;
  }
  return index;
}

void define_preemphasis(RecipeBuilder& b) {
  const DType out = b.output_type(0).dtype;
  const DType wide = b.input_type(0).dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const Expr share = kernel::convert(finite_arg(b, "preemph_coeff"), wide);
  const std::string border = b.text("border");
  const Axes extents = b.extents(0);
  Expr samples = i64(1);
  for (const Expr& extent : extents) samples = samples * extent;
  const Axes first_before = border == "reflect" ? second_index(extents) : Axes(extents.size(), i64(0));
  b.output_stage(0, b.map("preemphasis", out, extents, [&](const Axes& at) {
    const Expr zero = kernel::convert(f32(0), wide);
    Expr is_first = kernel::const_bool(true);
    for (const Expr& index : at) is_first = is_first & equal(index, i64(0));
    Axes before = index_before(extents, at);
    for (size_t d = 0; d < at.size(); ++d) before[d] = select(is_first, first_before[d], before[d]);
    Expr previous = kernel::convert(b.load(0, before), wide);
    if (border == "reflect") previous = select(is_first & (samples < i64(2)), zero, previous);
    if (border == "zero") previous = select(is_first, zero, previous);
    const Expr value = kernel::convert(b.load(0, at), wide) - share * previous;
    return is_float(out) ? kernel::convert(value, out)
                         : kernel::saturate(kernel::unary(ScalarOp::kRoundAway, value), out);
  }));
}

}  // namespace

Operator make_preemphasis_filter() {
  Operator op;
  op.name = "preemphasis_filter";
  op.summary = "Takes from each sample a share of the one before it.";
  op.documentation =
      "out[n] = in[n] - preemph_coeff * in[n - 1]: a high-pass filter. Samples are counted row-major over all axes. "
      "Computed in f32, of FLOAT64 in f64; integers round half away from zero and are clamped.";
  op.inputs = {{.name = "signal",
                .documentation = "samples",
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "preemph_coeff",
              .kind = ArgKind::kFloat,
              .default_value = 0.97,
              .per_sample = true,
              .documentation = "The share; 0 changes nothing."},
             {.name = "border",
              .kind = ArgKind::kString,
              .default_value = std::string("clamp"),
              .documentation =
                  "What stands before the first sample: \"clamp\": the first one again; \"reflect\": the "
                  "second one (of one sample alone, 0); \"zero\": 0."},
             dtype_arg("Element type of the output: FLOAT if not given.")};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = sound_example("fn.preemphasis_filter(sound, preemph_coeff=0.9)");
  op.type_rule = preemphasis_types;
  op.places = op::Places::kNone;
  op.define = define_preemphasis;
  return op;
}

}  // namespace galatea::ops
