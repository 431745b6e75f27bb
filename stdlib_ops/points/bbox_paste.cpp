// bbox_paste: boxes of an image that is pasted onto a larger canvas.
//
// Comes in: boxes of four numbers along the last axis, in fractions of the image. Goes out: the same boxes in
// fractions of the canvas.
#include <cmath>
#include <limits>

#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kRatioHelp = "it is the canvas's size in sizes of the image, as in fn.paste";

Types bbox_paste_types(const TypeContext& ctx) {
  GALATEA_TRY(check_boxes(ctx));
  if (given_static(ctx, "ratio") && !(ctx.number("ratio") > 0 && std::isfinite(ctx.number("ratio"))))
    return ctx.error(fmt::format("bbox_paste: ratio must be a positive number, not {}", ctx.number("ratio")),
                     kRatioHelp, "ratio");
  return std::vector{ctx.input(0)};
}

void define_bbox_paste(RecipeBuilder& b) {
  const Expr n = check_boxes(b);
  const Expr ratio = b.arg("ratio", DType::kF32);
  b.check((ratio > f32(0)) & (ratio <= f32(std::numeric_limits<float>::max())),
          "ratio must be a positive number, not {}", {ratio}, kRatioHelp, "ratio");
  const Expr scale = f32(1) / ratio;
  // No margin is so large that the image leaves the canvas at its far edge, not even by an ulp.
  const auto margin = [&](const char* name) {
    return kernel::min(finite_arg(b, name) * (ratio - f32(1)) / ratio, f32(1) - scale);
  };
  const Expr left = margin("paste_x"), top = margin("paste_y");
  const bool corners = b.flag("ltrb");
  output_points(b, "bbox_paste", n, [&](const Expr& k, const Coordinate& of) {
    const Expr part = k % i64(kBoxNumbers), scaled = of(k) * scale;
    const Expr moved = scaled + select(equal(part % i64(2), i64(0)), left, top);
    return corners ? moved : select(part < i64(2), moved, scaled);
  });
}

}  // namespace

Operator make_bbox_paste() {
  Operator op;
  op.name = "bbox_paste";
  op.summary = "Boxes of an image that fn.paste puts onto a larger canvas.";
  op.documentation =
      "Boxes are left, top, width, height, or with ltrb left, top, right, bottom, as fractions of the image; "
      "the result is in fractions of a canvas that is `ratio` times as wide and high. Sizes become size / "
      "ratio, places place / ratio + margin, where the margin is paste_x (ratio - 1) / ratio along x, and "
      "with paste_y along y: in f32, and 1 - 1 / ratio at most, so that the image ends within the canvas.";
  op.inputs = {points_input("data", "boxes, FLOAT, four numbers along the last axis", {DType::kF32})};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "ratio",
              .kind = ArgKind::kFloat,
              .required = true,
              .per_sample = true,
              .documentation =
                  "The canvas's width and height in those of the image, positive; 1 or more for fn.paste."},
             {.name = "paste_x",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Where the image lies: 0 at the left edge of the canvas, 1 at the right."},
             {.name = "paste_y",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Where the image lies: 0 at the upper edge of the canvas, 1 at the lower."},
             {.name = "ltrb",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Whether boxes are left, top, right, bottom; else left, top, width, height."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example =
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.25], shape=[1, 4])\n"
      "return fn.bbox_paste(boxes, ratio=fn.random.uniform(range=[1.0, 3.0]), paste_x=0.25)\n";
  op.type_rule = bbox_paste_types;
  op.define = define_bbox_paste;
  return op;
}

}  // namespace galatea::ops
