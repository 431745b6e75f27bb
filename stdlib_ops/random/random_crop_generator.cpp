// random_crop_generator: the random window of area and aspect ratio, without an image.
//
// Comes in: the shape of an image. Goes out: the window's anchor and shape, for fn.slice or
// fn.decoders.image_slice.
#include "stdlib_ops/common/random_window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types random_crop_generator_types(const TypeContext& ctx) {
  GALATEA_TRY(check_random_window(ctx));
  const ir::Type& shape = ctx.input(0);
  if (shape.extents[0] >= 0 && shape.extents[0] < 2)
    return ctx.error(fmt::format("random_crop_generator: {} is no image's shape", describe(shape)),
                     "give height and width first, as x.shape() and fn.peek_image_shape do");
  ir::Type out;
  out.dtype = DType::kI32;
  out.ndim = 1;
  out.extents = {2};
  return std::vector{out, out};
}

void define_random_crop_generator(RecipeBuilder& b) {
  const ir::Type& shape = b.input_type(0);
  const ir::ValueId value = b.node().inputs[0];
  b.check(b.extent(0, 0) >= i64(2), "a shape of {} numbers has no height and width", {b.extent(0, 0)});
  const auto side = [&](int d) {
    return shape.static_volume() >= 0
               ? to_i64(b.element(0, d))
               : to_i64(kernel::symbol(kernel::SymbolKind::kElement, shape.dtype, value, d));
  };
  constexpr int64_t kMost = int64_t{1} << 31;
  const Expr height = side(0), width = side(1);
  b.check((height >= i64(0)) & (width >= i64(0)) & (height < i64(kMost)) & (width < i64(kMost)),
          "{} x {} is no image's size", {height, width});
  const auto [rows, columns] = random_window(b, height, width);
  const Expr some = (height > i64(0)) & (width > i64(0));
  const auto pair = [&](const Expr& y, const Expr& x) {
    return std::vector{kernel::convert(select(some, y, i64(0)), DType::kI32),
                       kernel::convert(select(some, x, i64(0)), DType::kI32)};
  };
  b.output_scalars(0, pair(rows.start, columns.start));
  b.output_scalars(1, pair(rows.extent, columns.extent));
}

}  // namespace

Operator make_random_crop_generator() {
  Operator op;
  op.name = "random_crop_generator";
  op.summary = "A random window of an image, as numbers.";
  op.documentation =
      "The window covers a random fraction of the image with a random aspect ratio, chosen as "
      "fn.random_resized_crop chooses it. Outputs: anchor (y, x) and shape (h, w), INT32, in pixels; "
      "all 0 where the image has no pixels.";
  op.inputs = {{.name = "shape",
                .documentation = "height and width in pixels, then anything",
                .dtypes = {DType::kI32, DType::kI64},
                .ndim = 1}};
  op.min_inputs = op.max_inputs = 1;
  op.output_needs = {"", ""};
  op.args = random_window_args();
  op.random = true;
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "anchor, shape = fn.random_crop_generator(fn.peek_image_shape(encoded), random_area=[0.3, 0.6])\n"
      "return fn.decoders.image_slice(encoded, start=anchor, shape=shape, axes=[0, 1]), label\n";
  op.type_rule = random_crop_generator_types;
  op.define = define_random_crop_generator;
  return op;
}

}  // namespace galatea::ops
