// random_bbox_crop: a random window that leaves enough of an image's boxes.
//
// Comes in: boxes, and perhaps labels. Goes out: anchor and shape of the window, what is left of the boxes,
// their labels, their numbers. The search is stdlib_ops/native/bbox_crop.h.
#include <algorithm>
#include <cmath>

#include "stdlib_ops/common/bbox_window.h"
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

template <typename Context>
std::string boxes_layout(const Context& c) {
  if (c.given("bbox_layout")) return c.text("bbox_layout");
  return c.flag("ltrb") ? "xyXY" : "xyWH";
}

template <typename Context>
std::string sides_layout(const Context& c, int dims) {
  return c.given("shape_layout") ? c.text("shape_layout")
                                 : std::string("WHD").substr(0, static_cast<size_t>(dims));
}

/// The default changes with a fixed window.
template <typename Context>
bool may_be_whole(const Context& c) {
  return c.flag("allow_no_crop") && !c.given("crop_shape");
}

Status check_fractions(const TypeContext& ctx, std::string_view name, const std::vector<double>& values) {
  for (const double value : values)
    if (!(value >= 0 && value <= 1))
      return ctx.error(fmt::format("random_bbox_crop: {} must lie in [0, 1], not {}", name, value), {}, name);
  return {};
}

/// Ranges: pairs of low and high, none negative.
Status check_ranges(const TypeContext& ctx, std::string_view name, size_t most) {
  const std::vector<double> values = ctx.numbers(name);
  if (values.size() != 2 && values.size() != most)
    return ctx.error(fmt::format("random_bbox_crop: {} needs 2{} numbers, low and high, not {}", name,
                                 most == 2 ? "" : fmt::format(" or {}", most), values.size()),
                     {}, name);
  for (size_t n = 0; n < values.size(); n += 2)
    if (!(values[n] >= 0 && values[n] <= values[n + 1] && std::isfinite(values[n + 1])))
      return ctx.error(fmt::format("random_bbox_crop: {} must be 0 <= low <= high, not ({}, {})", name,
                                   values[n], values[n + 1]),
                       {}, name);
  return {};
}

Status check_layouts(const TypeContext& ctx, int dims) {
  if (ctx.given("bbox_layout") && ctx.given("ltrb"))
    return ctx.error("random_bbox_crop: bbox_layout and ltrb exclude each other", "keep bbox_layout", "ltrb");
  const std::string sides = sides_layout(ctx, dims);
  const std::string letters = std::string("WHD").substr(0, static_cast<size_t>(dims));
  if (sides.size() != letters.size() || !std::is_permutation(sides.begin(), sides.end(), letters.begin()))
    return ctx.error(fmt::format("random_bbox_crop: shape_layout \"{}\" is no order of {}", sides, letters),
                     {}, "shape_layout");
  for (const char* name : {"crop_shape", "input_shape"}) GALATEA_TRY(check_length(ctx, name, dims));
  return {};
}

Status check_fixed_window(const TypeContext& ctx) {
  if (!ctx.given("crop_shape")) return {};
  if (!ctx.given("input_shape"))
    return ctx.error("random_bbox_crop: crop_shape needs input_shape, the picture's extents",
                     "peek_image_shape tells it before decoding", "crop_shape");
  for (const char* name : {"scaling", "aspect_ratio"})
    if (ctx.given(name))
      return ctx.error(fmt::format("random_bbox_crop: crop_shape and {} exclude each other", name), {}, name);
  if (ctx.given("allow_no_crop") && ctx.flag("allow_no_crop"))
    return ctx.error("random_bbox_crop: with crop_shape no window is the whole picture",
                     "leave allow_no_crop out", "allow_no_crop");
  return {};
}

Status check_search(const TypeContext& ctx, int dims) {
  const std::string type = ctx.text("threshold_type");
  if (type != "iou" && type != "overlap")
    return ctx.error(
        fmt::format("random_bbox_crop: threshold_type is \"iou\" or \"overlap\", not \"{}\"", type), {},
        "threshold_type");
  if (ctx.numbers("thresholds").empty())
    return ctx.error("random_bbox_crop: thresholds is empty", "0 takes every window", "thresholds");
  GALATEA_TRY(check_fractions(ctx, "thresholds", ctx.numbers("thresholds")));
  if (ctx.given("bbox_prune_threshold"))
    GALATEA_TRY(check_fractions(ctx, "bbox_prune_threshold", {ctx.number("bbox_prune_threshold")}));
  GALATEA_TRY(check_ranges(ctx, "scaling", 2));
  GALATEA_TRY(check_ranges(ctx, "aspect_ratio", dims == 2 ? 2 : 6));
  if (ctx.integer("num_attempts") < 1)
    return ctx.error(
        fmt::format("random_bbox_crop: num_attempts must be positive, not {}", ctx.integer("num_attempts")),
        {}, "num_attempts");
  const int64_t total = ctx.integer("total_num_attempts");
  if (total != -1 && total < 1)
    return ctx.error(fmt::format("random_bbox_crop: total_num_attempts must be positive, not {}", total),
                     "-1 sets no limit", "total_num_attempts");
  return {};
}

