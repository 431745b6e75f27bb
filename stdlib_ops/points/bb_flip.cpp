// bb_flip: mirrors boxes in the unit square.
//
// Comes in: boxes of four numbers along the last axis. Goes out: the boxes of the mirrored image.
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types bb_flip_types(const TypeContext& ctx) {
  GALATEA_TRY(check_boxes(ctx));
  return std::vector{ctx.input(0)};
}

void define_bb_flip(RecipeBuilder& b) {
  const Expr n = check_boxes(b);
  const Expr across = not_equal(b.arg("horizontal", DType::kI64), i64(0));
  const Expr down = not_equal(b.arg("vertical", DType::kI64), i64(0));
  const bool corners = b.flag("ltrb");
  output_points(b, "bb_flip", n, [&](const Expr& k, const Coordinate& of) {
    const Expr part = k % i64(kBoxNumbers), own = of(k);
    const Expr first = part < i64(2);  // left or top, not right, bottom, width or height
    const Expr flips = select(equal(part % i64(2), i64(0)), across, down);
    if (corners) return select(flips, f32(1) - of(select(first, k + i64(2), k - i64(2))), own);
    return select(flips & first, f32(1) - (own + of(select(first, k + i64(2), k))), own);
  });
}

}  // namespace

Operator make_bb_flip() {
  Operator op;
  op.name = "bb_flip";
  op.summary = "Mirrors boxes in the unit square.";
  op.documentation =
      "Boxes are left, top, width, height, or with ltrb left, top, right, bottom, as fractions of the image. "
      "Flipped horizontally, left = 1 - right and right = 1 - left; vertically top and bottom likewise; "
      "widths and heights stay. Boxes that reach outside the unit square are mirrored all the same.";
  op.inputs = {points_input("data", "boxes, FLOAT, four numbers along the last axis", {DType::kF32})};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "ltrb",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether boxes are left, top, right, bottom; else left, top, width, height."},
             {.name = "horizontal",
              .kind = ArgKind::kInt,
              .default_value = int64_t{1},
              .per_sample = true,
              .documentation = "Not 0: mirrors from left to right."},
             {.name = "vertical",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "Not 0: mirrors from top to bottom."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example =
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.25], shape=[1, 4])\n"
      "return fn.bb_flip(boxes, horizontal=fn.random.coin_flip())\n";
  op.type_rule = bb_flip_types;
  op.define = define_bb_flip;
  return op;
}

}  // namespace galatea::ops
