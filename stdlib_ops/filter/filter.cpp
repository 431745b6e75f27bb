// filter: the correlation of images and volumes with a window of the sample's own.
//
// Comes in: an image or a volume, a window with an extent for each of its axes, and what lies outside for a
// constant border. Goes out: one stage. The taps of a window of known extents are written out, so that small ones
// cost a multiply-add each and no loop; others are a reduction.
//
//   out(y, x) = sum over j, i of filter(j, i) * in(y + j - anchor_y, x + i - anchor_x), row by row
#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

/// Larger windows are loops.
constexpr int64_t kMostTaps = 1024;

Result<bool> is_valid_mode(const TypeContext& ctx) {
  const std::string mode = ctx.text("mode");
  if (mode == "same" || mode == "valid") return mode == "valid";
  return ctx.error(fmt::format("filter: mode \"{}\" is unknown", mode), "use \"same\" or \"valid\"", "mode");
}

/// The axes of the data over which the window lies: of a volume a window of rows and columns is that of each slice.
std::vector<int> window_axes(const ir::Type& in, const ir::Type& window) {
  std::vector<int> axes = data_axes(in.layout, in.ndim);
  while (static_cast<int>(axes.size()) > window.ndim) {
    const auto slices = std::ranges::find(axes, in.layout.find('D'));
    axes.erase(slices == axes.end() ? axes.begin() : slices);
  }
  return axes;
}

Status check_window(const TypeContext& ctx) {
  const ir::Type &in = ctx.input(0), &window = ctx.input(1);
  const auto axes = static_cast<int>(data_axes(in.layout, in.ndim).size());
  if (window.ndim != 2 && window.ndim != 3)
    return ctx.error(
        fmt::format("filter: the window has {} dimension{}", window.ndim, window.ndim == 1 ? "" : "s"),
        "give it as [rows, columns], of volumes also as [slices, rows, columns]");
  if (window.ndim > axes)
    return ctx.error(
        fmt::format("filter: the window has {} dimensions, and the input {} besides the channels: {}",
                    window.ndim, axes, describe(in)));
  if (window.static_volume() == 0)
    return ctx.error("filter: the window has no elements", "leave the filter out to change nothing");
  return {};
}

Status check_anchor(const TypeContext& ctx, size_t axes) {
  GALATEA_TRY(check_length(ctx, "anchor", static_cast<int>(axes)));
  if (!given_static(ctx, "anchor")) return {};
  const auto anchor = ctx.integers("anchor");
  for (size_t d = 0; d < axes; ++d) {
    const int64_t at = anchor[std::min(d, anchor.size() - 1)], extent = ctx.input(1).extents[d];
    if (at < -1 || (extent >= 0 && at >= extent))
      return ctx.error(extent < 0
                           ? fmt::format("filter: anchor {} lies outside the window", at)
                           : fmt::format("filter: anchor {} lies outside the window's extent {}", at, extent),
                       "-1 is the middle", "anchor");
  }
  return {};
}

/// The name of a border that is meant: DALI knows each by several.
std::string border_name(const std::string& text) {
  if (text == "101") return "reflect_101";
  if (text == "1001" || text == "reflect") return "reflect_1001";
  if (text == "edge") return "clamp";
  return text == "fill" ? "constant" : text;
}

Status check_border(const TypeContext& ctx) {
  const std::string border = border_name(ctx.text("border"));
  for (const char* known : {"reflect_101", "reflect_1001", "wrap", "clamp", "constant"})
    if (border == known) return {};
  return ctx.error(fmt::format("filter: border \"{}\" is unknown", border),
                   "use \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\"", "border");
}

