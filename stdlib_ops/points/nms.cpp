// galatea.nms, galatea.batched_nms: of boxes that overlap, the best.
//
// Comes in: boxes, their scores, perhaps their classes. Goes out: rows of the boxes that are kept. The
// suppression is stdlib_ops/native/nms.h.
//
// The rows are the only output, as in torchvision: fn.galatea.take picks these rows of boxes, scores, labels and
// whatever else there is, so nothing of that has to pass through here.
#include <limits>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/nms.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr const char* kOverlapHelp = "it is an overlap, intersection over union, from 0 to 1";

Types nms_types(const TypeContext& ctx) {
  const std::string& name = ctx.op().name;
  const ir::Type& boxes = ctx.input(0);
  if (boxes.extents[1] >= 0 && boxes.extents[1] != 4)
    return ctx.error(fmt::format("{}: {} holds no boxes of four numbers", name, describe(boxes)),
                     "boxes are rows of left, top, right, bottom: FLOAT [n, 4]");
  for (int k = 1; k < ctx.num_inputs(); ++k) {
    const int64_t rows = ctx.input(k).extents[0];
    if (rows >= 0 && boxes.extents[0] >= 0 && rows != boxes.extents[0])
      return ctx.error(fmt::format("{}: boxes are {}, {} {}", name, describe(boxes),
                                   ctx.op().inputs[static_cast<size_t>(k)].name, describe(ctx.input(k))),
                       "there is one of them for each box");
  }
  if (given_static(ctx, "iou_threshold"))
    if (const double overlap = ctx.number("iou_threshold"); !(overlap >= 0 && overlap <= 1))
      return ctx.error(fmt::format("{}: iou_threshold is {}", name, overlap), kOverlapHelp, "iou_threshold");
  if (ctx.given("max_boxes") && ctx.integer("max_boxes") < 1)
    return ctx.error(fmt::format("{}: max_boxes is {}", name, ctx.integer("max_boxes")),
                     "give a positive number, or leave it out to keep all", "max_boxes");
  return std::vector{
      ir::Type{.dtype = DType::kI64, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {-1}}};
}

void define_nms(RecipeBuilder& b) {
  const Expr boxes = b.extent(0, 0);
  b.check(equal(b.extent(0, 1), i64(4)), "a box has 4 numbers, not {}", {b.extent(0, 1)},
          "boxes are rows of left, top, right, bottom");
  constexpr std::array kNames = {"boxes", "scores", "classes"};
  op::NativeOutput native;
  for (int k = 0; k < b.num_inputs(); ++k) {
    native.inputs.push_back(k);
    if (k > 0)
      b.check(equal(b.extent(k, 0), boxes),
              fmt::format("there are {{}} {} for {{}} boxes", kNames[static_cast<size_t>(k)]),
              {b.extent(k, 0), boxes});
  }
  const Expr overlap = b.arg("iou_threshold", DType::kF64);
  b.check((overlap >= f64(0)) & (overlap <= f64(1)), "iou_threshold is {}", {overlap}, kOverlapHelp,
          "iou_threshold");
  const Expr score = b.given("score_threshold") ? b.arg("score_threshold", DType::kF64)
                                                : f64(-std::numeric_limits<double>::infinity());
  b.check(equal(score, score), "score_threshold is {}", {score}, {}, "score_threshold");
  native.function = native::kBoxesNms;
  native.scalars = {overlap, score};
  native.config = fmt::format("{{\"max_boxes\": {}}}", b.given("max_boxes") ? b.integer("max_boxes") : -1);
  native.allocates = true;
  native.makes = "rows of boxes";
  b.output_native(0, std::move(native), {Expr()});
}

/// What both are; `classes` says whether boxes have some.
Operator suppression(const char* name, bool classes) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "boxes",
                .documentation = "FLOAT [n, 4]: left, top, right, bottom, in any unit",
                .dtypes = {DType::kF32},
                .ndim = 2},
               {.name = "scores", .documentation = "FLOAT [n]", .dtypes = {DType::kF32}, .ndim = 1}};
  if (classes)
    op.inputs.push_back({.name = "classes",
                         .documentation = "INT32 or INT64 [n], any numbers",
                         .dtypes = {DType::kI32, DType::kI64},
                         .ndim = 1});
  op.min_inputs = op.max_inputs = static_cast<int>(op.inputs.size());
  op.args = {
      {.name = "iou_threshold",
       .kind = ArgKind::kFloat,
       .required = true,
       .per_sample = true,
       .documentation = "A box goes whose intersection with a better one, by the union of both, is above "
                        "it. From 0 to 1."},
      {.name = "score_threshold",
       .kind = ArgKind::kFloat,
       .per_sample = true,
       .documentation = "Only boxes with a score above it count; all if not given."},
      {.name = "max_boxes",
       .kind = ArgKind::kInt,
       .documentation = "The best so many of what is kept; all if not given."}};
  op.type_rule = nms_types;
  op.define = define_nms;
  return op;
}

constexpr const char* kNmsDocumentation =
    "Boxes are taken in the order of their scores, of equal ones the first. Each that is left is kept, and "
    "those go whose intersection with it, by the union of both, is above iou_threshold: in f32, areas as "
    "(right - left) (bottom - top), so that two boxes without an area leave each other alone. The output is "
    "INT64 [k], rows of `boxes`, the best first; fn.galatea.take(x, kept) picks these rows of boxes, scores "
    "and labels. A coordinate that is not finite and a score that is not a number are the sample's error.";

}  // namespace

Operator make_galatea_nms() {
  Operator op = suppression("galatea.nms", false);
  op.summary = "Non-maximum suppression: of boxes that overlap, the best.";
  op.documentation = std::string(kNmsDocumentation) + " Numbers are those of torchvision.ops.nms.";
  op.example =
      "boxes = fn.constant(fdata=[0.0, 0.0, 9.0, 9.0, 1.0, 1.0, 9.0, 9.0, 20.0, 0.0, 30.0, 9.0], shape=[3, 4])\n"
      "scores = fn.random.uniform(range=[0.0, 1.0], shape=[3])\n"
      "kept = fn.galatea.nms(boxes, scores, iou_threshold=0.5)\n"
      "return fn.galatea.take(boxes, kept), fn.galatea.take(scores, kept)\n";
  return op;
}

Operator make_galatea_batched_nms() {
  Operator op = suppression("galatea.batched_nms", true);
  op.summary = "Non-maximum suppression among the boxes of each class.";
  op.documentation = std::string(kNmsDocumentation) +
                     " Boxes of different classes leave each other alone. Numbers are those of "
                     "torchvision.ops.nms class by class; its batched_nms moves the classes apart "
                     "in f32 where boxes are few, which may change the last bit of an overlap.";
  op.example =
      "boxes = fn.constant(fdata=[0.0, 0.0, 9.0, 9.0, 1.0, 1.0, 9.0, 9.0, 2.0, 1.0, 9.0, 9.0], shape=[3, 4])\n"
      "scores = fn.random.uniform(range=[0.0, 1.0], shape=[3])\n"
      "labels = fn.constant(idata=[7, 7, 2], shape=[3])\n"
      "kept = fn.galatea.batched_nms(boxes, scores, labels, iou_threshold=0.5)\n"
      "return fn.galatea.take(boxes, kept), fn.galatea.take(labels, kept)\n";
  return op;
}

}  // namespace galatea::ops
