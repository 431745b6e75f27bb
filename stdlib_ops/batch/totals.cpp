// batch.total, batch.count, batch.mean: what reductions over a batch are made of (over_batch.h).
#include "stdlib_ops/operators.h"
#include "stdlib_ops/reduce/reduction.h"

namespace galatea::ops {
namespace {

runtime::BatchOp op_named(const std::string& name) {
  return name == "min"   ? runtime::BatchOp::kMin
         : name == "max" ? runtime::BatchOp::kMax
                         : runtime::BatchOp::kSum;
}

}  // namespace

Operator make_batch_total() {
  Operator op;
  op.name = "batch.total";
  op.kind = OperatorKind::kNative;
  op.summary = "The tensors of all samples of the batch, combined element by element.";
  op.documentation =
      "In the order of their places: integers exactly (sums wrap), sums of floats in f64 and rounded once. "
      "Tensors of unequal extents are the batch's error.";
  op.inputs = {reduction_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "op",
              .kind = ArgKind::kString,
              .default_value = std::string("sum"),
              .documentation = "\"sum\", \"min\" or \"max\"."}};
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.sees_batch = [](const ir::Node&) { return true; };
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    const std::string name = ctx.text("op");
    if (name != "sum" && name != "min" && name != "max")
      return ctx.error(fmt::format("op \"{}\" is none of sum, min and max", name), {}, "op");
    return std::vector{ctx.input(0)};
  };
  op.define = [](RecipeBuilder& b) { b.output_total(0, 0, op_named(b.text("op"))); };
  return op;
}

Operator make_batch_count() {
  Operator op;
  op.name = "batch.count";
  op.summary = "How many elements the samples of the batch have along some axes.";
  op.documentation = "The products of each sample's extents along the axes, added up.";
  op.inputs = {{.name = "data", .documentation = "any tensor; its extents count"}};
  op.min_inputs = op.max_inputs = 1;
  for (ArgSpec& arg : reduction_args())
    if (arg.name != "keep_dims") op.args.push_back(std::move(arg));
  op.devices = {"cpu"};
  op.cpu_outputs = true;
  op.internal = true;
  op.sees_batch = [](const ir::Node&) { return true; };
  op.type_rule = [](const TypeContext& ctx) -> Types {
    GALATEA_TRY(resolve_axes(ctx, ctx.input(0), ctx.input(0).layout));
    ir::Type out;
    out.dtype = DType::kI64;
    return std::vector{out};
  };
  op.define = [](RecipeBuilder& b) {
    const ir::Type& in = b.input_type(0);
    const ReductionBox box = reduction_box(b, resolve_axes(b, in.ndim, in.layout), true);
    b.output_scalars(0, {b.over_batch(runtime::BatchOp::kSum, box.count)});
  };
  return op;
}

Operator make_batch_mean() {
  Operator op;
  op.name = "batch.mean";
  op.summary = "Sums divided by a number of elements.";
  op.documentation = "As the last step of fn.reductions.mean. Nothing to divide by is an error.";
  op.inputs = {reduction_input(),
               {.name = "count", .documentation = "a scalar", .dtypes = {DType::kI64}, .any_device = true}};
  op.min_inputs = op.max_inputs = 2;
  op.args = {dtype_arg("Element type of the result; FLOAT if not given.")};
  op.devices = {"cpu", "gpu"};
  op.internal = true;
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types {
    return std::vector{with_dtype(ctx.input(0), ctx.dtype("dtype", DType::kF32))};
  };
  op.define = [](RecipeBuilder& b) {
    const DType out = b.output_type(0).dtype;
    const Expr count = b.element(1, 0);
    b.check(count > i64(0), "there is nothing to take the value of: the reduced axes hold {} elements",
            {count}, "guard samples without elements with an if");
    b.output_stage(0, b.map("mean", out, b.extents(0),
                            [&](const Axes& at) { return mean_of(b.load(0, at), count, out); }));
  };
  return op;
}

}  // namespace galatea::ops
