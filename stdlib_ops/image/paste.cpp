// paste: puts an image on a larger canvas.
//
// Comes in: an image. Goes out: a canvas of fill_value with the image on it.
#include <cmath>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr double kMostCanvas = 1 << 24;  // f32 holds every index of such an image

Status check_paste_range(const TypeContext& ctx, const char* name, double low, double high,
                         const char* help) {
  if (!given_static(ctx, name)) return {};
  const double value = ctx.number(name);
  if (value >= low && value <= high) return {};
  return ctx.error(fmt::format("paste: {} is {}", name, value), help, name);
}

constexpr const char* kPasteRatioHelp =
    "the canvas is at least as large as the image: use a ratio of 1 or more";
constexpr const char* kPlaceHelp = "0 is at the left or top of the canvas, 1 at its right or bottom";
constexpr const char* kCanvasHelp = "give a number of pixels, 0 or more";

Types paste_types(const TypeContext& ctx) {
  GALATEA_TRY(check_paste_range(ctx, "ratio", 1, kMostCanvas, kPasteRatioHelp));
  GALATEA_TRY(check_paste_range(ctx, "paste_x", 0, 1, kPlaceHelp));
  GALATEA_TRY(check_paste_range(ctx, "paste_y", 0, 1, kPlaceHelp));
  GALATEA_TRY(check_paste_range(ctx, "min_canvas_size", 0, kMostCanvas, kCanvasHelp));
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  out.extents[static_cast<size_t>(at.h)] = out.extents[static_cast<size_t>(at.w)] = -1;
  const int64_t channels = out.extents[static_cast<size_t>(at.c)];
  const auto fills = static_cast<int64_t>(ctx.integers("fill_value").size());
  if (fills == 0) return ctx.error("paste: fill_value is an empty list", "give a number", "fill_value");
  if (ctx.given("n_channels")) {
    const int64_t wanted = ctx.integer("n_channels");
    if (wanted < 1 || (channels >= 0 && channels != wanted))
      return ctx.error(fmt::format("paste: n_channels is {}, the image {}", wanted, describe(ctx.input(0))),
                       "leave it out: the image says how many channels it has", "n_channels");
    out.extents[static_cast<size_t>(at.c)] = wanted;
  }
  const int64_t known = out.extents[static_cast<size_t>(at.c)];
  if (fills > 1 && known >= 0 && known != fills)
    return ctx.error(fmt::format("paste: {} values of fill_value for {} channels", fills, known),
                     "give one number, or one per channel", "fill_value");
  return std::vector{out};
}

struct CanvasSide {
  Expr extent;  ///< of the canvas
  Expr start;   ///< where the image begins
};

/// Both in f32, truncated.
CanvasSide canvas_side(RecipeBuilder& b, const Expr& ratio, const char* place, const Expr& least, int dim) {
  const Expr own = b.extent(0, dim);
  const Expr grown = ratio * to_f32(own);
  b.check(grown <= f32(kMostCanvas), "a canvas of {} pixels is too large", {grown},
          fmt::format("up to {} are taken", static_cast<int64_t>(kMostCanvas)), "ratio");
  const Expr extent = max(to_i64(grown), to_i64(least));
  const Expr at = b.arg(place, DType::kF32);
  b.check((at >= f32(0)) & (at <= f32(1)), fmt::format("{} is {{}}", place), {at}, kPlaceHelp, place);
  return {extent, to_i64(at * to_f32(extent - own))};
}

struct Canvas {
  CanvasSide rows, columns;
};

Canvas canvas_of(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Expr ratio = b.arg("ratio", DType::kF32), least = b.arg("min_canvas_size", DType::kF32);
  b.check((ratio >= f32(1)) & (ratio <= f32(kMostCanvas)), "ratio is {}", {ratio}, kPasteRatioHelp, "ratio");
  b.check((least >= f32(0)) & (least <= f32(kMostCanvas)), "min_canvas_size is {}", {least}, kCanvasHelp,
          "min_canvas_size");
  return {.rows = canvas_side(b, ratio, "paste_y", least, at.h),
          .columns = canvas_side(b, ratio, "paste_x", least, at.w)};
}

