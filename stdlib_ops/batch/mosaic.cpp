// galatea.mosaic: four pictures of the batch as one, with their boxes and labels.
//
// Comes in: a picture, and perhaps its boxes and their labels. Goes out: a canvas with this picture and three others
// around a point that is drawn, the boxes that can be seen of them, and the labels of those.
//
// A call is mosaic.partners, which says who the others are, permute_batch for each of them and each input, and
// mosaic.tiles, which draws the point. What becomes of boxes is stdlib_ops/native/mosaic_boxes.h.
#include <array>
#include <cmath>

#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/native/mosaic_boxes.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int kMosaicTiles = 4;
/// f32 holds every place of such a canvas.
constexpr int64_t kMostMosaicSide = 1 << 24;

/// Elements of the node's stream: the partners, then the point, down and across.
constexpr int64_t kPartnerDraw = 0, kMeetingDraw = kPartnerDraw + kMosaicTiles - 1;

Status check_mosaic_canvas(const TypeContext& ctx) {
  GALATEA_TRY(check_length(ctx, "size", 2));
  if (given_static(ctx, "size"))
    for (const int64_t side : ctx.integers("size"))
      if (side < 1 || side > kMostMosaicSide)
        return ctx.error(fmt::format("{}: size has {}", ctx.op().name, side),
                         "give height and width in pixels, 1 or more", "size");
  const int64_t ends = length_of(ctx, "center_range");
  if (ends >= 0 && ends != 2)
    return ctx.error(fmt::format("{}: center_range has {} numbers", ctx.op().name, ends),
                     "give the least and the largest place, as fractions of the canvas", "center_range");
  if (!ctx.is_per_sample("center_range")) {
    const std::vector<double> range = ctx.numbers("center_range");
    if (!(range[0] >= 0 && range[0] <= range[1] && range[1] <= 1))
      return ctx.error(fmt::format("{}: center_range is ({}, {})", ctx.op().name, range[0], range[1]),
                       "use 0 <= low <= high <= 1, fractions of the canvas", "center_range");
  }
  GALATEA_TRY(check_fill_value(ctx));
  return {};
}

Status check_mosaic_boxes(const TypeContext& ctx, const ir::Type& boxes) {
  const std::string text = ctx.text("bbox_layout");
  const auto layout = native::BoxLayout::parse(text);
  if (!layout || layout->dims != 2)
    return ctx.error(fmt::format("{}: \"{}\" is no layout of boxes in a plane", ctx.op().name, text),
                     "name x, y, and of each the end X, Y or the extent W, H: xyXY, xyWH", "bbox_layout");
  if (boxes.extents[1] >= 0 && boxes.extents[1] != 4)
    return ctx.error(fmt::format("{}: {} are no boxes of layout {}", ctx.op().name, describe(boxes), text),
                     "boxes are rows: FLOAT [n, 4]");
  if (const double least = ctx.number("min_visible"); !(least >= 0 && least <= 1))
    return ctx.error(fmt::format("{}: min_visible is {}", ctx.op().name, least), "use a number from 0 to 1",
                     "min_visible");
  if (ctx.input(0).device == ir::Device::kGpu)
    return ctx.error(
        fmt::format("{}: boxes are moved on the CPU, and the picture lies on the GPU", ctx.op().name),
        "make the mosaic on the CPU, and move it with .gpu()");
  return {};
}

/// `pictures`: how many there are of each input.
Types mosaic_types(const TypeContext& ctx, int pictures) {
  GALATEA_TRY(check_mosaic_canvas(ctx));
  ir::Type canvas = ctx.input(0);
  if (!(canvas.layout.contains('H') && canvas.layout.contains('W')))
    return ctx.error(
        fmt::format("{}: the picture has no axes H and W; it is {}", ctx.op().name, describe(canvas)),
        "name the axes: fn.reshape(x, layout=\"HWC\")");
  const ImageAxes at = image_axes(canvas.layout);
  const bool is_known = !ctx.is_per_sample("size");
  const std::vector<int64_t> size = is_known ? ctx.integers("size") : std::vector<int64_t>{-1};
  canvas.extents[static_cast<size_t>(at.h)] = size.front();
  canvas.extents[static_cast<size_t>(at.w)] = size.back();
  std::vector<ir::Type> types{canvas};
  if (ctx.num_inputs() > pictures) {
    GALATEA_TRY(check_mosaic_boxes(ctx, ctx.input(pictures)));
    types.push_back(
        {.dtype = DType::kF32, .ndim = 2, .layout = {}, .device = ir::Device::kCpu, .extents = {-1, 4}});
  }
  if (ctx.num_inputs() > 2 * pictures) {
    ir::Type labels = ctx.input(2 * pictures);
    if (labels.ndim != 1 && labels.ndim != 2)
      return ctx.error(fmt::format("{}: {} are no labels: one row a box", ctx.op().name, describe(labels)),
                       "labels are INT32 [n] or [n, k]");
    labels.extents[0] = -1;
    labels.layout = {};
    types.push_back(labels);
  }
  return types;
}

