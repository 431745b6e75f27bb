// stored: a tensor in memory of its own, however small it is (compiler/plan/device_branches.h).
//
// Comes in: any tensor. Goes out: the same elements; as BOOL: != 0.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_stored() {
  Operator op;
  op.name = "stored";
  op.summary = "The elements of a tensor in memory of their own.";
  op.documentation = "What the arms of a branch give, and what decides a branch, where a GPU decides it.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "dtype",
              .kind = ArgKind::kDType,
              .documentation = "BOOL: whether an element is not zero. Otherwise that of the input."}};
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const DType own = ctx.input(0).dtype, to = ctx.dtype("dtype", own);
    if (to != own && !is_bool(to))
      return ctx.error("stored: it keeps the element type, or makes BOOL", {}, "dtype");
    return std::vector{with_dtype(ctx.input(0), to)};
  };
  op.define = [](RecipeBuilder& b) {
    const DType from = b.input_type(0).dtype, to = b.output_type(0).dtype;
    b.output_stage(0, b.map("stored", to, b.extents(0), [&](const Axes& at) {
      const Expr x = b.load(0, at);
      return from == to ? x : kernel::not_equal(x, kernel::constant(from, cell_from_int(from, 0)));
    }));
  };
  return op;
}

}  // namespace galatea::ops
