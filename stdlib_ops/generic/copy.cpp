// copy: the same tensor.
//
// Comes in: any tensor. Goes out: a view of it, since no value ever changes.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_copy() {
  Operator op;
  op.name = "copy";
  op.summary = "The same tensor.";
  op.documentation = "Values never change in a pipeline, so nothing is copied: the result is a view.";
  op.inputs = {{.name = "data", .documentation = "any tensor"}};
  op.min_inputs = op.max_inputs = 1;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example("fn.copy(image), label");
  op.type_rule = [](const TypeContext& ctx) -> Types { return std::vector{ctx.input(0)}; };
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { copy_view(b, 0, 0); };
  return op;
}

}  // namespace galatea::ops
