// Windows of slices: see slice_window.h. Fractional positions round half away from zero.
#include "stdlib_ops/common/slice_window.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace galatea::ops {

std::vector<ArgSpec> slice_args() {
  return {
      {.name = "start",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "First position per axis; 0 if not given. Excludes rel_start."},
      {.name = "end",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Position after the last one per axis; the extent if not given."},
      {.name = "shape",
       .kind = ArgKind::kIntList,
       .per_sample = true,
       .documentation = "Extents of the window, instead of an end."},
      {.name = "rel_start",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "start as a fraction of the input's extents."},
      {.name = "rel_end",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "end as a fraction of the input's extents."},
      {.name = "rel_shape",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "shape as a fraction of the input's extents."},
      {.name = "axes",
       .kind = ArgKind::kIntList,
       .default_value = std::vector<int64_t>{1, 0},
       .per_sample = true,
       .documentation = "The axes that the positions speak of, in their order."},
      {.name = "axis_names",
       .kind = ArgKind::kLayout,
       .default_value = std::string("WH"),
       .documentation = "The same by letters of the layout (x first by default). "
                        "Without a layout, two axes are HW, three HWC, four DHWC."},
      {.name = "normalized_anchor",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether a float anchor input is relative to the extents."},
      {.name = "normalized_shape",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether a float shape input is relative to the extents."},
  };
}

namespace {

template <typename Context>
bool by_number(const Context& c) {
  return c.given("axes") && !c.given("axis_names");
}

/// What DALI takes letters for where the input has no layout.
Layout layout_or_usual(const Layout& layout, int ndim) {
  if (!layout.empty()) return layout;
  return Layout(ndim == 2 ? "HW" : ndim == 3 ? "HWC" : ndim == 4 ? "DHWC" : "");
}

template <typename Context>
std::vector<int> axes_of(const Context& c, const Layout& given, int ndim) {
  const Layout layout = layout_or_usual(given, ndim);
  std::vector<int> axes;
  if (by_number(c)) {
    for (int64_t a : c.integers("axes")) axes.push_back(static_cast<int>(a < 0 ? a + ndim : a));
  } else {
    for (char letter : c.text("axis_names")) axes.push_back(layout.find(letter));
  }
  if (axes.empty())
    for (int d = 0; d < ndim; ++d) axes.push_back(d);
  return axes;
}

template <typename Context>
const char* end_argument(const Context& c) {
  for (const char* name : {"end", "rel_end", "shape", "rel_shape"})
    if (c.given(name)) return name;
  return nullptr;
}

}  // namespace

Result<std::vector<int>> slice_axes(const TypeContext& ctx, const Layout& layout, int ndim) {
  const std::string arg = by_number(ctx) ? "axes" : "axis_names";
  if (ctx.given("axes") && ctx.given("axis_names"))
    return ctx.error(fmt::format("{}: 'axes' and 'axis_names' exclude each other", ctx.op().name),
                     "keep one of them", "axes");
  if (!by_number(ctx) && layout_or_usual(layout, ndim).empty() && !ctx.text("axis_names").empty())
    return ctx.error(fmt::format("{}: axis_names \"{}\" needs an input with a layout", ctx.op().name,
                                 ctx.text("axis_names")),
                     "give axes=[…], or name the axes with fn.reshape(x, layout=…)",
                     ctx.given("axis_names") ? "axis_names" : "");
  const auto axes = axes_of(ctx, layout, ndim);
  for (size_t n = 0; n < axes.size(); ++n) {
    if (axes[n] < 0 || axes[n] >= ndim)
      return ctx.error(
          fmt::format("{}: {} names an axis that the input (layout '{}', {} dimensions) does not have",
                      ctx.op().name, arg, layout.str(), ndim),
          {}, ctx.given(arg) ? arg : "");
    if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(n), axes[n]) !=
        axes.begin() + static_cast<std::ptrdiff_t>(n))
      return ctx.error(fmt::format("{}: {} names an axis twice", ctx.op().name, arg), {}, arg);
  }
  return axes;
}

std::vector<int> slice_axes(const RecipeBuilder& b, const Layout& layout, int ndim) {
  return axes_of(b, layout, ndim);
}

Status check_slice(const TypeContext& ctx, int num_axes, int first_positional) {
  const bool positional = ctx.num_inputs() > first_positional;
  if (positional && ctx.num_inputs() != first_positional + 2)
    return ctx.error(fmt::format("{}: an anchor input comes with a shape input", ctx.op().name),
                     "pass both, or start= and shape=");
  int ends = 0;
  for (const char* name : {"end", "rel_end", "shape", "rel_shape"})
    if (ctx.given(name) && ++ends > 1)
      return ctx.error(fmt::format("{}: end, rel_end, shape and rel_shape exclude each other", ctx.op().name),
                       "keep one of them", name);
  bool is_named = false;
  for (const char* name : {"start", "end", "shape", "rel_start", "rel_end", "rel_shape"}) {
    if (!ctx.given(name)) continue;
    is_named = true;
    if (positional)
      return ctx.error(fmt::format("{}: '{}' excludes the anchor and shape inputs", ctx.op().name, name),
                       "keep one form", name);
    GALATEA_TRY(check_length(ctx, name, num_axes));
  }
  if (!positional && !is_named)
    return ctx.error(fmt::format("{}: no window is given", ctx.op().name),
                     "write start= and end=, or start= and shape=");
  if (ctx.given("start") && ctx.given("rel_start"))
    return ctx.error(fmt::format("{}: start and rel_start exclude each other", ctx.op().name), {},
                     "rel_start");
  for (int k = first_positional; positional && k < first_positional + 2; ++k) {
    const ir::Type& type = ctx.input(k);
    if (type.ndim > 1 || is_bool(type.dtype))
      return ctx.error(fmt::format("{}: anchor and shape are 1-D tensors of numbers, not {}", ctx.op().name,
                                   describe(type)),
                       "give one number per axis, as fn.stack(y, x)");
    if (num_axes >= 0 && type.static_volume() >= 0 && type.static_volume() != num_axes)
      return ctx.error(
          fmt::format("{}: anchor and shape need {} elements, one per axis; got {}", ctx.op().name, num_axes,
                      describe(type)),
          fmt::format("fix the length with fn.reshape(x, shape=[{}]), or build it with fn.stack", num_axes));
  }
  return {};
}

int64_t static_slice_extent(const TypeContext& ctx, int n, int num_axes, int64_t input,
                            int first_positional) {
  (void)num_axes;
  if (ctx.num_inputs() > first_positional) return -1;
  auto value = [&](const char* name) {
    const auto list = ctx.numbers(name);
    return list[list.size() > 1 ? static_cast<size_t>(n) : 0];
  };
  const char* end = end_argument(ctx);
  const bool relative_start = ctx.given("rel_start");
  const char* start = relative_start ? "rel_start" : "start";
  if ((ctx.given(start) && ctx.is_per_sample(start)) || (end != nullptr && ctx.is_per_sample(end))) return -1;
  if (end == nullptr && !ctx.given(start)) return input;
  if (end != nullptr && std::string_view(end) == "shape" && !relative_start)
    return static_cast<int64_t>(value("shape"));
  return -1;
}

namespace {

/// What the arguments say of one axis: an element of each list, and of the inputs anchor and shape.
struct AxisArguments {
  std::function<Expr(const char* name, DType type)> list;
  std::function<Expr(int input)> element;
};

AxisRange range_by(RecipeBuilder& b, const AxisArguments& arguments, const Expr& input_extent,
                   int first_positional) {
  const Expr length = to_f64(input_extent);
  const bool positional = b.num_inputs() > first_positional;
  const auto list = [&](const char* name) {
    const bool is_relative = std::string_view(name).starts_with("rel_");
    Expr number = arguments.list(name, is_relative ? DType::kF32 : DType::kI64);
    if (is_relative) check_finite(b, name, {number});
    return number;
  };
  // As in DALI, an argument is multiplied in f32 (0.45 of 150 is 67.5, not 67.4999998), and what an input
  // says in f64; so are a start and a shape that are both relative, which meet as one product.
  const auto relative = [&](const char* name) { return to_f64(list(name) * to_f32(input_extent)); };
  Expr start = i64(0), end = input_extent;
  if (positional) {
    const Expr a = arguments.element(first_positional), s = arguments.element(first_positional + 1);
    const bool float_a = is_float(a.type()), float_s = is_float(s.type());
    const bool scale_a = float_a && b.flag("normalized_anchor"),
               scale_s = float_s && b.flag("normalized_shape");
    const Expr from = scale_a ? to_f64(a) * length : to_f64(a);
    start = round_to_i64(from);
    end = scale_a && scale_s ? round_to_i64((to_f64(a) + to_f64(s)) * length)
                             : round_to_i64(from + (scale_s ? to_f64(s) * length : to_f64(s)));
    if (!float_a && !float_s) {
      start = kernel::saturate(a, DType::kI64);
      end = start + kernel::saturate(s, DType::kI64);
    }
  } else {
    const auto relative_end = [&] {
      const Expr shape = to_f64(list("rel_shape"));
      const Expr rounded = round_to_i64((to_f64(list("rel_start")) + shape) * length);
      // The two products can round to either side of a half, where the shape is next to nothing.
      return select(shape >= f64(0), max(rounded, start), rounded);
    };
    Expr from = f64(0);
    if (b.given("start")) {
      start = list("start");
      from = to_f64(start);
    } else if (b.given("rel_start")) {
      from = relative("rel_start");
      start = round_to_i64(from);
    }
    if (b.given("end"))
      end = list("end");
    else if (b.given("rel_end"))
      end = round_to_i64(relative("rel_end"));
    else if (b.given("shape"))
      end = b.given("rel_start") ? round_to_i64(from + to_f64(list("shape"))) : start + list("shape");
    else if (b.given("rel_shape") && b.given("rel_start"))
      end = relative_end();
    else if (b.given("rel_shape"))
      end = round_to_i64(from + relative("rel_shape"));
  }
  Expr extent = end - start;
  if (!positional && b.given("shape") && !b.given("rel_start"))
    extent = list("shape");  // stays constant where it is written as one
  // Of ends past all integers the difference may have any sign.
  for (const Expr& in_order : {extent >= i64(0), end >= start})
    b.check(in_order, "the window ends at {}, before its start {}", {end, start},
            "start must not exceed end, and shape must not be negative");
  return {start, extent};
}

}  // namespace

AxisRange slice_range(RecipeBuilder& b, int n, int num_axes, const Expr& input_extent, int first_positional) {
  const AxisArguments arguments = {
      [&](const char* name, DType type) { return list_arg(b, name, num_axes, type)[static_cast<size_t>(n)]; },
      [&](int input) { return input_element(b, input, n, num_axes); }};
  return range_by(b, arguments, input_extent, first_positional);
}

std::vector<AxisRange> slice_ranges_of_sample(RecipeBuilder& b, const std::vector<Expr>& extents,
                                              int first_positional) {
  const auto ndim = static_cast<int>(extents.size());
  const SampleAxes named = axes_of_sample(b, ndim);
  const std::vector<Expr>& axes = named.axes;
  std::vector<Expr> starts, lengths;
  Expr axis;
  for (size_t n = 0; n < axes.size(); ++n) {
    // Past the end the last axis stands once more, as its elements do.
    axis = n > 0 && named.count ? select(axes[n] < i64(0), axis, axes[n]) : axes[n];
    const AxisArguments arguments = {
        [&](const char* name, DType type) { return list_of_axes(b, name, named, type)[n]; },
        [&](int input) { return input_of_axes(b, input, named)[n]; }};
    const AxisRange range = range_by(b, arguments, choose(axis, extents), first_positional);
    starts.push_back(range.start);
    lengths.push_back(range.extent);
  }
  std::vector<AxisRange> ranges;
  for (int d = 0; d < ndim; ++d)
    ranges.push_back({value_of_axis(axes, d, starts, i64(0)),
                      value_of_axis(axes, d, lengths, extents[static_cast<size_t>(d)])});
  return ranges;
}

}  // namespace galatea::ops
