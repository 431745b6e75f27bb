// ssd_random_crop: a random window of an image that leaves enough of its boxes, cut out.
//
// Comes in: an image, its boxes and their labels. Goes out: the window; the boxes that are left, and their
// labels.
//
// A call is two nodes: ssd_random_crop.window finds the window of the boxes alone, before anything is decoded,
// and ssd_random_crop.cut is a view of the image, so that a decoder makes no more than it.
#include "stdlib_ops/common/bbox_window.h"
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostAttempts = 10'000;

Types ssd_random_crop_types(const TypeContext& ctx) {
  ir::Type image = ctx.input(0), boxes = ctx.input(1), labels = ctx.input(2);
  image.layout = ctx.input_layout(0);
  const ImageAxes axes = image_axes(image.layout);
  if (axes.h < 0 || axes.w < 0)
    return ctx.error(fmt::format("ssd_random_crop: {} has no axes H and W", describe(ctx.input(0))),
                     "name the axes: fn.reshape(x, layout=\"HWC\")");
  if (boxes.extents[1] >= 0 && boxes.extents[1] != kBoxNumbers)
    return ctx.error(fmt::format("ssd_random_crop: {} holds no boxes of four numbers", describe(boxes)),
                     "boxes are rows: FLOAT [n, 4], left, top, right, bottom");
  if (labels.ndim != 1 && labels.ndim != 2)
    return ctx.error(fmt::format("ssd_random_crop: {} are no labels: one row a box", describe(labels)),
                     "labels are INT32 [n] or [n, k]");
  const int64_t attempts = ctx.integer("num_attempts");
  if (attempts < 0 || attempts > kMostAttempts)
    return ctx.error(
        fmt::format("ssd_random_crop: num_attempts must lie in [0, {}], not {}", kMostAttempts, attempts), {},
        "num_attempts");
  for (const int axis : {axes.h, axes.w}) image.extents[static_cast<size_t>(axis)] = -1;
  boxes.extents = {-1, kBoxNumbers};
  labels.extents[0] = -1;
  return std::vector{image, boxes, labels};
}

Types window_types(const TypeContext& ctx) {
  ir::Type corner, boxes = ctx.input(0), labels = ctx.input(1);
  corner.dtype = DType::kF32;
  corner.ndim = 1;
  corner.extents = {2};
  boxes.extents = {-1, kBoxNumbers};
  labels.extents[0] = -1;
  return std::vector{corner, corner, boxes, labels};
}

void define_window(RecipeBuilder& b) {
  const Expr numbers = b.extent(0, 1), boxes = b.extent(0, 0), labels = b.extent(1, 0);
  b.check(equal(numbers, i64(kBoxNumbers)), "a box has 4 numbers, not {}", {numbers},
          "boxes are rows: left, top, right, bottom");
  b.check(equal(labels, boxes), "there are {} labels for {} boxes", {labels, boxes});
  const std::vector<Expr> unit = {i64(1), i64(1)};
  BboxWindow window(b, 0, native::ssd_crop_options(b.integer("num_attempts")), unit, unit);
  b.output_scalars(0, window.anchor());
  b.output_scalars(1, window.shape());
  window.output_boxes(2);
  window.output_rows(3, 1);
}

Types cut_types(const TypeContext& ctx) {
  ir::Type image = ctx.input(0);
  image.layout = ctx.input_layout(0);
  const ImageAxes axes = image_axes(image.layout);
  for (const int axis : {axes.h, axes.w}) image.extents[static_cast<size_t>(axis)] = -1;
  return std::vector{image, ctx.input(3), ctx.input(4)};
}

/// Output k is input `input` as it is.
void output_same(RecipeBuilder& b, int k, int input) {
  const int ndim = b.input_type(input).ndim;
  std::vector<int> dims;
  for (int d = 0; d < ndim; ++d) dims.push_back(d);
  b.output_view(k, input, b.extents(input), dims, Axes(dims.size(), i64(0)), Axes(dims.size(), i64(1)));
}

void define_cut(RecipeBuilder& b) {
  const ir::Type& image = b.output_type(0);
  const ImageAxes axes = image_axes(image.layout);
  std::vector<AxisRange> ranges;
  for (int d = 0; d < image.ndim; ++d) {
    const Expr extent = b.extent(0, d);
    ranges.push_back({i64(0), extent});
    if (d != axes.h && d != axes.w) continue;
    const int along = d == axes.w ? 0 : 1;
    const Expr anchor = to_f64(b.element(1, along)), length = to_f64(extent);
    const Expr start = round_to_i64(anchor * length),
               end = round_to_i64((anchor + to_f64(b.element(2, along))) * length);
    ranges.back() = apply_bounds(b, {start, end - start}, extent, BoundsPolicy::kTrim, image.layout[d]);
  }
  output_window(b, ranges, BoundsPolicy::kTrim, axes.c);
  output_same(b, 1, 3);
  output_same(b, 2, 4);
}

