// select: which arm of a choice a sample takes (compiler/plan/device_branches.h).
//
// Comes in: an index, and how many arms there are. Goes out: the arm's number in one byte. Where there is no
// such arm it is 0, and the kernel raises its flag, which says so (op::Lowering::arms).
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_select() {
  Operator op;
  op.name = "select";
  op.summary = "The number of an arm, in memory.";
  op.documentation = "What decides a choice among functions, where a GPU decides it.";
  op.inputs = {{.name = "index", .documentation = "an integer"}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "count",
              .kind = ArgKind::kInt,
              .required = true,
              .documentation = "how many arms there are: 2 to 256"}};
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    return std::vector{with_dtype(ctx.input(0), DType::kU8)};
  };
  op.define = [](RecipeBuilder& b) {
    const int64_t count = b.integer("count");
    b.output_stage(0, b.map("select", DType::kU8, b.extents(0), [&](const Axes& at) {
      const Expr index = kernel::convert(b.load(0, at), DType::kI64);
      const Expr exists = (kernel::const_int(0) <= index) & (index < kernel::const_int(count));
      // A division by zero is what raises a flag.
      return kernel::convert(index / kernel::convert(exists, DType::kI64), DType::kU8);
    }));
    b.chooses_among(count);
  };
  return op;
}

}  // namespace galatea::ops
