// Windows: see window.h. Anchors round half away from zero (or toward zero), as the reference's crop does, in
// f64.
#include "stdlib_ops/common/window.h"

#include <strings.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace galatea::ops {

std::vector<ArgSpec> crop_args() {
  return {
      {.name = "crop",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation =
           "Extents of the window, (h, w), or (d, h, w) where there is an axis D, which two numbers leave "
           "whole; 0 keeps the whole extent. Excludes crop_d, crop_h and crop_w."},
      {.name = "crop_h",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Rows of the window; comes with crop_w."},
      {.name = "crop_w",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Columns of the window; comes with crop_h."},
      {.name = "crop_d",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Depth of the window, where there is an axis D; comes with crop_h and crop_w."},
      {.name = "crop_pos_x",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "Horizontal position in [0, 1]: 0 left, 1 right."},
      {.name = "crop_pos_y",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "Vertical position in [0, 1]: 0 top, 1 bottom."},
      {.name = "crop_pos_z",
       .kind = ArgKind::kFloat,
       .default_value = 0.5,
       .per_sample = true,
       .documentation = "Position along the axis D in [0, 1]: 0 front, 1 back."},
      {.name = "rounding",
       .kind = ArgKind::kString,
       .default_value = std::string("round"),
       .documentation = "How a fractional first row or column becomes an integer: \"round\" (half away from "
                        "zero) or \"truncate\"."},
  };
}

std::vector<ArgSpec> bounds_args() {
  return {
      {.name = "out_of_bounds_policy",
       .kind = ArgKind::kString,
       .default_value = std::string("error"),
       .documentation =
           "What happens to a window that reaches outside: \"error\", \"pad\" or \"constant\" (fill_values), "
           "\"trim_to_shape\"; but for crop_mirror_normalize also \"edge\" or \"clamp\", "
           "\"reflect\" or \"reflect_1001\" (cba|abc), \"reflect_101\" (cb|abc), \"wrap\"."},
      {.name = "fill_values",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.0},
       .documentation = "With \"pad\": the value outside, one for all or one per channel."},
  };
}

namespace {

/// What is said of one axis of a window, by its letter.
struct WindowAxis {
  char letter;
  const char *single, *position, *elements;
};
constexpr WindowAxis kWindowAxes[] = {{'D', "crop_d", "crop_pos_z", "slices"},
                                      {'H', "crop_h", "crop_pos_y", "rows"},
                                      {'W', "crop_w", "crop_pos_x", "columns"}};

const WindowAxis& window_axis(char letter) {
  return *std::ranges::find(kWindowAxes, letter, &WindowAxis::letter);
}

/// Where the axis stands in a list of `length` numbers, which speak of the innermost axes; negative:
/// nowhere. A depth in front of the numbers of a picture speaks of no axis, as in DALI.
int place_in_list(const std::string& axes, size_t axis, int64_t length) {
  return static_cast<int>(axis) - static_cast<int>(axes.size()) + static_cast<int>(length);
}

/// The argument that says how much of an axis a window has.
template <class Context>
std::string_view extent_arg(const Context& context, const WindowAxis& axis) {
  return context.given("crop") ? "crop" : axis.single;
}

Result<int64_t> static_window(const TypeContext& ctx, const WindowAxis& axis, int place, int64_t input,
                              bool may_pad) {
  const std::string_view arg = extent_arg(ctx, axis);
  if (ctx.is_per_sample(arg)) return int64_t{-1};
  const auto values = ctx.numbers(arg);
  const double value = values[values.size() > 1 ? static_cast<size_t>(place) : 0];
  constexpr double kMost = 1e15;
  if (!(std::abs(value) < kMost))
    return ctx.error(fmt::format("{}: the number of {} must be finite and less than {:g}, not {:g}",
                                 ctx.op().name, axis.elements, kMost, value),
                     {}, arg);
  const auto extent = static_cast<int64_t>(value);
  if (extent <= 0) return input;
  if (!may_pad && input >= 0 && extent > input)
    return ctx.error(fmt::format("{}: a window of {} {} does not fit an input of {}", ctx.op().name, extent,
                                 axis.elements, input),
                     "make the window smaller or the input larger, or pad with out_of_bounds_policy=\"pad\"",
                     arg);
  return extent;
}

Status check_position(const TypeContext& ctx, std::string_view arg) {
  if (!given_static(ctx, arg)) return {};
  const double p = ctx.number(arg);
  if (p >= 0 && p <= 1) return {};
  return ctx.error(fmt::format("{}: {} must lie in [0, 1], not {}", ctx.op().name, arg, p), {}, arg);
}

/// How many numbers `crop` has: a vector of unknown length has one for each axis.
int64_t crop_length(int64_t known, size_t axes) { return known < 0 ? static_cast<int64_t>(axes) : known; }

int64_t crop_length(const RecipeBuilder& b, size_t axes) {
  const ir::Arg* arg = b.node().find_arg("crop");
  return crop_length(arg->is_value() ? b.type_of(arg->as_value()).static_volume() : b.arg_length("crop"),
                     axes);
}

/// Extent of one axis of the window: truncated; not positive keeps the input's. None where no argument speaks
/// of the axis, and then its position has no meaning either.
std::optional<Expr> window_extent(RecipeBuilder& b, const std::string& axes, size_t n, const Expr& input) {
  const std::string name(extent_arg(b, window_axis(axes[n])));
  if (!b.given(name)) return std::nullopt;
  Expr asked;
  if (name == "crop") {
    const int64_t length = crop_length(b, axes.size());
    const int place = place_in_list(axes, n, length);
    if (place < 0) return std::nullopt;
    asked = list_arg(b, "crop", static_cast<int>(length), DType::kF32)[static_cast<size_t>(place)];
  } else {
    asked = b.arg(name, DType::kF32);
  }
  check_finite(b, name, {asked});
  return select(to_i64(asked) <= i64(0), input, to_i64(asked));
}

}  // namespace

std::string window_axes_of(const Layout& layout) {
  std::string axes;
  for (const WindowAxis& axis : kWindowAxes)
    if (layout.contains(axis.letter)) axes += axis.letter;
  return axes;
}

Result<std::vector<int64_t>> crop_types(const TypeContext& ctx, const std::string& axes,
                                        const std::vector<int64_t>& extents, bool may_pad) {
  if (ctx.given("crop") && ctx.given("crop_d"))
    return ctx.error(fmt::format("{}: 'crop' excludes 'crop_d'", ctx.op().name), "keep one form", "crop");
  if (ctx.given("crop_d") && !ctx.given("crop_h"))
    return ctx.error(fmt::format("{}: 'crop_d' comes with 'crop_h' and 'crop_w'", ctx.op().name),
                     "give all three, or crop=(d, h, w)", "crop_d");
  if (ctx.given("crop") && (ctx.given("crop_h") || ctx.given("crop_w")))
    return ctx.error(fmt::format("{}: 'crop' excludes 'crop_h' and 'crop_w'", ctx.op().name), "keep one form",
                     "crop");
  if (ctx.given("crop_h") != ctx.given("crop_w"))
    return ctx.error(fmt::format("{}: 'crop_h' and 'crop_w' come together", ctx.op().name),
                     "give both, or crop=(h, w)", ctx.given("crop_h") ? "crop_h" : "crop_w");
  if (ctx.given("crop")) {
    const int64_t length = length_of(ctx, "crop");
    if (length >= 0 && length != 2 && length != 3)
      return ctx.error(
          fmt::format("{}: crop needs 2 elements, (h, w), or 3, (d, h, w), not {}", ctx.op().name, length),
          "write crop=(h, w)", "crop");
  }
  const std::string rounding = ctx.text("rounding");
  if (rounding != "round" && rounding != "truncate")
    return ctx.error(
        fmt::format("{}: rounding is \"round\" or \"truncate\", not \"{}\"", ctx.op().name, rounding), {},
        "rounding");
  const int64_t length = ctx.given("crop") ? crop_length(length_of(ctx, "crop"), axes.size()) : 0;
  std::vector<int64_t> window;
  for (size_t n = 0; n < axes.size(); ++n) {
    const int place = ctx.given("crop") ? place_in_list(axes, n, length) : 0;
    const WindowAxis& axis = window_axis(axes[n]);
    if (!ctx.given(extent_arg(ctx, axis)) || place < 0) {
      window.push_back(extents[n]);
      continue;
    }
    GALATEA_TRY(check_position(ctx, axis.position));
    GALATEA_ASSIGN(const int64_t extent, static_window(ctx, axis, place, extents[n], may_pad));
    window.push_back(extent);
  }
  return window;
}

std::vector<AxisRange> crop_window(RecipeBuilder& b, const std::string& axes,
                                   const std::vector<Expr>& extents) {
  const bool truncates = b.text("rounding") == "truncate";
  std::vector<AxisRange> window;
  for (size_t n = 0; n < axes.size(); ++n) {
    const Expr& input = extents[n];
    const std::string_view position = window_axis(axes[n]).position;
    const std::optional<Expr> extent = window_extent(b, axes, n, input);
    if (!extent) {
      window.push_back({i64(0), input});
      continue;
    }
    const Expr p = b.arg(position, DType::kF32);
    b.check((p >= f32(0)) & (p <= f32(1)), fmt::format("{} must lie in [0, 1], not {{}}", position), {p}, {},
            std::string(position));
    const Expr free = to_f64(p) * to_f64(input - *extent);
    window.push_back({truncates ? to_i64(free) : round_to_i64(free), *extent});
  }
  return window;
}

namespace {
std::optional<BoundsPolicy> parse_policy(const std::string& name) {
  // DALI takes this one in any case, and the others as they are.
  if (::strcasecmp(name.c_str(), "pad") == 0) return BoundsPolicy::kPad;
  if (name == "error") return BoundsPolicy::kError;
  if (name == "trim_to_shape") return BoundsPolicy::kTrim;
  if (name == "constant" || name == "fill") return BoundsPolicy::kPad;
  if (name == "edge" || name == "clamp") return BoundsPolicy::kEdge;
  if (name == "reflect" || name == "reflect_1001") return BoundsPolicy::kReflect1001;
  if (name == "reflect_101") return BoundsPolicy::kReflect101;
  if (name == "wrap") return BoundsPolicy::kWrap;
  return std::nullopt;
}
}  // namespace

Result<BoundsPolicy> bounds_policy(const TypeContext& ctx) {
  if (auto policy = parse_policy(ctx.text("out_of_bounds_policy"))) return *policy;
  return ctx.error(
      fmt::format("{}: unknown out_of_bounds_policy \"{}\"", ctx.op().name, ctx.text("out_of_bounds_policy")),
      "use \"error\", \"pad\", \"trim_to_shape\", \"edge\", \"reflect\", \"reflect_101\" or \"wrap\"",
      "out_of_bounds_policy");
}

BoundsPolicy bounds_policy(const RecipeBuilder& b) { return *parse_policy(b.text("out_of_bounds_policy")); }

AxisRange apply_bounds(RecipeBuilder& b, const AxisRange& range, const Expr& input_extent,
                       BoundsPolicy policy, char axis) {
  if (policy == BoundsPolicy::kPad) return range;
  if (is_border(policy)) {
    b.check((input_extent > i64(0)) | equal(range.extent, i64(0)),
            fmt::format("the window needs {{}} elements along {}, the input has none to repeat", axis),
            {range.extent});
    return range;
  }
  const Expr end = range.start + range.extent;
  if (policy == BoundsPolicy::kTrim) {
    const Expr from = clamp(range.start, i64(0), input_extent), to = clamp(end, i64(0), input_extent);
    return {from, to - from};
  }
  // A window of the whole input fits whatever the extent is.
  if (kernel::is_const_int(range.start, 0) && same(range.extent, input_extent)) return range;
  b.check((range.start >= i64(0)) & (end <= input_extent),
          fmt::format("the window from {{}} to {{}} along {} reaches outside the input's extent {{}}", axis),
          {range.start, end, input_extent},
          "make the window smaller, or choose out_of_bounds_policy=\"pad\" or \"trim_to_shape\"");
  return range;
}

Expr inside(RecipeBuilder& b, const std::vector<Expr>& index, const std::vector<int>& dims) {
  Expr all = truth(true);
  for (int d : dims) {
    const Expr& i = index[static_cast<size_t>(d)];
    const Expr here = (i >= i64(0)) & (i < b.extent(0, d));
    all = kernel::is_const(all) ? here : all & here;
  }
  return all;
}

namespace {

/// More channels than any image has.
constexpr int64_t kMaxFills = 1024;

/// What windows do where they change the type, as in DALI: toward zero, then clamped.
Expr truncated(const Expr& value, DType type) {
  if (!is_float(value.type()) || is_float(type)) return kernel::saturate(value, type);
  const Expr wide = value.type() == DType::kF16 ? to_f32(value) : value;
  return kernel::saturate(kernel::unary(ScalarOp::kTrunc, wide), type);
}

}  // namespace

Expr fill_of_channel(RecipeBuilder& b, const Expr& channel, const Expr& channels, DType type) {
  constexpr const char* kOneOrEach = "give one number, or one for each channel";
  std::vector<Expr> values = b.arg_list("fill_values", b.arg_length("fill_values"), DType::kF32);
  if (values.empty()) {
    b.check(kernel::const_bool(false), "fill_values is empty", {}, kOneOrEach, "fill_values");
    values.push_back(f32(0));
  }
  if (values.size() > 1) {
    const auto count = static_cast<int64_t>(values.size());
    b.check(equal(channels, i64(count)), fmt::format("{} values of fill_values for {{}} channels", count),
            {channels}, kOneOrEach, "fill_values");
    if (count > kMaxFills) values.resize(1);  // no sample has so many channels
  }
  for (Expr& value : values) value = truncated(value, type);
  return values.size() == 1 ? values[0] : choose(channel, values);
}

Expr view_start(const AxisRange& range) {
  if (kernel::is_const_int(range.start, 0)) return range.start;
  return select(equal(range.extent, i64(0)), i64(0), range.start);
}

Expr border_index(const Expr& index, const Expr& extent, BoundsPolicy policy) {
  const Expr n = max(extent, i64(1));
  const Expr period = policy == BoundsPolicy::kWrap ? n : n * i64(2);
  const Expr place = ((index % period) + period) % period;
  return policy == BoundsPolicy::kWrap ? place : select(place < n, place, period - i64(1) - place);
}

Expr load_with_border(RecipeBuilder& b, StageRef source, Axes index, const std::vector<int>& moved,
                      BoundsPolicy policy) {
  const auto load = [&](Border border) {
    return source.index < 0 ? b.load(0, std::move(index), border) : b.load(source, std::move(index), border);
  };
  if (policy == BoundsPolicy::kEdge) return load(Border::kClamp);
  if (policy == BoundsPolicy::kReflect101) return load(Border::kReflect101);
  for (int d : moved)
    index[static_cast<size_t>(d)] = border_index(index[static_cast<size_t>(d)], b.extent(0, d), policy);
  return load(Border::kNone);
}

void output_window(RecipeBuilder& b, const std::vector<AxisRange>& ranges, BoundsPolicy policy,
                   int channel_dim) {
  const DType in = b.input_type(0).dtype, out = b.output_type(0).dtype;
  std::vector<Expr> extents, start, step;
  std::vector<int> dims;
  for (size_t d = 0; d < ranges.size(); ++d) {
    extents.push_back(ranges[d].extent);
    start.push_back(view_start(ranges[d]));
    step.push_back(i64(1));
    dims.push_back(static_cast<int>(d));
  }
  const bool stays_inside = policy == BoundsPolicy::kError || policy == BoundsPolicy::kTrim;
  if (stays_inside && in == out) return b.output_view(0, 0, extents, dims, start, step);
  const StageRef stage = b.map("window", out, extents, [&](const Axes& at) {
    Axes index = at;
    std::vector<int> moved;
    for (size_t d = 0; d < ranges.size(); ++d) {
      index[d] = at[d] + ranges[d].start;
      if (!kernel::is_const_int(ranges[d].start, 0) ||
          !same(ranges[d].extent, b.extent(0, static_cast<int>(d))))
        moved.push_back(static_cast<int>(d));
    }
    if (stays_inside || moved.empty()) return truncated(b.load(0, index), out);
    if (is_border(policy)) return truncated(load_with_border(b, {}, index, moved, policy), out);
    // Without an axis C the last one counts as channels, as in DALI.
    const size_t c = channel_dim < 0 ? at.size() - 1 : static_cast<size_t>(channel_dim);
    if (in == out && !b.given("fill_values"))
      return b.load(0, index, Border::kConstant, fill_of_channel(b, i64(0), i64(1), in)->value);
    const Expr value = truncated(b.load(0, index, Border::kConstant, Cell{}), out);
    return select(inside(b, index, moved), value, fill_of_channel(b, at[c], extents[c], out));
  });
  b.output_stage(0, stage);
}

}  // namespace galatea::ops
