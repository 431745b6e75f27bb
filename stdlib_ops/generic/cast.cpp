// cast, cast_like: another element type.
//
// Comes in: any tensor. Goes out: the same elements, rounded half to even and clamped to the range of the new
// type; to BOOL: != 0.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// kSaturate, but for floats to BOOL: those round half away from zero first, as the reference does.
Expr cast(const Expr& x, DType to) {
  if (!is_bool(to) || !is_float(x.type())) return kernel::saturate(x, to);
  const Expr wide = x.type() == DType::kF16 ? to_f32(x) : x;
  return logical_not(absolute(wide) < kernel::const_float(0.5, wide.type()));
}

void define_cast(RecipeBuilder& b) {
  const DType to = b.output_type(0).dtype;
  const int64_t volume = b.output_type(0).static_volume();
  if (volume >= 0 && volume <= kMaxScalarElements) {
    std::vector<Expr> elements;
    for (int64_t n = 0; n < volume; ++n) elements.push_back(cast(b.element(0, n), to));
    return b.output_scalars(0, std::move(elements));
  }
  if (b.input_type(0).dtype == to) return copy_view(b, 0, 0);
  const StageRef stage =
      b.map("cast", to, b.extents(0), [&](const Axes& at) { return cast(b.load(0, at), to); });
  b.output_stage(0, stage);
}

}  // namespace

Operator make_cast() {
  Operator op;
  op.name = "cast";
  op.summary = "Converts to another element type.";
  op.documentation =
      "out = saturate(in): floats round half to even and are clamped to the range of the new type, NaN gives "
      "0, integers are clamped, integers to BOOL are `!= 0`, "
      "floats to BOOL are rounded first. Nothing is rescaled: 255 becomes 255.0.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "dtype", .kind = ArgKind::kDType, .required = true, .documentation = "The new element type."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.cast(image, dtype=types.FLOAT), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    return std::vector{with_dtype(ctx.input(0), ctx.dtype("dtype", DType::kF32))};
  };
  op.places = op::Places::kKept;
  op.define = define_cast;
  return op;
}

Operator make_cast_like() {
  Operator op;
  op.name = "cast_like";
  op.summary = "Converts to the element type of another tensor.";
  op.documentation = "As fn.cast with the element type of the second input, of which nothing else is used.";
  op.inputs = {
      {.name = "data", .documentation = "any tensor"},
      {.name = "like", .documentation = "the tensor whose element type is taken", .any_device = true}};
  op.min_inputs = op.max_inputs = 2;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.cast_like(0.5 * image, image), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    return std::vector{with_dtype(ctx.input(0), ctx.input(1).dtype)};
  };
  op.places = op::Places::kKept;
  op.define = define_cast;
  return op;
}

}  // namespace galatea::ops
