// filter: the correlation of images with a window of the sample's own.
//
// Comes in: an image, a window [rows, columns] of known extents, and what lies outside for a constant border.
// Goes out: one map whose taps are written out, so that small windows cost a multiply-add each and no loop.
//
//   out(y, x) = sum over j, i of filter(j, i) * in(y + j - anchor_y, x + i - anchor_x), row by row
#include <array>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "stdlib_ops/common/convolve.h"
#include "stdlib_ops/common/pointwise.h"
#include "stdlib_ops/common/window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kMaxTaps = 1024;

Result<bool> is_valid_mode(const TypeContext& ctx) {
  const std::string mode = ctx.text("mode");
  if (mode == "same" || mode == "valid") return mode == "valid";
  return ctx.error(fmt::format("filter: mode \"{}\" is unknown", mode), "use \"same\" or \"valid\"", "mode");
}

Status check_window(const TypeContext& ctx) {
  const ir::Type& window = ctx.input(1);
  if (window.ndim != 2)
    return ctx.error(fmt::format("filter: the window has {} dimensions, not two", window.ndim),
                     "give it as [rows, columns]");
  for (int64_t extent : window.extents)
    if (extent < 0)
      return ctx.error("filter: the extents of the window are not known while the pipeline is built",
                       "make it with types.Constant, or take it from a table of windows: table[index]");
  if (window.static_volume() < 1 || window.static_volume() > kMaxTaps)
    return ctx.error(
        fmt::format("filter: the window has {} elements", window.static_volume()),
        fmt::format("it may have 1 to {}; split larger ones into filters of rows and of columns", kMaxTaps));
  return {};
}

Status check_anchor(const TypeContext& ctx) {
  GALATEA_TRY(check_length(ctx, "anchor", 2));
  if (!given_static(ctx, "anchor")) return {};
  const auto anchor = ctx.integers("anchor");
  for (size_t d = 0; d < 2; ++d) {
    const int64_t at = anchor[std::min(d, anchor.size() - 1)], extent = ctx.input(1).extents[d];
    if (at < -1 || at >= extent)
      return ctx.error(fmt::format("filter: anchor {} lies outside the window's extent {}", at, extent),
                       "-1 is the middle", "anchor");
  }
  return {};
}

Status check_border(const TypeContext& ctx) {
  const std::string border = ctx.text("border");
  for (const char* known : {"reflect_101", "reflect_1001", "wrap", "clamp", "constant"})
    if (border == known) return {};
  return ctx.error(fmt::format("filter: border \"{}\" is unknown", border),
                   "use \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\"", "border");
}

Types filter_types(const TypeContext& ctx) {
  GALATEA_TRY(check_filter_input(ctx));
  const ir::Type& in = ctx.input(0);
  const auto axes = data_axes(in.layout, in.ndim);
  if (axes.size() != 2)
    return ctx.error(fmt::format("filter works on images; the input is {}", describe(in)));
  GALATEA_TRY(check_window(ctx));
  GALATEA_TRY(check_anchor(ctx));
  GALATEA_TRY(check_border(ctx));
  GALATEA_ASSIGN(const bool valid, is_valid_mode(ctx));
  if (ctx.num_inputs() > 2 && ctx.input(2).static_volume() != 1)
    return ctx.error(fmt::format("filter: fill_value must be one number; it is {}", describe(ctx.input(2))));
  ir::Type out = with_dtype(in, ctx.dtype("dtype", in.dtype));
  for (size_t d = 0; valid && d < 2; ++d) {
    int64_t& extent = out.extents[static_cast<size_t>(axes[d])];
    const int64_t taps = ctx.input(1).extents[d];
    if (extent >= 0 && extent < taps)
      return ctx.error(
          fmt::format("filter: an image of extent {} has no place for a window of {}", extent, taps));
    if (extent >= 0) extent -= taps - 1;
  }
  return std::vector{out};
}

/// The definition of one node: what lies around the image, and the taps.
class Correlation {
 public:
  explicit Correlation(RecipeBuilder& b)
      : b_(b), axes_(data_axes(b.input_type(0).layout, b.input_type(0).ndim)), border_(b.text("border")) {
    const std::vector<Expr> anchor = list_arg(b, "anchor", 2, DType::kI64);
    for (size_t d = 0; d < 2; ++d) {
      taps_[d] = b.input_type(1).extents[d];
      b.check((anchor[d] >= i64(-1)) & (anchor[d] < i64(taps_[d])),
              fmt::format("anchor {{}} lies outside the window's extent {}", taps_[d]), {anchor[d]}, {},
              "anchor");
      anchor_[d] = select(anchor[d] < i64(0), i64(taps_[d] / 2), anchor[d]);
    }
    if (border_ == "constant") fill_ = b.num_inputs() > 2 ? to_f32(b.element(2, 0)) : f32(0);
  }

