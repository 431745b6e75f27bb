// erase: fills boxes of the data with a value.
//
// Comes in: a tensor and one or more boxes, as anchor and shape along the axes. Goes out: the same tensor
// with fill_value inside the boxes; what a box covers outside the data is ignored. Boxes whose number only the
// run tells, sample by sample, are inputs of erase.boxes.
#include <algorithm>
#include <functional>

#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Each box is a comparison per axis of every element.
constexpr int64_t kMaxBoxes = 64;

/// The axes that anchor and shape speak of: all but the channels if none are named.
template <typename Context>
bool names_box_axes(const Context& c) {
  return c.given("axis_names") || (c.given("axes") && !c.integers("axes").empty());
}

/// How many numbers a box argument has; -1 if only the run tells.
int64_t count_of(const TypeContext& ctx, const char* name) {
  return ctx.given(name) ? length_of(ctx, name) : 0;
}

/// Whether only the run tells how many boxes there are.
bool counts_in_run(const TypeContext& ctx) {
  return count_of(ctx, "shape") < 0 && (!ctx.given("anchor") || count_of(ctx, "anchor") < 0);
}

Types erase_types(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  const ir::Type& in = ctx.input(0);
  std::vector<int> axes = data_axes(in.layout, in.ndim);
  if (names_box_axes(ctx)) {
    GALATEA_ASSIGN(axes, resolve_axes(ctx, in, in.layout, true));
  }
  const auto per_box = static_cast<int64_t>(axes.size());
  for (const char* name : {"anchor", "shape"}) {
    const int64_t count = count_of(ctx, name);
    if (count < 0 && per_box > 0 && counts_in_run(ctx)) continue;
    if (count < 0)
      return ctx.error(
          fmt::format("erase: how many numbers {} has must be known while compiling", name),
          fmt::format("fix the length with fn.reshape(x, shape=[{}]), or build it with fn.stack", per_box),
          name);
    if (per_box == 0 ? count > 0 : count % per_box != 0)
      return ctx.error(
          fmt::format("erase: {} has {} numbers; each box takes {}, one per axis", name, count, per_box),
          "boxes follow each other, as in [y0, x0, y1, x1]", name);
    if (per_box > 0 && count / per_box > kMaxBoxes)
      return ctx.error(
          fmt::format("erase: {} boxes are too many, up to {} are taken", count / per_box, kMaxBoxes),
          "erase in several steps", name);
  }
  const int64_t anchors = count_of(ctx, "anchor"), shapes = count_of(ctx, "shape");
  if (ctx.given("anchor") && anchors != shapes)
    return ctx.error(fmt::format("erase: anchor has {} numbers, shape has {}", anchors, shapes),
                     "each box has an anchor and a shape", ctx.given("shape") ? "shape" : "anchor");
  if (ctx.given("normalized") && (ctx.given("normalized_anchor") || ctx.given("normalized_shape")))
    return ctx.error("erase: 'normalized' excludes 'normalized_anchor' and 'normalized_shape'",
                     "keep one form", "normalized");
  const int64_t fills = length_of(ctx, "fill_value");
  if (fills < 0)
    return ctx.error("erase: how many numbers fill_value has must be known while compiling",
                     "fix the length with fn.reshape(x, shape=[1]), or build it with fn.stack", "fill_value");
  if (fills == 0) return ctx.error("erase: fill_value is an empty list", "give a number", "fill_value");
  if (fills > 1) {
    const int channel = in.layout.find('C');
    if (channel < 0)
      return ctx.error(fmt::format("erase: fill_value has {} values, one per channel, but {} has no axis C",
                                   fills, describe(in)),
                       "name the axes with fn.reshape(x, layout=…), or give one number", "fill_value");
    const int64_t channels = in.extents[static_cast<size_t>(channel)];
    if (channels >= 0 && channels != fills)
      return ctx.error(fmt::format("erase: {} values of fill_value for {} channels", fills, channels),
                       "give one number, or one per channel", "fill_value");
  }
  return std::vector{out};
}

/// Inputs of erase.boxes.
enum BoxInput : int { kErased, kBoxShape, kBoxAnchor };

class Eraser {
 public:
  explicit Eraser(RecipeBuilder& b)
      : b_(b),
        in_(b.input_type(0)),
        axes_(names_box_axes(b) ? resolve_axes(b, in_.ndim, in_.layout) : data_axes(in_.layout, in_.ndim)) {}

