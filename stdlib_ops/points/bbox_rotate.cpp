// bbox_rotate: boxes of an image that fn.rotate turns.
//
// Comes in: boxes, and perhaps labels. Goes out: the boxes that are left on the canvas, and their labels. The
// numbers are stdlib_ops/native/bbox_rotate.h.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "stdlib_ops/common/points.h"
#include "stdlib_ops/common/turn.h"
#include "stdlib_ops/common/warp.h"
#include "stdlib_ops/native/bbox_rotate.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMostTurnedSide = int64_t{1} << 24;

/// What share of the hull's excess a mode takes off.
std::optional<double> shrink_of(std::string_view mode) {
  if (mode == "expand") return 0;
  if (mode == "halfway") return 0.5;
  if (mode == "fixed") return 1;
  return std::nullopt;
}

Status check_turn(const TypeContext& ctx) {
  if (!shrink_of(ctx.text("mode")))
    return ctx.error(fmt::format("bbox_rotate: mode is \"expand\", \"halfway\" or \"fixed\", not \"{}\"",
                                 ctx.text("mode")),
                     {}, "mode");
  const double threshold = ctx.number("remove_threshold");
  if (!(threshold >= 0 && threshold < 1))
    return ctx.error(fmt::format("bbox_rotate: remove_threshold must lie in [0, 1), not {}", threshold),
                     "0 keeps every box that has an area", "remove_threshold");
  if (ctx.given("size") && ctx.flag("keep_size"))
    return ctx.error("bbox_rotate: size and keep_size exclude each other", {}, "keep_size");
  GALATEA_TRY(check_warp_size(ctx));
  return {};
}

/// How many elements reach H and W.
int elements_needed(const std::string& layout) {
  return static_cast<int>(std::max(layout.find('H'), layout.find('W'))) + 1;
}

Status check_input_shape(const TypeContext& ctx) {
  const std::string layout = ctx.text("shape_layout");
  if (!layout.contains('H') || !layout.contains('W'))
    return ctx.error(fmt::format("bbox_rotate: shape_layout \"{}\" does not name H and W", layout), {},
                     "shape_layout");
  const int64_t length = length_of(ctx, "input_shape");
  if (length >= 0 && length < elements_needed(layout))
    return ctx.error(fmt::format("bbox_rotate: input_shape has {} element{}, shape_layout \"{}\" needs {}",
                                 length, length == 1 ? "" : "s", layout, elements_needed(layout)),
                     "give the image's extents, as image.shape() does", "input_shape");
  return {};
}

Types bbox_rotate_types(const TypeContext& ctx) {
  const std::string text = ctx.text("bbox_layout");
  const auto layout = native::BoxLayout::parse(text);
  if (!layout || layout->dims != 2)
    return ctx.error(fmt::format("bbox_rotate: \"{}\" is no layout of boxes in a plane", text),
                     "name x, y, and of each the end X, Y or the extent W, H: xyXY, xyWH", "bbox_layout");
  const ir::Type& boxes = ctx.input(0);
  if (boxes.extents[1] >= 0 && boxes.extents[1] != 4)
    return ctx.error(fmt::format("bbox_rotate: {} are no boxes of layout {}", describe(boxes), text),
                     "boxes are rows: FLOAT [n, 4]");
  GALATEA_TRY(check_turn(ctx));
  GALATEA_TRY(check_input_shape(ctx));
  ir::Type turned;
  turned.dtype = DType::kF32;
  turned.ndim = 2;
  turned.extents = {-1, 4};
  std::vector<ir::Type> out = {turned};
  if (ctx.num_inputs() > 1) {
    ir::Type labels = ctx.input(1);
    if (labels.ndim != 1 && labels.ndim != 2)
      return ctx.error(fmt::format("bbox_rotate: {} are no labels: one row a box", describe(labels)),
                       "labels are INT32 [n] or [n, k]");
    labels.extents[0] = -1;
    labels.layout = {};
    out.push_back(std::move(labels));
  }
  return out;
}

/// Height and width of the image; the argument may tell more of it.
std::array<Expr, 2> image_sides(RecipeBuilder& b) {
  const std::string layout = b.text("shape_layout");
  const int needed = elements_needed(layout);
  const ir::Arg* given = b.node().find_arg("input_shape");
  std::vector<Expr> numbers;
  if (given->is_value() && b.type_of(given->as_value()).static_volume() < 0) {
    const ir::ValueId value = given->as_value();
    const Expr length = b.extent_of(value, 0);
    b.check(length >= i64(needed),
            fmt::format("input_shape has {{}} elements, shape_layout needs {}", needed), {length}, {},
            "input_shape");
    for (int n = 0; n < needed; ++n)
      numbers.push_back(
          to_i64(kernel::symbol(kernel::SymbolKind::kElement, b.type_of(value).dtype, value, n)));
  } else {
    numbers = b.arg_list("input_shape", b.arg_length("input_shape"), DType::kI64);
  }
  std::array<Expr, 2> sides;
  for (size_t d = 0; d < 2; ++d) {
    sides[d] = numbers[layout.find("HW"[d])];
    b.check((sides[d] > i64(0)) & (sides[d] < i64(kMostTurnedSide)),
            "input_shape must be positive and below 2^24, not {}", {sides[d]}, {}, "input_shape");
  }
  return sides;
}

