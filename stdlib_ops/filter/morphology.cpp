// dilate, erode: the largest and the least element under a rectangle.
//
// Comes in: an image and the size of the rectangle. Goes out: an image of the same extents and type, made
// along columns first, then along rows.
//
// A rectangle of known size is put together from smaller ones: the extreme of n + s elements is that of two
// extremes of n elements, s apart, where s is at most n. Small ones are written out.
#include <algorithm>
#include <array>

#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kLongestMask = 8191;
constexpr int64_t kMostIterations = 1024;
/// Elements along columns and along rows that are written out; longer lines are put together of as many.
constexpr int64_t kMostRows = 16, kMostColumns = 8;

/// Past the edge the rectangle takes nothing into account ("constant": the type's least value for dilate, its
/// largest for erode), or what a border has there. The rectangle covers its own pixel, and so the edge that it
/// reaches over: to repeat the edge changes no extreme.
Result<BoundsPolicy> border_of(const TypeContext& ctx) {
  const std::string mode = ctx.text("border_mode");
  if (mode == "constant" || mode == "replicate") return BoundsPolicy::kEdge;
  if (mode == "reflect") return BoundsPolicy::kReflect1001;
  if (mode == "reflect_101") return BoundsPolicy::kReflect101;
  if (mode == "wrap") return BoundsPolicy::kWrap;
  return ctx.error(fmt::format("{}: border_mode \"{}\" is unknown", ctx.op().name, mode),
                   "use \"constant\", \"replicate\", \"reflect\", \"reflect_101\" or \"wrap\"",
                   "border_mode");
}

BoundsPolicy border_of(const RecipeBuilder& b) {
  const std::string mode = b.text("border_mode");
  if (mode == "reflect") return BoundsPolicy::kReflect1001;
  if (mode == "reflect_101") return BoundsPolicy::kReflect101;
  return mode == "wrap" ? BoundsPolicy::kWrap : BoundsPolicy::kEdge;
}

Types morphology_types(const TypeContext& ctx) {
  GALATEA_TRY(check_length(ctx, "mask_size", 2));
  GALATEA_TRY(check_length(ctx, "anchor", 2));
  GALATEA_TRY(border_of(ctx));
  const int64_t iterations = ctx.integer("iterations");
  if (iterations < 1 || iterations > kMostIterations)
    return ctx.error(
        fmt::format("{}: iterations is {}, not 1 to {}", ctx.op().name, iterations, kMostIterations),
        "leave the operator out to change nothing", "iterations");
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  if (!given_static(ctx, "mask_size") && ctx.is_per_sample("mask_size")) return std::vector{out};
  const std::vector<int64_t> mask = ctx.integers("mask_size");
  for (int64_t size : mask)
    if (size < 1 || (size - 1) * iterations + 1 > kLongestMask)
      return ctx.error(fmt::format("{}: mask_size is {} with {} iteration{}", ctx.op().name, size, iterations,
                                   iterations == 1 ? "" : "s"),
                       fmt::format("the mask must have 1 to {} elements along each axis, and each iteration "
                                   "makes it larger by mask_size - 1",
                                   kLongestMask),
                       "mask_size");
  if (ctx.is_per_sample("anchor")) return std::vector{out};
  const std::vector<int64_t> anchor = ctx.integers("anchor");
  for (size_t d = 0; d < 2; ++d) {
    const int64_t at = anchor[anchor.size() > 1 ? d : 0], size = mask[mask.size() > 1 ? d : 0];
    if (at < -1 || at >= size)
      return ctx.error(
          fmt::format("{}: anchor {} lies outside the mask's extent {}", ctx.op().name, at, size),
          "-1 is the middle", "anchor");
  }
  return std::vector{out};
}

class Morphology {
 public:
  Morphology(RecipeBuilder& b, bool dilates)
      : b_(b),
        dilates_(dilates),
        border_(border_of(b)),
        type_(b.input_type(0).dtype),
        wide_(type_ == DType::kF16 ? DType::kF32 : type_) {}

  void define() {
    const ImageAxes image = image_axes(b_.input_layout(0));
    const std::vector<Expr> sizes = list_arg(b_, "mask_size", 2, DType::kI64);
    const std::vector<Expr> anchors = list_arg(b_, "anchor", 2, DType::kI64);
    const Expr again = i64(b_.integer("iterations") - 1);
    std::array<Line, 2> lines;
    for (size_t d = 0; d < 2; ++d) {
      const Expr size = sizes[d] + again * (sizes[d] - i64(1));
      b_.check((sizes[d] >= i64(1)) & (size <= i64(kLongestMask)),
               fmt::format("the mask has {{}} elements along an axis, not 1 to {}", kLongestMask), {size},
               "each iteration makes the mask larger by mask_size - 1", "mask_size");
      b_.check((anchors[d] >= i64(-1)) & (anchors[d] < sizes[d]),
               "anchor {} lies outside the mask's extent {}", {anchors[d], sizes[d]}, "-1 is the middle",
               "anchor");
      const Expr at = select(anchors[d] < i64(0), sizes[d] / i64(2), anchors[d]) * (again + i64(1));
      lines[d] = {d == 0 ? image.h : image.w, as_structure(size), as_structure(at)};
    }
    // Columns first: they read the input, whose rows are there, so that each row made of them can be used up.
    const StageRef columns = along({}, lines[0], kMostRows, "columns");
    b_.output_stage(0, along(columns, lines[1], kMostColumns, b_.node().op->name));
  }

 private:
  /// One axis: so many elements, of which number `anchor` is the pixel's own.
  struct Line {
    int axis = 0;
    Expr size, anchor;
  };

