// box_encoder: what a detector with default boxes (anchors) is trained to say, of the boxes of an image.
//
// Comes in: boxes and their labels; the anchors are an argument. Goes out: for each anchor the box that it
// stands for, and its label.
//
// Who belongs to whom are two reductions over pairs of a box and an anchor. Each keeps the largest overlap and
// whose it is in one integer: the bits of a float that is not negative are in its order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/op/schema.h"
#include "stdlib_ops/common/points.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Center x, y, width, height.
using CenterSize = std::array<Expr, kBoxNumbers>;

Status check_four(const TypeContext& ctx, const char* name) {
  const std::vector<double> values = ctx.numbers(name);
  if (values.size() != kBoxNumbers)
    return ctx.error(fmt::format("box_encoder: {} needs 4 numbers, not {}", name, values.size()),
                     "they are of the centre's x and y, the width and the height", name);
  for (const double value : values)
    if (!std::isfinite(value))
      return ctx.error(fmt::format("box_encoder: {} has {}", name, value), "give finite numbers", name);
  return {};
}

Status check_encoder(const TypeContext& ctx) {
  const std::vector<double> anchors = ctx.numbers("anchors");
  if (anchors.empty() || anchors.size() % kBoxNumbers != 0)
    return ctx.error(
        fmt::format("box_encoder: anchors has {} numbers, and each anchor has 4", anchors.size()),
        "give left, top, right and bottom, one anchor after the other", "anchors");
  for (const double value : anchors)
    if (!std::isfinite(value))
      return ctx.error(fmt::format("box_encoder: anchors has {}", value), "give finite numbers", "anchors");
  const double criteria = ctx.number("criteria");
  if (!(criteria >= 0 && criteria <= 1))
    return ctx.error(fmt::format("box_encoder: criteria must lie in [0, 1], not {}", criteria),
                     "it is the overlap (IoU) that an anchor needs", "criteria");
  GALATEA_TRY(check_four(ctx, "means"));
  GALATEA_TRY(check_four(ctx, "stds"));
  const std::vector<double> stds = ctx.numbers("stds");
  if (std::ranges::find(stds, 0.0) != stds.end())
    return ctx.error("box_encoder: stds has a 0, and offsets are divided by it", "1 changes nothing", "stds");
  if (const double scale = ctx.number("scale"); !std::isfinite(scale) || scale == 0)
    return ctx.error(fmt::format("box_encoder: scale is {}", scale), "give a finite number, not 0", "scale");
  return {};
}

Types box_encoder_types(const TypeContext& ctx) {
  const ir::Type &boxes = ctx.input(0), &labels = ctx.input(1);
  if (boxes.ndim != 2 || (boxes.extents[1] >= 0 && boxes.extents[1] != kBoxNumbers))
    return ctx.error(fmt::format("box_encoder: {} holds no boxes of four numbers", describe(boxes)),
                     "boxes are rows: FLOAT [n, 4]");
  if ((labels.ndim != 1 && labels.ndim != 2) ||
      (labels.ndim == 2 && labels.extents[1] >= 0 && labels.extents[1] != 1))
    return ctx.error(fmt::format("box_encoder: {} are no labels: one for each box", describe(labels)),
                     "labels are INT32 [n] or [n, 1]");
  GALATEA_TRY(check_encoder(ctx));
  const auto anchors = static_cast<int64_t>(ctx.numbers("anchors").size()) / kBoxNumbers;
  ir::Type encoded, classes;
  encoded.dtype = DType::kF32;
  encoded.ndim = 2;
  encoded.extents = {anchors, kBoxNumbers};
  encoded.device = boxes.device;
  classes.dtype = DType::kI32;
  classes.ndim = 1;
  classes.extents = {anchors};
  classes.device = boxes.device;
  return std::vector{encoded, classes};
}

class BoxEncoder {
 public:
  explicit BoxEncoder(RecipeBuilder& b) : b_(b), boxes_(b.extent(0, 0)) {
    const Expr numbers = b.extent(0, 1), labels = b.extent(1, 0);
    b.check(equal(numbers, i64(kBoxNumbers)), "a box has 4 numbers, not {}", {numbers},
            "boxes are rows: left, top, right, bottom");
    b.check(equal(labels, boxes_), "there are {} labels for {} boxes", {labels, boxes_});
    if (b.input_type(1).ndim == 2)
      b.check(equal(b.extent(1, 1), i64(1)), "a box has {} labels", {b.extent(1, 1)},
              "give one label for each box");
    std::vector<Cell> cells;
    for (const double value : b.numbers("anchors")) cells.push_back(cell_from_double(DType::kF32, value));
    const auto count = static_cast<int64_t>(cells.size()) / kBoxNumbers;
    anchors_ = i64(count);
    table_ = b.constant_input("anchors", std::make_shared<runtime::ConstantTensor>(
                                             DType::kF32, std::vector<int64_t>{count, kBoxNumbers}, cells));
  }

