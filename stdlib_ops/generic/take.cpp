// galatea.take: elements along an axis, by their numbers.
//
// Comes in: any tensor, and numbers of its elements along one axis. Goes out: these elements, in the order of
// the numbers.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/number_range.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

int axis_of(int64_t axis, int ndim) { return static_cast<int>(axis < 0 ? axis + ndim : axis); }

Types take_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  const int64_t axis = ctx.integer("axis");
  if (axis < -out.ndim || axis >= out.ndim)
    return ctx.error(fmt::format("galatea.take: {} has no axis {}", describe(out), axis),
                     out.ndim == 0 ? "give a tensor with axes" : "axes count from 0, or from the end from -1",
                     "axis");
  out.extents[static_cast<size_t>(axis_of(axis, out.ndim))] = ctx.input(1).extents[0];
  return std::vector{out};
}

void define_take(RecipeBuilder& b) {
  const auto axis = static_cast<size_t>(axis_of(b.integer("axis"), b.input_type(0).ndim));
  Axes extents = b.extents(0);
  const Expr there = extents[axis];
  extents[axis] = b.extent(1, 0);
  const std::vector<Expr> range =
      b.native_scalars(native::kNumberRange, {1}, {}, {}, {DType::kI64, DType::kI64});
  for (const Expr& end : range)
    b.check((extents[axis] <= i64(0)) | ((end >= -there) & (end < there)), "there is no element {} among {}",
            {end, there}, "elements count from 0, or from the end from -1");
  b.output_stage(0, b.map("take", b.output_type(0).dtype, extents, [&](const Axes& at) {
    Axes from = at;
    const Expr number = kernel::convert(b.load(1, {at[axis]}), DType::kI64);
    from[axis] = clamp(select(number < i64(0), number + there, number), i64(0), there - i64(1));
    return b.load(0, std::move(from));
  }));
}

}  // namespace

Operator make_galatea_take() {
  Operator op;
  op.name = "galatea.take";
  op.summary = "Elements along an axis, by their numbers.";
  op.documentation =
      "Element k of the output along the axis is element indices[k] of the input, as in numpy.take; negative "
      "ones count from the end. Numbers may repeat, and there may be none. One that is past the ends is the "
      "sample's error. fn.galatea.nms gives such numbers.";
  op.inputs = {{.name = "data", .documentation = "any tensor with axes"},
               {.name = "indices",
                .documentation = "INT32 or INT64 [k]",
                .dtypes = {DType::kI32, DType::kI64},
                .ndim = 1}};
  op.min_inputs = op.max_inputs = 2;
  op.args = {{.name = "axis",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .documentation = "The axis along which elements are taken; negative ones count from the end."}};
  op.example =
      "rows = fn.random.uniform(range=[0.0, 1.0], shape=[5, 2])\n"
      "return fn.galatea.take(rows, fn.constant(idata=[4, 0, 0, -2], shape=[4]))\n";
  op.type_rule = take_types;
  op.define = define_take;
  return op;
}

}  // namespace galatea::ops
