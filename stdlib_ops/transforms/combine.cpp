// transforms.combine: applies transforms one after the other.
#include "stdlib_ops/operators.h"
#include "stdlib_ops/transforms/transform.h"

namespace galatea::ops {

Operator make_transforms_combine() {
  Operator op = make_transform("combine", {});
  op.summary = "Joins affine transforms into one.";
  op.documentation =
      "The result applies the inputs in their order (reverse_order=True: the last one first). All have the "
      "same shape. Products are computed in f64 and rounded once.";
  op.inputs[0].optional = false;
  op.inputs[0].documentation = "transforms, FLOAT [n, n + 1]";
  op.min_inputs = 2;
  op.max_inputs = 99;
  op.example = transform_example(
      "fn.transforms.combine(fn.transforms.scale(scale=[0.5, 0.5]), fn.transforms.translation(offset=[9.0, "
      "4.0]))");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    int rank = -1;
    for (int k = 0; k < ctx.num_inputs() && rank < 0; ++k)
      if (const ir::Type& in = ctx.input(k); in.ndim == 2 && in.extents[0] >= 0)
        rank = static_cast<int>(in.extents[0]);
    return transform_types(ctx, rank < 0 ? 2 : rank);
  };
  op.define = [](RecipeBuilder& b) {
    const int n = rank_of(b);
    Transform joined = input_transform(b, 0, n);
    for (int k = 1; k < b.num_inputs(); ++k) {
      const Transform next = input_transform(b, k, n);
      joined = b.flag("reverse_order") ? then(next, joined) : then(joined, next);
    }
    for (Expr& e : joined.elements) e = to_f32(e);
    b.output_scalars(0, std::move(joined.elements));
  };
  return op;
}

}  // namespace galatea::ops