  void define() {
    const StageRef match = matches();
    const auto row_of = [&](const Expr& anchor) { return to_i64(b_.load(match, {anchor})); };
    b_.output_stage(0,
                    b_.map("encoded_boxes", DType::kF32, {anchors_, i64(kBoxNumbers)}, [&](const Axes& at) {
                      const Expr row = row_of(at[0]);
                      return select(row >= i64(0), encoded(row, at[0], at[1]), unmatched(at[0], at[1]));
                    }));
    b_.output_stage(1, b_.map("encoded_labels", DType::kI32, {anchors_}, [&](const Axes& at) {
      const Expr row = row_of(at[0]);
      Axes label{row};
      if (b_.input_type(1).ndim == 2) label.push_back(i64(0));
      const Expr none = kernel::const_int(0, DType::kI32);
      return select(row >= i64(0), b_.load(1, std::move(label), Border::kConstant, Cell{}), none);
    }));
  }

 private:
  /// A number of a box, 0 where the row is none.
  Expr box(const Expr& row, int64_t number) const {
    return b_.load(0, {row, i64(number)}, Border::kConstant, Cell{});
  }
  Expr anchor(const Expr& row, int64_t number) const { return b_.load(table_, {row, i64(number)}); }

  /// Intersection over union; 0 where they do not overlap, and of what is no box.
  Expr overlap(const Expr& row, const Expr& anchor_row) const {
    std::array<Expr, kBoxNumbers> a, c;
    for (int64_t k = 0; k < kBoxNumbers; ++k) {
      a[static_cast<size_t>(k)] = b_.load(0, {row, i64(k)});
      c[static_cast<size_t>(k)] = anchor(anchor_row, k);
    }
    const auto area = [](const std::array<Expr, kBoxNumbers>& of) {
      return (of[2] - of[0]) * (of[3] - of[1]);
    };
    const Expr w = min(a[2], c[2]) - max(a[0], c[0]), h = min(a[3], c[3]) - max(a[1], c[1]);
    const Expr common = w * h;
    const Expr share = common / (area(a) + area(c) - common);
    return select((w > f32(0)) & (h > f32(0)) & (share > f32(0)), share, f32(0));
  }

  /// The larger of two is that with the larger overlap, of equal ones that with the larger index.
  static Expr ranked(const Expr& share, const Expr& index) {
    const Expr bits = kernel::make_op(ScalarOp::kBitcast, DType::kI32, {share});
    return kernel::binary(ScalarOp::kShl, to_i64(bits), i64(32)) | index;
  }
  static Expr index_of(const Expr& rank) { return rank & i64(int64_t{0xFFFFFFFF}); }

  /// The row of the box that each anchor stands for, or -1.
  StageRef matches() {
    RecipeBuilder::Reduce best;
    best.name = "best_anchor";
    best.type = best.accumulator = DType::kI64;
    best.combiner = kernel::Combiner::kMax;
    best.extents = {boxes_};
    best.reduce_extents = {anchors_};
    best.body = [&](const Axes& at, const Axes& over) { return ranked(overlap(at[0], over[0]), over[0]); };
    best.finish = index_of;
    const StageRef best_anchor = b_.reduce(best);

    RecipeBuilder::Reduce match = best;
    match.name = "match";
    match.extents = {anchors_};
    match.reduce_extents = {boxes_};
    match.body = [&](const Axes& at, const Axes& over) {
      // More than any overlap: each box has an anchor.
      const Expr own = equal(b_.load(best_anchor, {over[0]}), at[0]);
      return ranked(select(own, f32(2), overlap(over[0], at[0])), over[0]);
    };
    const Expr criteria = b_.arg("criteria", DType::kF32);
    match.finish = [&](const Expr& rank) {
      const Expr bits = kernel::convert(kernel::binary(ScalarOp::kShr, rank, i64(32)), DType::kI32);
      const Expr share = kernel::make_op(ScalarOp::kBitcast, DType::kF32, {bits});
      return select((rank >= i64(0)) & (share > criteria), index_of(rank), i64(-1));
    };
    return b_.reduce(match);
  }