Result<std::optional<ir::NodeId>> expand_ssd_random_crop(const op::Expansion& expansion) {
  const op::GraphBuilder::NodeSpec& call = expansion.call;
  GALATEA_ASSIGN(const ir::ValueId anchor,
                 expansion.add("ssd_random_crop.window", {call.inputs[1], call.inputs[2]}, call.args));
  const ir::Graph& graph = expansion.builder.graph();
  std::vector<ir::ValueId> inputs = graph.node(graph.value(anchor).node).outputs;
  inputs.insert(inputs.begin(), call.inputs[0]);
  GALATEA_ASSIGN(const ir::ValueId image, expansion.add("ssd_random_crop.cut", std::move(inputs), {}));
  return graph.value(image).node;
}

Port crop_boxes_port() {
  return {.name = "boxes",
          .documentation = "FLOAT [n, 4]: left, top, right, bottom, in [0, 1]",
          .dtypes = {DType::kF32},
          .ndim = 2};
}
Port labels_port() {
  return {
      .name = "labels", .documentation = "INT32 [n] or [n, k], a row for each box", .dtypes = {DType::kI32}};
}
Port image_port() {
  return {.name = "image", .documentation = "an image, a sequence or a volume, with axes named H and W"};
}

std::vector<ArgSpec> ssd_args() {
  return {{.name = "num_attempts",
           .kind = ArgKind::kInt,
           .default_value = int64_t{1},
           .documentation = "How many windows are drawn for a threshold before another one is, 0 to 10,000. "
                            "With 0 the image stays whole."}};
}

}  // namespace

Operator make_ssd_random_crop() {
  Operator op;
  op.name = "ssd_random_crop";
  op.summary = "A random window of an image that leaves enough of its boxes, cut out (of SSD).";
  op.documentation =
      "As fn.random_bbox_crop(boxes, labels, thresholds=[0.1, 0.3, 0.5, 0.7, 0.9, 0.0], scaling=[0.3, 1.0], "
      "aspect_ratio=[0.5, 2.0], num_attempts=num_attempts) and fn.slice of the image: that the image is left "
      "whole is as likely as each threshold (Liu et al. 2016, section 2.2). Edges of the window are rounded "
      "to the nearest pixel. Of an image without boxes all is left, and of one that 100,000 windows do not "
      "suit. Outputs: the image; FLOAT [k, 4], what is left of the boxes, as fractions of the window; their "
      "labels. fn.random_bbox_crop has more arguments, and finds its window before anything is decoded.";
  op.inputs = {image_port(), crop_boxes_port(), labels_port()};
  op.min_inputs = op.max_inputs = 3;
  op.output_needs = {"", "", ""};
  op.args = ssd_args();
  op.random = true;
  op.example =
      "encoded, label = fn.readers.file(file_root=data)\n"
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], shape=[2, 4])\n"
      "labels = fn.constant(idata=[3, 7], shape=[2])\n"
      "image, boxes, labels = fn.ssd_random_crop(fn.decoders.image(encoded), boxes, labels)\n"
      "return fn.resize(image, size=[64, 64]), boxes, labels\n";
  op.type_rule = ssd_random_crop_types;
  op.expand = expand_ssd_random_crop;
  return op;
}

Operator make_ssd_random_crop_window() {
  Operator op;
  op.name = "ssd_random_crop.window";
  op.summary = "The window that ssd_random_crop cuts out.";
  op.documentation =
      "As a step of fn.ssd_random_crop: anchor and shape, x first; boxes and labels that are left.";
  op.kind = OperatorKind::kNative;
  op.inputs = {crop_boxes_port(), labels_port()};
  op.min_inputs = op.max_inputs = 2;
  op.args = ssd_args();
  op.random = true;
  op.internal = true;
  op.type_rule = window_types;
  op.define = define_window;
  return op;
}

Operator make_ssd_random_crop_cut() {
  Operator op;
  op.name = "ssd_random_crop.cut";
  op.summary = "Cuts out the window of ssd_random_crop.";
  op.documentation = "As the last step of fn.ssd_random_crop; boxes and labels pass through.";
  op.inputs = {image_port(),
               {.name = "anchor", .documentation = "FLOAT [2], x and y"},
               {.name = "shape", .documentation = "FLOAT [2], width and height"},
               crop_boxes_port(),
               labels_port()};
  op.min_inputs = op.max_inputs = 5;
  op.internal = true;
  op.type_rule = cut_types;
  op.define = define_cut;
  return op;
}

}  // namespace galatea::ops