  void define() {
    const auto fills = b_.arg_list("fill_value", b_.arg_length("fill_value"), DType::kF64);
    const int channel = in_.layout.find('C');
    if (fills.size() > 1) {
      const Expr channels = b_.extent(0, channel);
      b_.check(equal(channels, i64(static_cast<int64_t>(fills.size()))),
               fmt::format("{} values of fill_value for {{}} channels", fills.size()), {channels},
               "give one number, or one per channel", "fill_value");
    }
    std::vector<Expr> values;
    for (const Expr& fill : fills) values.push_back(kernel::saturate(fill, in_.dtype));
    const auto erased = b_.num_inputs() > 1 ? covered_by_inputs() : covered_by_arguments();
    b_.output_stage(0, b_.map("erase", in_.dtype, b_.extents(0), [&](const Axes& at) {
      const Expr fill = values.size() == 1 ? values[0] : choose(at[static_cast<size_t>(channel)], values);
      return select(erased(at), fill, b_.load(0, at));
    }));
  }

 private:
  /// Per axis: the first position, and the one after the last.
  using Box = std::vector<std::pair<Expr, Expr>>;
  /// Of a number along axis k of a box.
  using Number = std::function<Expr(size_t k)>;

  Box make_box(const Number& anchor, const Number& shape) {
    Box box;
    const bool both = b_.flag("normalized");
    for (size_t k = 0; k < axes_.size(); ++k) {
      const Expr extent = to_f32(b_.extent(0, axes_[k]));
      Expr size = shape(k), start = anchor(k);
      if (both || b_.flag("normalized_shape")) size = size * extent;
      if (both || b_.flag("normalized_anchor")) start = start * extent;
      if (b_.flag("centered_anchor")) start = start - size * f32(0.5);
      box.emplace_back(to_i64(start), to_i64(start + size));  // truncated
    }
    return box;
  }

  /// Whether a place along the axes of boxes lies in the box.
  static Expr lies_in(const Box& box, const Axes& place) {
    Expr inside = truth(true);
    for (size_t k = 0; k < box.size(); ++k) {
      const Expr here = (place[k] >= box[k].first) & (place[k] < box[k].second);
      inside = k == 0 ? here : inside & here;
    }
    return inside;
  }

  /// Of an element, its place along the axes of boxes.
  Axes place_of(const Axes& at) const {
    Axes place;
    for (const int axis : axes_) place.push_back(at[static_cast<size_t>(axis)]);
    return place;
  }

  using Covered = std::function<Expr(const Axes& at)>;

  Covered covered_by_arguments() {
    std::vector<Box> boxes;
    if (b_.given("shape") && !axes_.empty()) {
      const int count = b_.arg_length("shape");
      const auto shape = b_.arg_list("shape", count, DType::kF32);
      const auto anchor = b_.given("anchor") ? b_.arg_list("anchor", count, DType::kF32)
                                             : std::vector<Expr>(static_cast<size_t>(count), f32(0));
      check_finite(b_, "shape", shape);
      check_finite(b_, "anchor", anchor);
      for (size_t first = 0; first < shape.size(); first += axes_.size())
        boxes.push_back(make_box([&](size_t k) { return anchor[first + k]; },
                                 [&](size_t k) { return shape[first + k]; }));
    }
    return [this, boxes](const Axes& at) {
      Expr erased = truth(false);
      for (const Box& box : boxes) {
        const Expr inside = lies_in(box, place_of(at));
        erased = kernel::is_const(erased) ? inside : erased | inside;
      }
      return erased;
    };
  }

  /// Boxes are looked at one after the other, at each place along their axes.
  Covered covered_by_inputs() {
    const auto per_box = static_cast<int64_t>(axes_.size());
    const bool has_anchor = b_.num_inputs() > kBoxAnchor;
    const Expr count = b_.extent(kBoxShape, 0);
    b_.check(equal(count % i64(per_box), i64(0)),
             fmt::format("shape has {{}} numbers; each box takes {}, one per axis", per_box), {count},
             "boxes follow each other, as in [h0, w0, h1, w1]");
    if (has_anchor)
      b_.check(equal(b_.extent(kBoxAnchor, 0), count), "anchor has {} numbers, shape has {}",
               {b_.extent(kBoxAnchor, 0), count}, "each box has an anchor and a shape");
    std::vector<Expr> extents;
    for (const int axis : axes_) extents.push_back(b_.extent(0, axis));
    const StageRef covered =
        b_.reduce({.name = "covered",
                   .type = DType::kU8,
                   .extents = extents,
                   .reduce_extents = {count / i64(per_box)},
                   .accumulator = DType::kU8,
                   .combiner = kernel::Combiner::kMax,
                   .body = [&](const Axes& at, const Axes& over) {
                     const auto number = [&](int input) {
                       return [&b = b_, first = over[0] * i64(per_box), input](size_t k) {
                         return to_f32(b.load(input, {first + i64(static_cast<int64_t>(k))}));
                       };
                     };
                     const Number none = [](size_t) { return f32(0); };
                     const Box box =
                         make_box(has_anchor ? Number(number(kBoxAnchor)) : none, number(kBoxShape));
                     return kernel::convert(lies_in(box, at), DType::kU8);
                   }});
    return [this, covered](const Axes& at) {
      return not_equal(b_.load(covered, place_of(at)), kernel::constant(DType::kU8, Cell{}));
    };
  }