  void define() {
    std::vector<Expr> extents = b_.extents(0);
    valid_ = b_.text("mode") == "valid";
    for (size_t d = 0; valid_ && d < 2; ++d) {
      Expr& extent = extents[static_cast<size_t>(axes_[d])];
      b_.check(extent >= i64(taps_[d]),
               fmt::format("an image of extent {{}} has no place for a window of {}", taps_[d]), {extent});
      extent = extent - i64(taps_[d] - 1);
    }
    const DType out = b_.output_type(0).dtype;
    b_.output_stage(0, b_.map("filter", out, extents, [&](const Axes& at) {
      Expr sum;
      for (int64_t j = 0; j < taps_[0]; ++j) {
        for (int64_t i = 0; i < taps_[1]; ++i) {
          const Expr value = sample(at, {j, i}), weight = tap(j, i);
          sum = j + i == 0 ? value * weight : kernel::fma(value, weight, sum);
        }
      }
      return kernel::saturate(sum, out);
    }));
  }

 private:
  Expr tap(int64_t j, int64_t i) const {
    if (taps_[0] * taps_[1] <= kMaxScalarElements) return to_f32(b_.element(1, j * taps_[1] + i));
    return to_f32(b_.load(1, {i64(j), i64(i)}));
  }

  /// The element under tap (j, i), f32.
  Expr sample(const Axes& at, const std::array<int64_t, 2>& tap) const {
    Axes index = at;
    Expr inside = truth(true);
    for (size_t d = 0; d < 2; ++d) {
      const auto axis = static_cast<size_t>(axes_[d]);
      const Expr n = b_.extent(0, axes_[d]);
      index[axis] = at[axis] + i64(tap[d]);
      if (valid_) continue;
      index[axis] = index[axis] - anchor_[d];
      inside = inside & (index[axis] >= i64(0)) & (index[axis] < n);
      if (border_ == "reflect_1001") index[axis] = border_index(index[axis], n, BoundsPolicy::kReflect1001);
      if (border_ == "wrap") index[axis] = border_index(index[axis], n, BoundsPolicy::kWrap);
    }
    if (valid_ || border_ == "reflect_1001" || border_ == "wrap") return to_f32(b_.load(0, index));
    if (border_ == "reflect_101") return to_f32(b_.load(0, index, Border::kReflect101));
    const Expr value = to_f32(b_.load(0, index, Border::kClamp));
    return border_ == "clamp" ? value : select(inside, value, fill_);
  }

  RecipeBuilder& b_;
  std::vector<int> axes_;  ///< of rows and columns
  std::string border_;
  std::array<int64_t, 2> taps_{};
  std::array<Expr, 2> anchor_;
  Expr fill_;
  bool valid_ = false;
};

}  // namespace

Operator make_filter() {
  Operator op;
  op.name = "filter";
  op.aliases = {"experimental.filter"};
  op.summary = "Correlates images with a window.";
  op.documentation =
      "out(y, x) = sum of filter(j, i) * in(y + j - anchor_y, x + i - anchor_x) for each channel: a "
      "correlation, the window is not mirrored. Products are added in f32 row by row as multiply-adds and "
      "rounded half to even at the end.";
  op.inputs = {{.name = "data", .documentation = "image", .axes = "^FD"},
               {.name = "filter",
                .documentation = "the window, FLOAT [rows, columns], of known extents, at most 1024 elements",
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
       .documentation =
           "The element of the window that lies on the output's pixel, one number or (y, x); -1 is "
           "the middle, rounded down."},
      {.name = "border",
       .kind = ArgKind::kString,
       .default_value = std::string("reflect_101"),
       .documentation = "What lies outside the image: \"reflect_101\" (cb|abc), \"reflect_1001\" (cba|abc), "
                        "\"wrap\", \"clamp\" or \"constant\"."},
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
  op.define = [](RecipeBuilder& b) { Correlation(b).define(); };
  return op;
}

}  // namespace galatea::ops
