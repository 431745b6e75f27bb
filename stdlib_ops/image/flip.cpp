// flip: mirrors images.
//
// Comes in: an image. Goes out: a view that walks the flipped axes backwards.
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

void define_flip(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto ndim = static_cast<size_t>(b.input_type(0).ndim);
  std::vector<int> dims;
  std::vector<Expr> start(ndim, i64(0)), step(ndim, i64(1));
  for (size_t d = 0; d < ndim; ++d) dims.push_back(static_cast<int>(d));
  auto mirror = [&](const char* arg, int dim) {
    // Said in the text, "not at all" is structure: rows stay whole, and are copied as such.
    if (!b.is_per_sample(arg) && b.integer(arg) == 0) return;
    const Expr flipped = not_equal(b.arg(arg, DType::kI64), i64(0));
    const auto d = static_cast<size_t>(dim);
    start[d] = select(flipped, max(b.extent(0, dim) - i64(1), i64(0)), i64(0));
    step[d] = select(flipped, i64(-1), i64(1));
  };
  mirror("horizontal", at.w);
  mirror("vertical", at.h);
  if (const int depth = b.input_layout(0).find('D'); depth >= 0) mirror("depthwise", depth);
  b.output_view(0, 0, b.extents(0), dims, start, step);
}

void define_flip_places(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto along = [&](const char* arg, int dim) {
    return mirrored_places({}, not_equal(b.arg(arg, DType::kI64), i64(0)), b.extent(0, dim));
  };
  output_places(b, along("horizontal", at.w), along("vertical", at.h));
}

}  // namespace

Operator make_flip() {
  Operator op;
  op.name = "flip";
  op.summary = "Mirrors images horizontally, vertically or both.";
  op.documentation =
      "Exact copy with the order of columns (horizontal), rows (vertical) or slices (depthwise) reversed. "
      "Without arguments it flips horizontally. Nothing is copied: the result is a view.";
  op.inputs = {{.name = "data",
                .documentation = "image or volume",
                .layouts = {"HWC", "CHW", "DHWC", "CDHW", "DCHW"}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "horizontal",
              .kind = ArgKind::kInt,
              .default_value = int64_t{1},
              .per_sample = true,
              .documentation = "Not 0: reverses the columns."},
             {.name = "vertical",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "Not 0: reverses the rows."},
             {.name = "depthwise",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "Not 0: reverses the axis D, where there is one."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect =
      effect("fn.flip(image, {})", {"horizontal=1", "horizontal=0, vertical=1", "horizontal=1, vertical=1"});
  op.example = image_example("fn.flip(image, horizontal=fn.random.coin_flip()), label");
  op.type_rule = [](const TypeContext& ctx) -> Types {
    ir::Type out = ctx.input(0);
    out.layout = ctx.input_layout(0);
    return std::vector{out};
  };
  op.define = define_flip;
  moves_places(op, define_flip_places);
  return op;
}

}  // namespace galatea::ops