/// Inputs: four pictures, then four tensors of boxes, then four of labels.
class Mosaic {
 public:
  explicit Mosaic(RecipeBuilder& b) : b_(b), at_(image_axes(b.input_layout(0))), extents_(b.extents(0)) {
    const std::vector<Expr> size = list_arg(b, "size", 2, DType::kI64);
    const std::vector<Expr> range = list_arg(b, "center_range", 2, DType::kF32);
    b.check((range[0] >= f32(0)) & (range[0] <= range[1]) & (range[1] <= f32(1)), "center_range is ({}, {})",
            {range[0], range[1]}, "use 0 <= low <= high <= 1, fractions of the canvas", "center_range");
    for (size_t d = 0; d < 2; ++d) {
      b.check((size[d] >= i64(1)) & (size[d] <= i64(kMostMosaicSide)), "size has {}", {size[d]},
              "give height and width in pixels, 1 or more", "size");
      canvas_[d] = extents_[dim(d)] = size[d];
      const Expr drawn = b.random_unit(i64(kMeetingDraw + static_cast<int64_t>(d)));
      const Expr part = kernel::min(kernel::fma(drawn, range[1] - range[0], range[0]), range[1]);
      centre_[d] = to_i64(part * to_f32(size[d]));
    }
    for (int k = 0; k < kMosaicTiles; ++k) {
      const std::array<bool, 2> is_before = {k < 2, k % 2 == 0};
      for (size_t d = 0; d < 2; ++d)
        start_[static_cast<size_t>(k)][d] =
            is_before[d] ? centre_[d] - b.extent(k, static_cast<int>(dim(d))) : centre_[d];
      for (int d = 0; d < b.input_type(0).ndim; ++d) {
        if (k == 0 || d == at_.h || d == at_.w) continue;
        b.check(equal(b.extent(0, d), b.extent(k, d)),
                "an extent is {} here and {} in another picture of the mosaic",
                {b.extent(0, d), b.extent(k, d)}, "pictures differ in height and width only");
      }
    }
  }

  void define() {
    output_canvas();
    if (b_.num_inputs() > kMosaicTiles) output_boxes();
  }

 private:
  size_t dim(size_t d) const { return static_cast<size_t>(d == 0 ? at_.h : at_.w); }

  void output_canvas() {
    std::vector<Expr> fill;
    for (const Expr& value : b_.arg_list("fill_value", b_.arg_length("fill_value"), DType::kF32))
      fill.push_back(kernel::saturate(value, b_.input_type(0).dtype));
    if (fill.size() > 1)
      b_.check(equal(b_.extent(0, at_.c), i64(static_cast<int64_t>(fill.size()))),
               fmt::format("{} values of fill_value for {{}} channels", fill.size()), {b_.extent(0, at_.c)},
               "give one number, or one per channel", "fill_value");
    b_.output_stage(0, b_.map("mosaic", b_.output_type(0).dtype, extents_, [&](const Axes& at) {
      std::array<Expr, kMosaicTiles> pixels;
      const Expr beside = fill.size() == 1 ? fill[0] : choose(at[static_cast<size_t>(at_.c)], fill);
      for (int k = 0; k < kMosaicTiles; ++k) {
        Axes from = at;
        Expr inside = truth(true);
        for (size_t d = 0; d < 2; ++d) {
          Expr& i = from[dim(d)];
          i = at[dim(d)] - start_[static_cast<size_t>(k)][d];
          inside = inside & (i >= i64(0)) & (i < b_.extent(k, static_cast<int>(dim(d))));
        }
        pixels[static_cast<size_t>(k)] =
            select(inside, b_.load(k, std::move(from), Border::kConstant, Cell{}), beside);
      }
      const Expr is_above = at[dim(0)] < centre_[0], is_left = at[dim(1)] < centre_[1];
      return select(is_above, select(is_left, pixels[0], pixels[1]), select(is_left, pixels[2], pixels[3]));
    }));
  }