Types random_bbox_crop_types(const TypeContext& ctx) {
  const std::string text = boxes_layout(ctx);
  const auto layout = native::BoxLayout::parse(text);
  if (!layout)
    return ctx.error(fmt::format("random_bbox_crop: \"{}\" is no layout of boxes", text),
                     "name x, y (and z), and of each the end X, Y, Z or the extent W, H, D: xyXY, xyWH",
                     "bbox_layout");
  const ir::Type& boxes = ctx.input(0);
  const int64_t numbers = boxes.extents[1];
  if (numbers >= 0 && numbers != 2 * layout->dims)
    return ctx.error(fmt::format("random_bbox_crop: {} are no boxes of layout {}", describe(boxes), text),
                     "boxes are rows: FLOAT [n, 4], or [n, 6] with a bbox_layout of six letters");
  GALATEA_TRY(check_layouts(ctx, layout->dims));
  GALATEA_TRY(check_fixed_window(ctx));
  GALATEA_TRY(check_search(ctx, layout->dims));
  const auto made = [](DType dtype, std::vector<int64_t> extents) {
    ir::Type type;
    type.dtype = dtype;
    type.ndim = static_cast<int>(extents.size());
    type.extents = std::move(extents);
    return type;
  };
  std::vector<ir::Type> out = {made(DType::kF32, {layout->dims}), made(DType::kF32, {layout->dims}),
                               made(DType::kF32, {-1, 2 * layout->dims})};
  if (ctx.num_inputs() > 1) {
    const ir::Type& labels = ctx.input(1);
    if (labels.ndim != 1 && labels.ndim != 2)
      return ctx.error(fmt::format("random_bbox_crop: {} are no labels: one row a box", describe(labels)),
                       "labels are INT32 [n] or [n, k]");
    std::vector<int64_t> extents = labels.extents;
    extents[0] = -1;
    out.push_back(made(DType::kI32, std::move(extents)));
  }
  if (ctx.flag("output_bbox_indices")) out.push_back(made(DType::kI32, {-1}));
  return out;
}

native::BboxCropOptions crop_options(const RecipeBuilder& b, const native::BoxLayout& layout) {
  native::BboxCropOptions options;
  options.layout = layout;
  options.thresholds = b.numbers("thresholds");
  options.overlap = b.text("threshold_type") == "overlap";
  options.all_above = b.flag("all_boxes_above_threshold");
  options.allow_no_crop = may_be_whole(b);
  options.attempts = b.integer("num_attempts");
  options.total_attempts = b.integer("total_num_attempts");
  options.ratios.clear();
  const std::vector<double> ratios = b.numbers("aspect_ratio"), scaling = b.numbers("scaling");
  for (size_t n = 0; n + 1 < ratios.size(); n += 2) options.ratios.push_back({ratios[n], ratios[n + 1]});
  options.scaling = {scaling[0], scaling[1]};
  if (b.given("bbox_prune_threshold")) options.prune = b.number("bbox_prune_threshold");
  options.fixed = b.given("crop_shape");
  return options;
}

/// Extents that an argument gives, along x, y, z; 1 where it is not given.
std::vector<Expr> sides_of(RecipeBuilder& b, const char* name, int dims) {
  if (!b.given(name)) return std::vector<Expr>(static_cast<size_t>(dims), i64(1));
  const std::vector<Expr> given = list_arg(b, name, dims, DType::kI64);
  const std::string sides = sides_layout(b, dims);
  std::vector<Expr> out;
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    out.push_back(given[sides.find("WHD"[d])]);
    b.check((out.back() > i64(0)) & (out.back() < i64(int64_t{1} << 24)),
            fmt::format("{} must be positive and below 2^24, not {{}}", name), {out.back()}, {}, name);
  }
  return out;
}

void define_random_bbox_crop(RecipeBuilder& b) {
  const std::string text = boxes_layout(b);
  const native::BoxLayout layout = *native::BoxLayout::parse(text);
  const int dims = layout.dims;
  const Expr numbers = b.extent(0, 1), boxes = b.extent(0, 0);
  b.check(equal(numbers, i64(int64_t{2} * dims)),
          fmt::format("a box of layout {} has {} numbers, not {{}}", text, 2 * dims), {numbers});
  const bool labelled = b.num_inputs() > 1;
  if (labelled)
    b.check(equal(b.extent(1, 0), boxes), "there are {} labels for {} boxes", {b.extent(1, 0), boxes});
  std::vector<Expr> crop = sides_of(b, "crop_shape", dims), picture = sides_of(b, "input_shape", dims);
  BboxWindow window(b, 0, crop_options(b, layout), std::move(crop), std::move(picture));
  b.output_scalars(0, window.anchor());
  b.output_scalars(1, window.shape());
  window.output_boxes(2);
  int next = 3;
  if (labelled) window.output_rows(next++, 1);
  if (b.flag("output_bbox_indices")) window.output_numbers(next);
}

