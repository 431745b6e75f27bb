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

/// What stands before the first sample.
Border border_of(const std::string& name) {
  return name == "reflect" ? Border::kReflect101 : name == "zero" ? Border::kConstant : Border::kClamp;
}

void define_preemphasis(RecipeBuilder& b) {
  const DType out = b.output_type(0).dtype;
  const DType wide = b.input_type(0).dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const Expr share = kernel::convert(finite_arg(b, "preemph_coeff"), wide);
  const std::string border = b.text("border");
  const Samples samples(b);
  b.output_stage(0, b.map("preemphasis", out, b.extents(0), [&](const Axes& at) {
    Expr previous = kernel::convert(samples.load(samples.number(at) - i64(1), border_of(border)), wide);
    if (border == "reflect")
      previous = select(samples.count() < i64(2), kernel::convert(f32(0), wide), previous);
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