void define_paste_places(RecipeBuilder& b) {
  const Canvas canvas = canvas_of(b);
  output_places(b, {f64(1), to_f64(canvas.columns.start)}, {f64(1), to_f64(canvas.rows.start)});
}

void define_paste(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto h = static_cast<size_t>(at.h), w = static_cast<size_t>(at.w), c = static_cast<size_t>(at.c);
  const DType type = b.input_type(0).dtype;
  const auto [rows, columns] = canvas_of(b);
  const Expr channels = b.extent(0, at.c);
  if (b.given("n_channels"))
    b.check(equal(channels, i64(b.integer("n_channels"))), "the image has {} channels, not n_channels",
            {channels}, "leave it out: the image says how many channels it has", "n_channels");
  std::vector<Expr> fill;
  for (const Expr& value : b.arg_list("fill_value", b.arg_length("fill_value"), DType::kI64))
    fill.push_back(kernel::saturate(value, type));
  if (fill.size() > 1)
    b.check(equal(channels, i64(static_cast<int64_t>(fill.size()))),
            fmt::format("{} values of fill_value for {{}} channels", fill.size()), {channels},
            "give one number, or one per channel", "fill_value");
  Axes extents = b.extents(0);
  extents[h] = rows.extent;
  extents[w] = columns.extent;
  b.output_stage(0, b.map("paste", type, extents, [&](const Axes& index) {
    Axes from = index;
    from[h] = index[h] - rows.start;
    from[w] = index[w] - columns.start;
    const Expr inside = (from[h] >= i64(0)) & (from[h] < b.extent(0, at.h)) & (from[w] >= i64(0)) &
                        (from[w] < b.extent(0, at.w));
    const Expr beside = fill.size() == 1 ? fill[0] : choose(index[c], fill);
    return select(inside, b.load(0, from, Border::kConstant, Cell{}), beside);
  }));
}

}  // namespace

Operator make_paste() {
  Operator op;
  op.name = "paste";
  op.summary = "Puts images on a larger canvas.";
  op.documentation =
      "The canvas has max(trunc(ratio H), trunc(min_canvas_size)) rows, and as many columns for W. The image "
      "begins at column trunc(paste_x (W' - W)) and row trunc(paste_y (H' - H)), computed in f32; around it "
      "is fill_value. fn.bbox_paste moves boxes along.";
  op.inputs = {
      {.name = "data",
       .documentation = "image",
       .layouts = {"HWC", "CHW"},
       .dtypes = {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "ratio",
              .kind = ArgKind::kFloat,
              .required = true,
              .per_sample = true,
              .documentation = "How many times as high and wide as the image the canvas is, 1 or more."},
             {.name = "fill_value",
              .kind = ArgKind::kIntList,
              .required = true,
              .documentation = "What is around the image: one value, or one per channel; clamped to the "
                               "image's type."},
             {.name = "n_channels",
              .kind = ArgKind::kInt,
              .default_value = int64_t{3},
              .documentation = "How many channels the image has; not needed here, and looked at only where "
                               "it is given."},
             {.name = "paste_x",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Where the image lies across: 0 at the left of the canvas, 1 at the right."},
             {.name = "paste_y",
              .kind = ArgKind::kFloat,
              .default_value = 0.5,
              .per_sample = true,
              .documentation = "Where the image lies down: 0 at the top of the canvas, 1 at the bottom."},
             {.name = "min_canvas_size",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "Pixels that the canvas has at least, down and across."}};
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.paste(image, ratio=1.5, fill_value=[124, 116, 104], paste_x=fn.random.uniform(range=[0, 1])), "
      "label");
  op.type_rule = paste_types;
  op.define = define_paste;
  moves_places(op, define_paste_places);
  return op;
}

}  // namespace galatea::ops
