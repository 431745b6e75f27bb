// bundle: several values as the outputs of one call, for operators that several nodes stand for.
//
// Comes in: values. Goes out: views of them, without names of axes.
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_bundle() {
  Operator op;
  op.name = "bundle";
  op.summary = "Several values as the outputs of one call.";
  op.documentation = "Output k is input k, whose axes have no names.";
  op.inputs = {{.name = "values", .documentation = "any tensors"}};
  op.min_inputs = 1;
  op.max_inputs = 64;
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    std::vector<ir::Type> types;
    for (int k = 0; k < ctx.num_inputs(); ++k) {
      types.push_back(ctx.input(k));
      types.back().layout = {};
    }
    return types;
  };
  op.define = [](RecipeBuilder& b) {
    for (int k = 0; k < b.num_inputs(); ++k) copy_view(b, k, k);
  };
  return op;
}

}  // namespace galatea::ops