  void output_boxes() {
    const bool is_labelled = b_.num_inputs() > 2 * kMosaicTiles;
    std::vector<Expr> scalars;
    std::vector<int> boxes, rows;
    for (int k = 0; k < kMosaicTiles; ++k) {
      const auto& start = start_[static_cast<size_t>(k)];
      for (const size_t d : {size_t{1}, size_t{0}}) scalars.push_back(b_.extent(k, static_cast<int>(dim(d))));
      for (const size_t d : {size_t{1}, size_t{0}}) scalars.push_back(start[d]);
      const int of = kMosaicTiles + k, labels = 2 * kMosaicTiles + k;
      b_.check(equal(b_.extent(of, 1), i64(4)), "a box has 4 numbers, not {}", {b_.extent(of, 1)});
      boxes.push_back(of);
      if (!is_labelled) continue;
      b_.check(equal(b_.extent(labels, 0), b_.extent(of, 0)), "there are {} labels for {} boxes",
               {b_.extent(labels, 0), b_.extent(of, 0)});
      if (b_.input_type(labels).ndim == 2)
        b_.check(equal(b_.extent(labels, 1), b_.extent(2 * kMosaicTiles, 1)),
                 "a label has {} numbers here and {} in another picture of the mosaic",
                 {b_.extent(2 * kMosaicTiles, 1), b_.extent(labels, 1)});
      rows.push_back(labels);
    }
    scalars.insert(scalars.end(), {canvas_[1], canvas_[0]});
    const std::string config =
        fmt::format("{{\"layout\": \"{}\", \"normalized\": {}, \"least_visible\": {}}}",
                    b_.text("bbox_layout"), b_.flag("bbox_normalized"), b_.number("min_visible"));
    const Expr left =
        b_.native_scalars(native::kMosaicCountBoxes, boxes, scalars, config, {DType::kI64}).front();
    const auto made = [&](const char* function, std::vector<int> inputs, const char* makes) {
      op::NativeOutput native;
      native.function = function;
      native.inputs = std::move(inputs);
      native.scalars = scalars;
      native.config = config;
      native.makes = makes;
      return native;
    };
    b_.output_native(1, made(native::kMosaicBoxes, boxes, "boxes"), {left, i64(4)});
    if (!is_labelled) return;
    std::vector<Expr> extents = b_.extents(2 * kMosaicTiles);
    extents[0] = left;
    std::vector<int> all = boxes;
    all.insert(all.end(), rows.begin(), rows.end());
    b_.output_native(2, made(native::kMosaicRows, std::move(all), "labels"), std::move(extents));
  }

  RecipeBuilder& b_;
  const ImageAxes at_;
  Axes extents_;                         ///< of the canvas
  std::array<Expr, 2> canvas_, centre_;  ///< rows, columns
  std::array<std::array<Expr, 2>, kMosaicTiles>
      start_;  ///< where each picture begins: rows, columns of the canvas
};

Result<std::optional<ir::NodeId>> expand_mosaic(const op::Expansion& expansion) {
  const op::GraphBuilder::NodeSpec& call = expansion.call;
  GALATEA_ASSIGN(const ir::ValueId first, expansion.add("mosaic.partners", {}, {}));
  const ir::Graph& graph = expansion.builder.graph();
  const std::vector<ir::ValueId> partners = graph.node(graph.value(first).node).outputs;
  std::vector<ir::ValueId> inputs;
  for (int k = 0; k < op::num_own_inputs(call.inputs, call.args); ++k) {
    const ir::ValueId own = call.inputs[static_cast<size_t>(k)];
    inputs.push_back(own);
    for (const ir::ValueId place : partners) {
      GALATEA_ASSIGN(const ir::ValueId other,
                     expansion.add("permute_batch", {own}, {{"indices", place, {}}}));
      inputs.push_back(other);
    }
  }
  std::vector<ir::Arg> args = call.args;
  std::erase_if(args, [](const ir::Arg& arg) { return arg.name == op::kPerFrameArg; });  // said anew
  GALATEA_ASSIGN(const ir::ValueId result, expansion.add("mosaic.tiles", std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(result).node;
}

std::vector<Port> mosaic_ports() {
  return {{.name = "image",
           .documentation = "a picture, a sequence or a volume, with axes named H and W",
           .dtypes = {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kF16,
                      DType::kF32}},
          {.name = "boxes",
           .documentation = "FLOAT [n, 4], as bbox_layout says; a box ends behind its start",
           .dtypes = {DType::kF32},
           .ndim = 2,
           .optional = true,
           .any_device = true},
          {.name = "labels",
           .documentation = "INT32 [n] or [n, k], a row for each box",
           .dtypes = {DType::kI32},
           .optional = true,
           .any_device = true}};
}

Operator make_mosaic(std::string name) {
  Operator op;
  op.name = std::move(name);
  op.args = {
      {.name = "size",
       .kind = ArgKind::kIntList,
       .required = true,
       .per_sample = true,
       .documentation = "Height and width of the canvas in pixels, or one number for both."},
      {.name = "center_range",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.25, 0.75},
       .per_sample = true,
       .documentation =
           "Where the pictures meet, down and across: low and high, as fractions of the canvas."},
      {.name = "fill_value",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{114.0},
       .documentation = "What no picture covers, converted to their type: one value, or one per channel. "
                        "114 is the grey of YOLO."},
      bbox_layout_arg(),
      bbox_normalized_arg("their picture, and then of the canvas"),
      {.name = "min_visible",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation = "The share of its area that must lie on the canvas for a box to be left, 0 to 1; "
                        "without area none is."}};
  op.random = true;
  op.devices = {"cpu", "gpu"};
  return op;
}

}  // namespace