void define_bbox_rotate(RecipeBuilder& b) {
  const Expr boxes = b.extent(0, 0), numbers = b.extent(0, 1);
  b.check(equal(numbers, i64(4)), "a box has 4 numbers, not {}", {numbers});
  if (b.num_inputs() > 1)
    b.check(equal(b.extent(1, 0), boxes), "there are {} labels for {} boxes", {b.extent(1, 0), boxes});
  const auto [h, w] = image_sides(b);
  const Expr angle = b.arg("angle", DType::kF32);
  b.check(absolute(angle) <= f32(1e9), "the angle {} is no angle in degrees", {angle}, {}, "angle");
  // As in fn.rotate: whole turns go first, exactly.
  const Expr degrees = kernel::binary(ScalarOp::kRem, to_f64(angle), f64(360));
  const Expr radians = degrees * f64(std::numbers::pi / 180);
  const auto whole = turned_canvas(h, w, angle);
  const std::array<Expr, 2> canvas = b.given("size") ? warp_size(b)
                                     : b.flag("keep_size")
                                         ? std::array{h, w}
                                         : std::array{canvas_extent(whole[0]), canvas_extent(whole[1])};
  const std::vector<Expr> scalars = {kernel::unary(ScalarOp::kCos, radians),
                                     kernel::unary(ScalarOp::kSin, radians),
                                     w,
                                     h,
                                     canvas[1],
                                     canvas[0]};
  const std::string config =
      fmt::format("{{\"layout\": \"{}\", \"normalized\": {}, \"shrink\": {}, \"least_visible\": {}}}",
                  b.text("bbox_layout"), b.flag("bbox_normalized"), *shrink_of(b.text("mode")),
                  b.number("remove_threshold"));
  const Expr left = b.native_scalars(native::kBboxCountTurned, {0}, scalars, config, {DType::kI64}).front();
  const auto keep = [&](const char* function, std::vector<int> inputs, const char* makes) {
    op::NativeOutput native;
    native.function = function;
    native.inputs = std::move(inputs);
    native.scalars = scalars;
    native.config = config;
    native.makes = makes;
    return native;
  };
  b.output_native(0, keep(native::kBboxKeepTurned, {0}, "boxes"), {left, i64(4)});
  if (b.num_inputs() < 2) return;
  std::vector<Expr> extents = b.extents(1);
  extents[0] = left;
  b.output_native(1, keep(native::kBboxKeepTurnedRows, {0, 1}, "labels"), std::move(extents));
}

std::vector<ArgSpec> bbox_rotate_args() {
  return {
      {.name = "angle",
       .kind = ArgKind::kFloat,
       .required = true,
       .per_sample = true,
       .documentation = "Degrees; positive turns counter-clockwise, as in fn.rotate."},
      {.name = "input_shape",
       .kind = ArgKind::kIntList,
       .required = true,
       .per_sample = true,
       .documentation = "Extents of the image before it is turned, in pixels, in the order of shape_layout; "
                        "more may follow, as in image.shape()."},
      {.name = "shape_layout",
       .kind = ArgKind::kLayout,
       .default_value = std::string("HW"),
       .documentation = "Names of input_shape's elements; H and W are used."},
      bbox_layout_arg(),
      bbox_normalized_arg("the image, and then of the canvas"),
      {.name = "keep_size",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether the canvas has the extents of the image; excludes size."},
      {.name = "size",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Height and width of the canvas in pixels. If not given, the smallest canvas that "
                        "holds the turned image, that of fn.rotate."},
      {.name = "mode",
       .kind = ArgKind::kString,
       .default_value = std::string("expand"),
       .documentation = "\"expand\": the box around the turned box; \"fixed\": about the same centre, as "
                        "large as it was; \"halfway\" between the two."},
      {.name = "remove_threshold",
       .kind = ArgKind::kFloat,
       .default_value = 0.1,
       .documentation = "The share of a turned box that must lie on the canvas for the box to be left, in "
                        "[0, 1)."},
  };
}

}  // namespace

Operator make_bbox_rotate() {
  Operator op;
  op.name = "bbox_rotate";
  op.summary = "Boxes of an image that fn.rotate turns.";
  op.documentation =
      "In pixels from the image's centre, a box's centre (x, y) goes to (x cos a + y sin a, y cos a - x sin "
      "a) from the canvas's centre. The turned box of width w and height h has the hull |cos a| w + |sin a| "
      "h by |cos a| h + |sin a| w. With mode=\"fixed\" the result is w by h again, past 45 degrees h by w; "
      "with \"halfway\" it is the mean of both. What reaches beyond the canvas is cut off. A box is left if "
      "its area was not 0 and at least remove_threshold of it is there. In f64. Outputs: the boxes "
      "that are left, in bbox_layout, and their labels.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "bboxes",
                .documentation = "FLOAT [n, 4], as bbox_layout says; a box ends behind its start",
                .dtypes = {DType::kF32},
                .ndim = 2},
               {.name = "labels",
                .documentation = "INT32 [n] or [n, k], a row for each box",
                .dtypes = {DType::kI32},
                .optional = true}};
  op.min_inputs = 1;
  op.max_inputs = 2;
  op.output_needs = {"", "labels"};
  op.args = bbox_rotate_args();
  op.example =
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.6, 0.3, 0.3, 0.9, 1.0], shape=[2, 4])\n"
      "encoded, label = fn.readers.file(file_root=data)\n"
      "image = fn.decoders.image(encoded)\n"
      "angle = fn.random.uniform(range=[-30.0, 30.0])\n"
      "left = fn.bbox_rotate(boxes, angle=angle, input_shape=image.shape(), keep_size=True)\n"
      "return fn.rotate(image, angle=angle, keep_size=True), left\n";
  op.type_rule = bbox_rotate_types;
  op.define = define_bbox_rotate;
  return op;
}

}  // namespace galatea::ops