  CenterSize center_size(const std::array<Expr, kBoxNumbers>& corners) const {
    CenterSize out;
    for (size_t k = 0; k < 2; ++k) {
      out[k] = (corners[k] + corners[k + 2]) * f32(0.5);
      out[k + 2] = corners[k + 2] - corners[k];
    }
    return out;
  }
  CenterSize box_of(const Expr& row) const {
    return center_size({box(row, 0), box(row, 1), box(row, 2), box(row, 3)});
  }
  CenterSize anchor_of(const Expr& row) const {
    return center_size({anchor(row, 0), anchor(row, 1), anchor(row, 2), anchor(row, 3)});
  }
  static Expr number_of(const CenterSize& numbers, const Expr& k) {
    return choose(k, {numbers.begin(), numbers.end()});
  }

  Expr encoded(const Expr& row, const Expr& anchor_row, const Expr& k) const {
    const CenterSize own = box_of(row);
    if (!b_.flag("offset")) return number_of(own, k);
    const CenterSize base = anchor_of(anchor_row);
    const Expr scale = b_.arg("scale", DType::kF32);
    const std::vector<Expr> means = b_.arg_list("means", kBoxNumbers, DType::kF32),
                            stds = b_.arg_list("stds", kBoxNumbers, DType::kF32);
    CenterSize out;
    for (size_t n = 0; n < 2; ++n) {
      const Expr size = base[n + 2] * scale;
      out[n] = (own[n] * scale - base[n] * scale) / size;
      out[n + 2] = kernel::unary(ScalarOp::kLog, own[n + 2] * scale / size);
    }
    for (size_t n = 0; n < out.size(); ++n) out[n] = (out[n] - means[n]) / stds[n];
    return number_of(out, k);
  }
  Expr unmatched(const Expr& anchor_row, const Expr& k) const {
    return b_.flag("offset") ? f32(0) : number_of(anchor_of(anchor_row), k);
  }

  RecipeBuilder& b_;
  Expr boxes_, anchors_;
  int table_ = -1;
};

std::vector<ArgSpec> box_encoder_args() {
  return {
      {.name = "anchors",
       .kind = ArgKind::kFloatList,
       .required = true,
       .documentation = "The default boxes: left, top, right and bottom of each, in the unit of the boxes."},
      {.name = "criteria",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .documentation = "An anchor stands for a box where their IoU is larger, in [0, 1]."},
      {.name = "offset",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether boxes are given by their difference from the anchor."},
      {.name = "scale",
       .kind = ArgKind::kFloat,
       .default_value = 1.0,
       .documentation = "With offset, what boxes and anchors are multiplied by before."},
      {.name = "means",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0, 0, 0, 0},
       .documentation = "With offset, what is subtracted from the offsets of x, y, width and height."},
      {.name = "stds",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{1, 1, 1, 1},
       .documentation = "With offset, what they are divided by then."}};
}

}  // namespace

Operator make_box_encoder() {
  Operator op;
  op.name = "box_encoder";
  op.summary = "The box and the label that each anchor of a detector stands for.";
  op.documentation =
      "Boxes and anchors are matched by their intersection over union (IoU), as in SSD (Liu et al. 2016, "
      "section 2.2): the anchor with the largest IoU stands for the box, whatever the IoU is; every other "
      "anchor stands for the box with the largest IoU, if that is above criteria. Of equal ones the last is "
      "taken. Outputs: FLOAT [anchors, 4], centre x and y, width and height; INT32 [anchors], the label. An "
      "anchor without a box has label 0 and is itself, or 0 with offset. With offset a box (x, y, w, h) at the "
      "anchor (X, Y, W, H) is ((x - X) / W, (y - Y) / H, ln(w / W), ln(h / H)), minus means, over stds.";
  Port boxes = points_input("boxes", "FLOAT [n, 4]: left, top, right, bottom", {DType::kF32});
  Port labels = points_input("labels", "INT32 [n] or [n, 1], one for each box", {DType::kI32});
  op.inputs = {std::move(boxes), std::move(labels)};
  op.min_inputs = op.max_inputs = 2;
  op.output_needs = {"", ""};
  op.args = box_encoder_args();
  op.devices = {"cpu", "gpu"};
  op.example =
      "boxes = fn.constant(fdata=[0.1, 0.2, 0.5, 0.6, 0.6, 0.3, 0.9, 1.0], shape=[2, 4])\n"
      "labels = fn.constant(idata=[3, 7], shape=[2])\n"
      "encoded, classes = fn.box_encoder(boxes, labels, anchors=[0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0],\n"
      "                                  offset=True, stds=[0.1, 0.1, 0.2, 0.2])\n"
      "return encoded, classes\n";
  op.type_rule = box_encoder_types;
  op.define = [](RecipeBuilder& b) { BoxEncoder(b).define(); };
  return op;
}

}  // namespace galatea::ops
