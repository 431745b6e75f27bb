// grid_mask: a grid of black squares ("GridMask data augmentation", Chen et al., 2020).
//
// Comes in: an image. Goes out: the same image, 0 inside the squares.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types grid_mask_types(const TypeContext& ctx) {
  if (!ctx.is_per_sample("tile") && ctx.integer("tile") <= 0)
    return ctx.error(fmt::format("grid_mask: tile must be positive, not {}", ctx.integer("tile")),
                     "it is the distance of two squares, in pixels", "tile");
  if (!ctx.is_per_sample("ratio") && !(ctx.number("ratio") >= 0))
    return ctx.error(
        fmt::format("grid_mask: ratio must be finite and not negative, got {}", ctx.number("ratio")),
        "it is the share of a tile that a square takes, from 0 to 1", "ratio");
  return std::vector{ctx.input(0)};
}

void define_grid_mask(RecipeBuilder& b) {
  const ImageAxes image = image_axes(b.input_layout(0));
  const DType type = b.input_type(0).dtype;
  const Expr tile = b.arg("tile", DType::kI64), ratio = finite_arg(b, "ratio");
  const Expr angle = b.arg("angle", DType::kF32);
  b.check(tile > i64(0), "tile must be positive, not {}", {tile}, {}, "tile");
  b.check(ratio >= f32(0), "ratio must not be negative, got {}", {ratio}, {}, "ratio");
  b.check(absolute(angle) <= f32(1e9), "the angle {} is no angle in radians", {angle}, {}, "angle");
  const Expr c = kernel::unary(ScalarOp::kCos, angle), s = kernel::unary(ScalarOp::kSin, angle);
  const Expr size = to_f32(tile);
  const Expr shift_x = finite_arg(b, "shift_x"), shift_y = finite_arg(b, "shift_y");
  const auto in_square = [&](const Expr& place) {
    return place - kernel::unary(ScalarOp::kFloor, place) < ratio;
  };
  b.output_stage(0, b.map("grid_mask", type, b.extents(0), [&](const Axes& at) {
    const Expr x = to_f32(at[static_cast<size_t>(image.w)]), y = to_f32(at[static_cast<size_t>(image.h)]);
    const Expr u = (x * c - y * s - shift_x) / size, v = (x * s + y * c - shift_y) / size;
    return select(in_square(u) & in_square(v), kernel::constant(type, Cell{}), b.load(0, at));
  }));
}

ArgSpec shift_arg(const char* name, const char* documentation) {
  return {.name = name,
          .kind = ArgKind::kFloat,
          .default_value = 0.0,
          .per_sample = true,
          .documentation = documentation};
}

}  // namespace

Operator make_grid_mask() {
  Operator op;
  op.name = "grid_mask";
  op.summary = "Covers images with a grid of black squares.";
  op.documentation =
      "With pixel (x, y), u = (x cos(angle) - y sin(angle) - shift_x) / tile and "
      "v = (x sin(angle) + y cos(angle) - shift_y) / tile, in f32: the pixel is 0 where the fractions of u and "
      "v are both less than ratio.";
  op.inputs = {
      {.name = "input",
       .documentation = "image",
       .layouts = {"HWC", "CHW", "HW"},
       .dtypes = {DType::kU8, DType::kU16, DType::kI8, DType::kI16, DType::kI32, DType::kF16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "tile",
              .kind = ArgKind::kInt,
              .default_value = int64_t{100},
              .per_sample = true,
              .documentation = "Distance of two squares, in pixels."},
             {.name = "ratio",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Side of a square, as a share of the tile: 0 for none, 1 for all black."},
             {.name = "angle",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "Radians by which the grid is turned."},
             shift_arg("shift_x", "Pixels by which the turned grid is moved to the right."),
             shift_arg("shift_y", "Pixels by which the turned grid is moved down.")};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.grid_mask(image, tile=40, ratio={}, angle=0.3)", {"0.2", "0.5", "0.8"});
  op.example = image_example(
      "fn.grid_mask(image, tile=24, ratio=0.4, angle=fn.random.uniform(range=[0, 1.5])), label");
  op.type_rule = grid_mask_types;
  op.places = op::Places::kKept;
  op.define = define_grid_mask;
  return op;
}

}  // namespace galatea::ops