std::vector<ArgSpec> random_bbox_crop_args() {
  return {
      {.name = "thresholds",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.0},
       .documentation =
           "What a window must reach, in [0, 1]; one of them is drawn for num_attempts windows."},
      {.name = "threshold_type",
       .kind = ArgKind::kString,
       .default_value = std::string("iou"),
       .documentation =
           "What is measured: \"iou\", a box's intersection with the window over their union, or "
           "\"overlap\", over the box."},
      {.name = "all_boxes_above_threshold",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether all boxes must reach the threshold; else one must."},
      {.name = "allow_no_crop",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether the whole picture is one more choice beside the thresholds. False with "
                        "crop_shape."},
      {.name = "num_attempts",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "How many windows are drawn for a threshold before another one is."},
      {.name = "total_num_attempts",
       .kind = ArgKind::kInt,
       .default_value = int64_t{-1},
       .documentation =
           "After so many windows the best one is taken. -1: there is no limit, but 100,000 windows "
           "in vain are the sample's error."},
      {.name = "aspect_ratio",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{1.0, 1.0},
       .documentation = "Range of width / height of the window, in pixels if input_shape is given, else of "
                        "fractions. With three axes one range for x/y, x/z and y/z, or three."},
      {.name = "scaling",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{1.0, 1.0},
       .documentation = "Range of each extent of the window, as a fraction of the picture's."},
      {.name = "crop_shape",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Extents of the window in pixels, in the order of shape_layout; needs input_shape, "
                        "excludes scaling and aspect_ratio."},
      {.name = "input_shape",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Extents of the picture in pixels, in the order of shape_layout."},
      {.name = "bbox_layout",
       .kind = ArgKind::kLayout,
       .documentation =
           "Numbers of a box: starts x, y, z with ends X, Y, Z or extents W, H, D, in any order. "
           "\"xyXY\" if not given."},
      {.name = "shape_layout",
       .kind = ArgKind::kLayout,
       .documentation = "Order of crop_shape and input_shape; \"WH\" or \"WHD\" if not given."},
      {.name = "bbox_prune_threshold",
       .kind = ArgKind::kFloat,
       .documentation =
           "The share of a box that must lie in the window for the box to be left, in [0, 1]. If "
           "not given, its centre must."},
      {.name = "ltrb",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Deprecated: False is bbox_layout=\"xyWH\"."},
      {.name = "output_bbox_indices",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether the numbers of the boxes that are left are the last output."},
      ignored("quiet", ArgKind::kBool, false, "Nothing is printed here."),
  };
}

}  // namespace

Operator make_random_bbox_crop() {
  Operator op;
  op.name = "random_bbox_crop";
  op.summary = "A random window that leaves enough of an image's boxes.";
  op.documentation =
      "One of the thresholds is drawn, or with allow_no_crop the whole picture. Up to num_attempts windows "
      "follow: extents uniform in scaling (where a ratio is one number, the others follow an axis drawn by "
      "chance, and the largest extent stays), ratios in aspect_ratio, the place uniform; with crop_shape the "
      "place in whole pixels. The first window whose measure over all boxes reaches the threshold, and that "
      "leaves a box, is taken; else another threshold is drawn. A window larger than the picture covers it. "
      "Outputs: anchor and shape, FLOAT, x first, fractions of the picture or, with crop_shape, pixels; the "
      "boxes that are left, clipped, as fractions of the window; their labels; their numbers. Cropping by "
      "IoU is that of SSD (Liu et al. 2016, section 2.2). fn.slice takes anchor and shape.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "boxes",
                .documentation = "FLOAT [n, 4] or [n, 6], in [0, 1], as bbox_layout says",
                .dtypes = {DType::kF32},
                .ndim = 2},
               {.name = "labels",
                .documentation = "INT32 [n] or [n, k], a row for each box",
                .dtypes = {DType::kI32},
                .optional = true}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.output_needs = {"", "", "", "labels", "output_bbox_indices"};
  op.args = random_bbox_crop_args();
  op.random = true;
  op.example =
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], shape=[2, 4])\n"
      "encoded, label = fn.readers.file(file_root=data)\n"
      "anchor, shape, left = fn.random_bbox_crop(boxes, thresholds=[0.1, 0.3], scaling=[0.3, 1.0],\n"
      "                                          aspect_ratio=[0.5, 2.0], total_num_attempts=50)\n"
      "return fn.slice(fn.decoders.image(encoded), anchor, shape), left\n";
  op.type_rule = random_bbox_crop_types;
  op.define = define_random_bbox_crop;
  return op;
}

}  // namespace galatea::ops