Types filter_types(const TypeContext& ctx) {
  GALATEA_TRY(check_filter_input(ctx));
  const ir::Type& in = ctx.input(0);
  GALATEA_TRY(check_window(ctx));
  const auto axes = window_axes(in, ctx.input(1));
  GALATEA_TRY(check_anchor(ctx, axes.size()));
  GALATEA_TRY(check_border(ctx));
  GALATEA_ASSIGN(const bool valid, is_valid_mode(ctx));
  if (ctx.num_inputs() > 2 && ctx.input(2).static_volume() != 1)
    return ctx.error(fmt::format("filter: fill_value must be one number; it is {}", describe(ctx.input(2))));
  ir::Type out = with_dtype(in, ctx.dtype("dtype", in.dtype));
  for (size_t d = 0; valid && d < axes.size(); ++d) {
    int64_t& extent = out.extents[static_cast<size_t>(axes[d])];
    const int64_t taps = ctx.input(1).extents[d];
    if (extent >= 0 && taps >= 0 && extent < taps)
      return ctx.error(
          fmt::format("filter: an image of extent {} has no place for a window of {}", extent, taps));
    extent = extent < 0 || taps < 0 ? -1 : extent - (taps - 1);
  }
  return std::vector{out};
}

/// The definition of one node: what lies around the image, and the taps.
class ImageFilter {
 public:
  explicit ImageFilter(RecipeBuilder& b)
      : b_(b), axes_(window_axes(b.input_type(0), b.input_type(1))), border_(border_name(b.text("border"))) {
    const std::vector<Expr> anchor = list_arg(b, "anchor", static_cast<int>(axes_.size()), DType::kI64);
    for (size_t d = 0; d < axes_.size(); ++d) {
      // What is known of the window is structure: its taps are written out.
      const int64_t known = b.input_type(1).extents[d];
      taps_.push_back(known >= 0 ? i64(known) : b.extent(1, static_cast<int>(d)));
      if (known < 0) b.check(taps_[d] >= i64(1), "the window has no elements");
      b.check((anchor[d] >= i64(-1)) & (anchor[d] < taps_[d]),
              "anchor {} lies outside the window's extent {}", {anchor[d], taps_[d]}, {}, "anchor");
      anchor_.push_back(select(anchor[d] < i64(0), taps_[d] / i64(2), anchor[d]));
    }
    if (border_ == "constant") fill_ = b.num_inputs() > 2 ? to_f32(b.element(2, 0)) : f32(0);
  }

  void define() {
    std::vector<Expr> extents = b_.extents(0);
    valid_ = b_.text("mode") == "valid";
    for (size_t d = 0; valid_ && d < axes_.size(); ++d) {
      Expr& extent = extents[static_cast<size_t>(axes_[d])];
      b_.check(extent >= taps_[d], "an image of extent {} has no place for a window of {}",
               {extent, taps_[d]});
      extent = extent - taps_[d] + i64(1);
    }
    const int64_t volume = b_.input_type(1).static_volume();
    b_.output_stage(0, volume >= 0 && volume <= kMostTaps ? written_out(extents, volume) : summed(extents));
  }

 private:
  StageRef written_out(const Axes& extents, int64_t volume) {
    const DType out = b_.output_type(0).dtype;
    return b_.map("filter", out, extents, [&](const Axes& at) {
      Expr sum;
      for (int64_t n = 0; n < volume; ++n) {
        Axes tap;
        for (const int64_t place : unflatten(n, b_.input_type(1).extents)) tap.push_back(i64(place));
        const Expr weight = to_f32(volume <= kMaxScalarElements ? b_.element(1, n) : b_.load(1, tap));
        const Expr value = sample(at, tap);
        sum = n == 0 ? value * weight : kernel::fma(value, weight, sum);
      }
      return kernel::saturate(sum, out);
    });
  }

  StageRef summed(const Axes& extents) {
    const DType out = b_.output_type(0).dtype;
    return b_.reduce(
        {.name = "filter",
         .type = out,
         .extents = extents,
         .reduce_extents = taps_,
         .accumulator = DType::kF64,
         .body = [&](const Axes& at,
                     const Axes& tap) { return to_f64(sample(at, tap)) * to_f64(b_.load(1, tap)); },
         .finish = [&](const Expr& sum) { return kernel::saturate(to_f32(sum), out); }});
  }