Operator make_galatea_mosaic() {
  Operator op = make_mosaic("galatea.mosaic");
  op.summary = "Makes one picture of each sample and three others of its batch, with their boxes.";
  op.documentation =
      "The pictures meet at a point (cy, cx) of the canvas, each of them trunc(u extent) with u uniform in "
      "center_range: that of the sample itself lies above and to the left of it, those of three others to the right, "
      "below, and below to the right. Each has its corner at the point and its own size, and what reaches beyond the "
      "canvas is cut off: resize before, as YOLO does to half of the canvas (Bochkovskiy et al., \"YOLOv4\", 2020, "
      "section 3.4). The others are drawn one by one from the rest of the batch, and may be the same. Boxes are "
      "moved, clipped, and left by min_visible, in f64: first those of the sample itself, then those of the others; "
      "with their labels. See docs/batches.md.";
  op.inputs = mosaic_ports();
  op.min_inputs = 1;
  op.max_inputs = 3;
  op.output_needs = {"", "boxes", "labels"};
  op.sees_batch = [](const ir::Node&) { return true; };
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "image = fn.resize(fn.decoders.image(encoded), size=[64, 64], mode=\"not_larger\")\n"
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], shape=[2, 4])\n"
      "classes = fn.constant(idata=[3, 7], shape=[2])\n"
      "image, boxes, classes = fn.galatea.mosaic(image, boxes, classes, size=[128, 128], min_visible=0.1)\n"
      "return image, boxes, classes, label\n";
  op.type_rule = [](const TypeContext& ctx) { return mosaic_types(ctx, 1); };
  op.expand = expand_mosaic;
  return op;
}

Operator make_mosaic_partners() {
  Operator op;
  op.name = "mosaic.partners";
  op.summary = "Places of three other samples of the batch.";
  op.documentation = "As the first step of galatea.mosaic; draws them, each by itself.";
  op.internal = true;
  op.random = true;
  op.sees_batch = [](const ir::Node&) { return true; };
  op.type_rule = [](const TypeContext&) -> Types {
    ir::Type place;
    place.dtype = DType::kI32;
    return std::vector<ir::Type>(kMosaicTiles - 1, place);
  };
  op.define = [](RecipeBuilder& b) {
    std::vector<Expr> draws;
    for (int k = 0; k < kMosaicTiles - 1; ++k) draws.push_back(to_i64(b.random_u32(i64(kPartnerDraw + k))));
    const std::vector<Expr> places =
        b.over_batch(std::vector<runtime::BatchOp>(draws.size(), runtime::BatchOp::kPickOther), draws);
    for (int k = 0; k < kMosaicTiles - 1; ++k)
      b.output_scalars(k, {kernel::saturate(places[static_cast<size_t>(k)], DType::kI32)});
  };
  return op;
}

Operator make_mosaic_tiles() {
  Operator op = make_mosaic("mosaic.tiles");
  op.summary = "Four pictures as one, with their boxes and labels.";
  op.documentation = "As the last step of galatea.mosaic; draws where they meet.";
  for (const Port& port : mosaic_ports())
    for (int k = 0; k < kMosaicTiles; ++k) {
      op.inputs.push_back(port);
      if (k > 0) op.inputs.back().name = fmt::format("{}_{}", port.name, k);
    }
  op.min_inputs = kMosaicTiles;
  op.max_inputs = 3 * kMosaicTiles;
  op.internal = true;
  op.type_rule = [](const TypeContext& ctx) { return mosaic_types(ctx, kMosaicTiles); };
  op.define = [](RecipeBuilder& b) { Mosaic(b).define(); };
  return op;
}

}  // namespace galatea::ops