  /// What is known of the mask is structure, not numbers: its elements are written out.
  static Expr as_structure(const Expr& e) { return kernel::is_const(e) ? i64(kernel::const_value(e)) : e; }

  Expr widened(const Expr& e) const { return kernel::convert(e, wide_); }
  Expr narrowed(const Expr& e) const { return kernel::convert(e, type_); }
  Expr extreme(const Expr& a, const Expr& b) const { return dilates_ ? max(a, b) : min(a, b); }

  /// What lies `offset` elements behind the first one under the mask, in `wide_`.
  Expr under(StageRef source, const Line& line, Axes at, const Expr& offset) const {
    const auto axis = static_cast<size_t>(line.axis);
    at[axis] = at[axis] + (offset - line.anchor);
    return widened(load_with_border(b_, source, std::move(at), {line.axis}, border_));
  }

  StageRef along(StageRef source, const Line& line, int64_t most, const std::string& name) {
    if (!kernel::is_const(line.size)) return counted(source, line, name);
    const int64_t size = kernel::const_value(line.size);
    return size <= most ? written_out(source, line, size, name)
                        : put_together(source, line, size, most, name);
  }

  StageRef written_out(StageRef source, const Line& line, int64_t size, const std::string& name) {
    return b_.map(name, type_, b_.extents(0), [&](const Axes& at) {
      Expr result = under(source, line, at, i64(0));
      for (int64_t k = 1; k < size; ++k) result = extreme(result, under(source, line, at, i64(k)));
      return narrowed(result);
    });
  }

  StageRef put_together(StageRef source, const Line& line, int64_t size, int64_t most,
                        const std::string& name) {
    const auto axis = static_cast<size_t>(line.axis);
    Axes extents = b_.extents(0);
    extents[axis] = extents[axis] + i64(size - most);
    StageRef result = b_.map(name + "_part", type_, extents, [&](const Axes& at) {
      Expr first = under(source, line, at, i64(0));
      for (int64_t k = 1; k < most; ++k) first = extreme(first, under(source, line, at, i64(k)));
      return narrowed(first);
    });
    for (int64_t covered = most; covered < size;) {
      const int64_t step = std::min(covered, size - covered);
      covered += step;
      extents[axis] = b_.extents(0)[axis] + i64(size - covered);
      result = b_.map(covered < size ? name + "_part" : name, type_, extents, [&](const Axes& at) {
        Axes other = at;
        other[axis] = other[axis] + i64(step);
        return narrowed(extreme(widened(b_.load(result, at)), widened(b_.load(result, other))));
      });
    }
    return result;
  }

  /// A mask of a size that only the sample tells.
  StageRef counted(StageRef source, const Line& line, const std::string& name) {
    return b_.reduce(
        {.name = name,
         .type = type_,
         .extents = b_.extents(0),
         .reduce_extents = {line.size},
         .accumulator = wide_,
         .combiner = dilates_ ? kernel::Combiner::kMax : kernel::Combiner::kMin,
         .body = [&](const Axes& at, const Axes& over) { return under(source, line, at, over[0]); }});
  }

  RecipeBuilder& b_;
  bool dilates_;
  BoundsPolicy border_;
  DType type_, wide_;  ///< of elements, and in which they are compared
};

Operator make_morphology(const std::string& name, bool dilates) {
  Operator op;
  op.name = name;
  op.aliases = {"experimental." + name};
  op.inputs = {{.name = "input",
                .documentation = "image",
                .layouts = {"HWC", "CHW", "HW"},
                .dtypes = {DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8, DType::kI16,
                           DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "mask_size",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{3, 3},
       .per_sample = true,
       .documentation = "Rows and columns of the mask, or one number for both, 1 to 8191. A static size "
                        "is quicker than one per sample."},
      {.name = "anchor",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{-1, -1},
       .per_sample = true,
       .documentation = "The element of the mask that lies on the output's pixel, (y, x) or one number "
                        "for both; -1 is mask_size / 2, rounded down."},
      {.name = "iterations",
       .kind = ArgKind::kInt,
       .default_value = int64_t{1},
       .documentation = "How many times over: a mask of iterations * (mask_size - 1) + 1 elements."},
      {.name = "border_mode",
       .kind = ArgKind::kString,
       .default_value = std::string("constant"),
       .documentation = "What lies outside: nothing (\"constant\") or the edge (\"replicate\"), which "
                        "give the same; \"reflect\" (cba|abc), \"reflect_101\" (cb|abc), \"wrap\"."}};
  op.devices = {"cpu", "gpu"};
  op.output_extents = OutputExtents::kLikeFirstInput;
  op.example = image_example(fmt::format("fn.{}(image, mask_size=[5, 3]), label", name));
  op.places = op::Places::kKept;
  op.type_rule = morphology_types;
  op.define = [dilates](RecipeBuilder& b) { Morphology(b, dilates).define(); };
  return op;
}

}  // namespace

Operator make_dilate() {
  Operator op = make_morphology("dilate", true);
  op.summary = "The largest element under a rectangle, of each channel.";
  op.documentation =
      "out(y, x) = max over j, i of in(y + j - anchor_y, x + i - anchor_x), with j and i over the mask's rows "
      "and columns: OpenCV's dilate with a rectangle. Of sizes per sample, which of several NaNs and zeros of "
      "either sign counts is not said.";
  return op;
}

Operator make_erode() {
  Operator op = make_morphology("erode", false);
  op.summary = "The least element under a rectangle, of each channel.";
  op.documentation =
      "out(y, x) = min over j, i of in(y + j - anchor_y, x + i - anchor_x), with j and i over the mask's rows "
      "and columns: OpenCV's erode with a rectangle. Of sizes per sample, which of several NaNs and zeros of "
      "either sign counts is not said.";
  return op;
}

}  // namespace galatea::ops