  RecipeBuilder& b_;
  const ir::Type& in_;
  const std::vector<int> axes_;
};

ArgSpec box_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kFloatList, .per_sample = true, .documentation = documentation};
}

ArgSpec flag_arg(const char* name, const char* documentation) {
  return {.name = name, .kind = ArgKind::kBool, .default_value = false, .documentation = documentation};
}

Result<std::optional<ir::NodeId>> expand_erase(const op::Expansion& expansion) {
  const TypeContext call = expansion.arguments();
  if (!counts_in_run(call)) return std::nullopt;
  std::vector<ir::ValueId> inputs = {expansion.call.inputs[0]};
  std::vector<ir::Arg> args;
  for (const char* name : {"shape", "anchor"})
    for (const ir::Arg& arg : expansion.call.args)
      if (arg.name == name && arg.is_value()) inputs.push_back(arg.as_value());
  for (const ir::Arg& arg : expansion.call.args)
    if (arg.name != "shape" && arg.name != "anchor") args.push_back(arg);
  GALATEA_ASSIGN(const ir::ValueId result, expansion.add("erase.boxes", std::move(inputs), std::move(args)));
  return expansion.builder.graph().value(result).node;
}

/// What both operators take.
std::vector<ArgSpec> erase_args() {
  return {{.name = "axes",
           .kind = ArgKind::kIntList,
           .documentation = "The axes that the boxes speak of, in their order; all but C if not given."},
          {.name = "axis_names",
           .kind = ArgKind::kLayout,
           .documentation = "The axes by letters of the layout; goes before axes."},
          {.name = "fill_value",
           .kind = ArgKind::kFloatList,
           .default_value = std::vector<double>{0.0},
           .per_sample = true,
           .documentation = "The value inside the boxes: one, or one per channel."},
          flag_arg("normalized", "Whether anchor and shape are fractions of the extents."),
          flag_arg("normalized_anchor", "Whether anchor is; excludes normalized."),
          flag_arg("normalized_shape", "Whether shape is; excludes normalized."),
          flag_arg("centered_anchor", "Whether anchor is the middle of a box.")};
}

Port erased_input() {
  return {.name = "data",
          .documentation = "any tensor of numbers",
          .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16, DType::kI32,
                     DType::kI64, DType::kF16, DType::kF32, DType::kF64}};
}

}  // namespace

Operator make_erase() {
  Operator op;
  op.name = "erase";
  op.summary = "Fills boxes of the data with a value.";
  op.documentation =
      "An element inside any of the boxes becomes fill_value (rounded half to even and clamped). Along each "
      "axis a box reaches from trunc(anchor) to before trunc(anchor + shape), computed in f32; what lies "
      "outside the data is ignored. Axes that are not named are covered whole.";
  op.inputs = {erased_input()};
  op.min_inputs = op.max_inputs = 1;
  op.args = {box_arg("anchor", "Where each box starts, one number per axis, box after box; 0 if not given."),
             box_arg("shape", "The extents of each box, one number per axis, box after box.")};
  append(op.args, erase_args());
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.effect = effect("fn.erase(image, anchor=[0.3, 0.3], shape={}, normalized=True, fill_value=128)",
                     {"[0.1, 0.1]", "[0.3, 0.3]", "[0.6, 0.6]"});
  op.example = image_example(
      "fn.erase(image, anchor=fn.random.uniform(range=[0, 0.75], shape=[2]), shape=[0.25, 0.25], "
      "normalized=True, fill_value=128), label");
  op.type_rule = erase_types;
  op.expand = expand_erase;
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Eraser(b).define(); };
  return op;
}

Operator make_erase_boxes() {
  Operator op;
  op.name = "erase.boxes";
  op.summary = "fn.erase with boxes of any number.";
  op.documentation = "As fn.erase; shape and anchor are inputs.";
  Port anchor{.name = "anchor", .documentation = "of the boxes", .ndim = 1, .any_device = true};
  Port shape = anchor;
  shape.name = "shape";
  anchor.optional = true;
  op.inputs = {erased_input(), shape, anchor};
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.args = erase_args();
  op.internal = true;
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.type_rule = [](const TypeContext& ctx) -> Types { return std::vector{ctx.input(kErased)}; };
  op.places = op::Places::kKept;
  op.define = [](RecipeBuilder& b) { Eraser(b).define(); };
  return op;
}

}  // namespace galatea::ops
