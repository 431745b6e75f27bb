// shapes: the extents of a sample as a tensor.
//
// Comes in: any tensor, of which only the extents are used. Goes out: a 1-D tensor with one element per
// dimension.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {

Operator make_shapes() {
  Operator op;
  op.name = "shapes";
  op.summary = "The extents of each sample.";
  op.documentation = "A 1-D tensor of the sample's extents, outermost first; the method form is `x.shape()`.";
  op.inputs = {
      {.name = "data", .documentation = "any tensor; its elements are not read", .any_device = true}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "dtype",
              .kind = ArgKind::kDType,
              .default_value = DType::kI64,
              .documentation = "Element type of the result: INT32, UINT32, INT64, UINT64, FLOAT or FLOAT64."},
             refused("type", ArgKind::kDType, "it was renamed: write dtype=")};
  op.devices = {"cpu", "gpu"};
  op.cpu_outputs = true;
  op.example = image_example("fn.shapes(image), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const DType dtype = ctx.dtype("dtype", DType::kI64);
    const bool allowed = size_of(dtype) >= 4 && !is_bool(dtype);
    if (!allowed)
      return ctx.error(fmt::format("shapes: dtype {} cannot hold extents", types_name(dtype)),
                       "use INT32, UINT32, INT64, UINT64, FLOAT or FLOAT64", "dtype");
    return std::vector{ir::Type{
        .dtype = dtype, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {ctx.input(0).ndim}}};
  };
  op.places = op::Places::kNone;
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> elements;
    for (const Expr& e : b.extents(0)) elements.push_back(kernel::convert(e, b.output_type(0).dtype));
    b.output_scalars(0, std::move(elements));
  };
  return op;
}

}  // namespace galatea::ops
