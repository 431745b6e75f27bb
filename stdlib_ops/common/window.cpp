// Windows: see window.h. Anchors round half away from zero (or toward zero), as the reference's crop does, in
// f64.
#include "stdlib_ops/common/window.h"

#include <optional>

namespace galatea::ops {

std::vector<ArgSpec> crop_args() {
  const char* const no_volumes = "volumes are not supported yet";
  return {
      {.name = "crop",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation =
           "Extents of the window, (h, w); 0 keeps the whole extent. Excludes crop_h and crop_w."},
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
       .documentation = "Depth of the window.",
       .refused = no_volumes},
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
       .documentation = "Position along the depth.",
       .refused = no_volumes},
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

Result<int64_t> static_window(const TypeContext& ctx, std::string_view arg, int index, int64_t input,
                              bool may_pad) {
  if (!ctx.given(arg)) return input;
  if (ctx.is_per_sample(arg)) return int64_t{-1};
  const auto values = ctx.numbers(arg);
  const double value = values[values.size() > 1 ? static_cast<size_t>(index) : 0];
  const auto extent = static_cast<int64_t>(value);
  if (extent <= 0) return input;
  if (!may_pad && input >= 0 && extent > input)
    return ctx.error(fmt::format("{}: a window of {} {} does not fit an input of {}", ctx.op().name, extent,
                                 index == 0 ? "rows" : "columns", input),
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

/// Extent of one axis of the window: truncated; absent or not positive keeps the input's.
Expr window_extent(RecipeBuilder& b, std::string_view list, std::string_view single, int index,
                   const Expr& input) {
  Expr asked;
  if (b.given(list))
    asked = list_arg(b, list, 2, DType::kF32)[static_cast<size_t>(index)];
  else if (b.given(single))
    asked = b.arg(single, DType::kF32);
  else
    return input;
  return select(to_i64(asked) <= i64(0), input, to_i64(asked));
}

}  // namespace

Result<std::pair<int64_t, int64_t>> crop_types(const TypeContext& ctx, int64_t input_h, int64_t input_w,
                                               bool may_pad) {
  if (ctx.given("crop") && (ctx.given("crop_h") || ctx.given("crop_w")))
    return ctx.error(fmt::format("{}: 'crop' excludes 'crop_h' and 'crop_w'", ctx.op().name), "keep one form",
                     "crop");
  if (ctx.given("crop_h") != ctx.given("crop_w"))
    return ctx.error(fmt::format("{}: 'crop_h' and 'crop_w' come together", ctx.op().name),
                     "give both, or crop=(h, w)", ctx.given("crop_h") ? "crop_h" : "crop_w");
  if (ctx.given("crop")) {
    const int64_t length = length_of(ctx, "crop");
    if (length != 2 && length >= 0)
      return ctx.error(fmt::format("{}: crop needs 2 elements, (h, w), not {}", ctx.op().name, length),
                       "write crop=(h, w)", "crop");
  }
  GALATEA_TRY(check_position(ctx, "crop_pos_x"));
  GALATEA_TRY(check_position(ctx, "crop_pos_y"));
  const std::string rounding = ctx.text("rounding");
  if (rounding != "round" && rounding != "truncate")
    return ctx.error(
        fmt::format("{}: rounding is \"round\" or \"truncate\", not \"{}\"", ctx.op().name, rounding), {},
        "rounding");
  GALATEA_ASSIGN(const int64_t h,
                 static_window(ctx, ctx.given("crop") ? "crop" : "crop_h", 0, input_h, may_pad));
  GALATEA_ASSIGN(const int64_t w,
                 static_window(ctx, ctx.given("crop") ? "crop" : "crop_w", 1, input_w, may_pad));
  return std::pair{h, w};
}

std::pair<AxisRange, AxisRange> crop_window(RecipeBuilder& b, const Expr& input_h, const Expr& input_w) {
  const bool truncates = b.text("rounding") == "truncate";
  auto axis = [&](std::string_view single, std::string_view position, int index, const Expr& input) {
    const Expr extent = window_extent(b, "crop", single, index, input);
    const Expr p = b.arg(position, DType::kF32);
    b.check((p >= f32(0)) & (p <= f32(1)), fmt::format("{} must lie in [0, 1], not {{}}", position), {p}, {},
            std::string(position));
    const Expr free = to_f64(p) * to_f64(input - extent);
    return AxisRange{truncates ? to_i64(free) : round_to_i64(free), extent};
  };
  const AxisRange rows = axis("crop_h", "crop_pos_y", 0, input_h);
  return {rows, axis("crop_w", "crop_pos_x", 1, input_w)};
}

namespace {
std::optional<BoundsPolicy> parse_policy(const std::string& name) {
  if (name == "error") return BoundsPolicy::kError;
  if (name == "trim_to_shape") return BoundsPolicy::kTrim;
  if (name == "pad" || name == "constant") return BoundsPolicy::kPad;
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

/// What windows do where they change the type, as in DALI: toward zero, then clamped.
Expr truncated(const Expr& value, DType type) {
  if (!is_float(value.type()) || is_float(type)) return kernel::saturate(value, type);
  const Expr wide = value.type() == DType::kF16 ? to_f32(value) : value;
  return kernel::saturate(kernel::unary(ScalarOp::kTrunc, wide), type);
}

}  // namespace

Expr fill_of_channel(const RecipeBuilder& b, const Expr& channel, DType type) {
  std::vector<Expr> values = b.arg_list("fill_values", b.arg_length("fill_values"), DType::kF32);
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

namespace {

/// The input's element for a window that reaches outside under a border policy.
Expr load_with_border(RecipeBuilder& b, Axes index, const std::vector<int>& moved, BoundsPolicy policy) {
  if (policy == BoundsPolicy::kEdge) return b.load(0, index, Border::kClamp);
  if (policy == BoundsPolicy::kReflect101) return b.load(0, index, Border::kReflect101);
  for (int d : moved)
    index[static_cast<size_t>(d)] = border_index(index[static_cast<size_t>(d)], b.extent(0, d), policy);
  return b.load(0, index);
}

}  // namespace

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
    if (is_border(policy)) return truncated(load_with_border(b, index, moved, policy), out);
    const Expr channel = channel_dim < 0 ? i64(0) : at[static_cast<size_t>(channel_dim)];
    if (in == out && !b.given("fill_values"))
      return b.load(0, index, Border::kConstant, fill_of_channel(b, i64(0), in)->value);
    const Expr value = truncated(b.load(0, index, Border::kConstant, Cell{}), out);
    return select(inside(b, index, moved), value, fill_of_channel(b, channel, out));
  });
  b.output_stage(0, stage);
}

}  // namespace galatea::ops