  /// The element under a tap, f32.
  Expr sample(const Axes& at, const Axes& tap) const {
    Axes index = at;
    Expr inside = truth(true);
    for (size_t d = 0; d < axes_.size(); ++d) {
      const auto axis = static_cast<size_t>(axes_[d]);
      const Expr n = b_.extent(0, axes_[d]);
      index[axis] = at[axis] + tap[d];
      if (valid_) continue;
      index[axis] = index[axis] - anchor_[d];
      inside = inside & (index[axis] >= i64(0)) & (index[axis] < n);
    }
    if (valid_) return to_f32(b_.load(0, index));
    const Expr value = to_f32(load_with_border(b_, {}, index, axes_, policy()));
    return border_ == "constant" ? select(inside, value, fill_) : value;
  }

  BoundsPolicy policy() const {
    if (border_ == "reflect_101") return BoundsPolicy::kReflect101;
    if (border_ == "reflect_1001") return BoundsPolicy::kReflect1001;
    return border_ == "wrap" ? BoundsPolicy::kWrap : BoundsPolicy::kEdge;
  }

  RecipeBuilder& b_;
  std::vector<int> axes_;  ///< over which the window lies
  std::string border_;
  std::vector<Expr> taps_, anchor_;  ///< along each
  Expr fill_;
  bool valid_ = false;
};

}  // namespace

Operator make_filter() {
  Operator op;
  op.name = "filter";
  op.aliases = {"experimental.filter"};
  op.summary = "Correlates images and volumes with a window.";
  op.documentation =
      "out(y, x) = sum of filter(j, i) * in(y + j - anchor_y, x + i - anchor_x) for each channel: a "
      "correlation, the window is not mirrored. A window of a volume may have slices, too; one without is that of each slice. Products are added in f32 row by "
      "row as multiply-adds, those of windows whose extents are not known, or of more than 1024 elements, in f64; "
      "the sum is rounded half to even.";
  op.inputs = {
      {.name = "data", .documentation = "image or volume", .axes = "^F"},
      {.name = "filter",
       .documentation = "the window, FLOAT [rows, columns] or [slices, rows, columns]; one whose extents "
                        "are known while the pipeline is built is quicker",
       .dtypes = {DType::kF32},
       .axes = "^F",
       .any_device = true},
      {.name = "fill_value",
       .documentation = "the number around the image where border is \"constant\"; 0 if not given",
       .optional = true,
       .any_device = true}};
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.args = {
      {.name = "anchor",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{-1},
       .per_sample = true,
       .documentation = "The element of the window that lies on the output's pixel, one number or one per "
                        "axis, (y, x); -1 is "
                        "the middle, rounded down."},
      {.name = "border",
       .kind = ArgKind::kString,
       .default_value = std::string("reflect_101"),
       .documentation =
           "What lies outside the image: \"reflect_101\" or \"101\" (cb|abc), \"reflect_1001\" or "
           "\"1001\" or \"reflect\" (cba|abc), \"wrap\", \"clamp\" or \"edge\", \"constant\" or \"fill\"."},
      {.name = "mode",
       .kind = ArgKind::kString,
       .default_value = std::string("same"),
       .documentation = "\"same\": an output for every pixel; \"valid\": where the window lies inside the "
                        "image."},
      dtype_arg("Element type of the output: the input's or FLOAT.")};
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.filter(image, types.Constant([[0.0, 0.2, 0.0], [0.2, 0.2, 0.2], [0.0, 0.2, 0.0]], "
      "dtype=types.FLOAT)), label");
  op.type_rule = filter_types;
  op.places_of = [](const ir::Node& node) {
    return ir::attr_text(op::Arguments(*node.op, node.args).attr("mode")) == "valid" ? op::Places::kUnknown
                                                                                     : op::Places::kKept;
  };
  op.define = [](RecipeBuilder& b) { ImageFilter(b).define(); };
  return op;
}

}  // namespace galatea::ops
