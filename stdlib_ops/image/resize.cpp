// resize: images of another size, by size, by one side, by mode, of the whole image or a region.
//
// Comes in: an image; sizes as arguments. Goes out: the resampled image and, with save_attrs, the original
// extents.
#include <array>
#include <cmath>

#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

enum class Mode : uint8_t { kDefault, kStretch, kNotLarger, kNotSmaller };

template <typename Context>
Mode mode_of(const Context& c) {
  if (c.given("resize_longer")) return Mode::kNotLarger;
  if (c.given("resize_shorter")) return Mode::kNotSmaller;
  const std::string text = c.text("mode");
  return text == "stretch"       ? Mode::kStretch
         : text == "not_larger"  ? Mode::kNotLarger
         : text == "not_smaller" ? Mode::kNotSmaller
                                 : Mode::kDefault;
}

Status check_arguments(const TypeContext& ctx) {
  const bool xy = ctx.given("resize_x") || ctx.given("resize_y");
  const bool one_side = ctx.given("resize_shorter") || ctx.given("resize_longer");
  const int given = (ctx.given("size") ? 1 : 0) + (xy ? 1 : 0) + (ctx.given("resize_shorter") ? 1 : 0) +
                    (ctx.given("resize_longer") ? 1 : 0);
  if (given == 0)
    return ctx.error("resize: no size",
                     "give size=(h, w), resize_x and/or resize_y, resize_shorter or resize_longer");
  if (given > 1)
    return ctx.error("resize: size, resize_x/resize_y, resize_shorter and resize_longer exclude each other",
                     "keep one of them");
  const std::string mode = ctx.text("mode");
  if (mode != "default" && mode != "stretch" && mode != "not_larger" && mode != "not_smaller")
    return ctx.error(fmt::format("resize: unknown mode \"{}\"", mode),
                     "use \"default\", \"stretch\", \"not_larger\" or \"not_smaller\"", "mode");
  if (one_side && ctx.given("mode"))
    return ctx.error("resize: mode has no meaning with resize_shorter or resize_longer", "leave mode out",
                     "mode");
  if (ctx.given("roi_start") != ctx.given("roi_end"))
    return ctx.error("resize: roi_start and roi_end come together", {},
                     ctx.given("roi_start") ? "roi_start" : "roi_end");
  for (const char* name : {"size", "max_size", "roi_start", "roi_end"})
    GALATEA_TRY(check_length(ctx, name, 2));
  if (ctx.given("max_size"))
    for (double m : ctx.numbers("max_size"))
      if (!(m > 0))
        return ctx.error(fmt::format("resize: max_size must be positive, not {}", m), {}, "max_size");
  return {};
}

/// The output extent, if the text fixes it: axis 0 is rows, 1 columns.
int64_t static_extent(const TypeContext& ctx, int axis) {
  const Mode mode = mode_of(ctx);
  if (mode == Mode::kNotLarger || mode == Mode::kNotSmaller || ctx.given("max_size")) return -1;
  const char* name = ctx.given("size") ? "size" : axis == 0 ? "resize_y" : "resize_x";
  if (!given_static(ctx, name)) return -1;
  const auto values = ctx.numbers(name);
  const double value = std::abs(values[values.size() > 1 ? static_cast<size_t>(axis) : 0]);
  return value == 0 ? -1 : std::max<int64_t>(1, std::llround(static_cast<float>(value)));
}

Types resize_types(const TypeContext& ctx) {
  GALATEA_TRY(check_arguments(ctx));
  GALATEA_ASSIGN(const DType dtype, resampled_dtype(ctx));
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  out.extents[static_cast<size_t>(at.h)] = static_extent(ctx, 0);
  out.extents[static_cast<size_t>(at.w)] = static_extent(ctx, 1);
  std::vector types{out};
  if (ctx.flag("save_attrs"))
    types.push_back(
        {.dtype = DType::kI32, .ndim = 1, .layout = {}, .device = ir::Device::kCpu, .extents = {2}});
  return types;
}

/// What is asked of one axis: the interval lo < hi, its length, the requested extent (negative: mirrored),
/// whether one was requested. All f64, of numbers that DALI has in f32.
struct Request {
  Expr lo, hi, length, size, given;
};

Expr requested_size(RecipeBuilder& b, int axis) {
  if (b.given("size")) return to_f64(list_arg(b, "size", 2, DType::kF32)[static_cast<size_t>(axis)]);
  for (const char* name : {"resize_shorter", "resize_longer"})
    if (b.given(name)) return to_f64(b.arg(name, DType::kF32));
  return to_f64(b.arg(axis == 0 ? "resize_y" : "resize_x", DType::kF32));
}

/// Through f32 and back.
Expr rounded_to_f32(const Expr& e) { return to_f64(to_f32(e)); }

Request request_of_axis(RecipeBuilder& b, int axis, int dim) {
  const Expr extent = to_f64(b.full_extent(0, dim));
  Request r{f64(0), extent, {}, requested_size(b, axis), {}};
  b.check(absolute(r.size) <= f64(1 << 24), "the size {} is not an extent of an image", {r.size});
  if (b.given("roi_start")) {
    const Expr factor = b.flag("roi_relative") ? to_f32(b.full_extent(0, dim)) : f32(1);
    const Expr start = to_f64(list_arg(b, "roi_start", 2, DType::kF32)[static_cast<size_t>(axis)] * factor);
    const Expr end = to_f64(list_arg(b, "roi_end", 2, DType::kF32)[static_cast<size_t>(axis)] * factor);
    const Expr mirrored = end < start;
    r.lo = kernel::min(start, end);
    r.hi = max(start, end);
    r.size = select(mirrored, -r.size, r.size);
    // An interval of (almost) no length is widened about its centre.
    const Expr narrow = (r.hi - r.lo) < f64(1e-3), centre = (r.lo + r.hi) * f64(0.5);
    r.lo = select(narrow, centre - f64(0.5e-3), r.lo);
    r.hi = select(narrow, centre + f64(0.5e-3), r.hi);
  }
  r.length = b.given("roi_start") ? rounded_to_f32(r.hi - r.lo) : r.hi;
  r.given = not_equal(r.size, f64(0));
  b.check(logical_not(r.given) | (b.full_extent(0, dim) > i64(0)),
          "an image without rows or columns cannot be resized to {}", {r.size});
  return r;
}

/// Fractional output extents (signed) of both axes.
std::array<Expr, 2> fractional_sizes(RecipeBuilder& b, const std::array<Request, 2>& r, Mode mode) {
  std::array<Expr, 2> limit;
  const bool limited = b.given("max_size");
  if (limited)
    for (size_t a = 0; a < 2; ++a) limit[a] = to_f64(list_arg(b, "max_size", 2, DType::kF32)[a]);
  auto ratio = [&](size_t a) { return rounded_to_f32(absolute(r[a].size) / r[a].length); };
  std::array<Expr, 2> out;
  if (mode == Mode::kDefault || mode == Mode::kStretch) {
    for (size_t a = 0; a < 2; ++a) {
      // A missing extent follows the other one, so that the aspect ratio stays.
      const Expr follow = mode == Mode::kStretch
                              ? r[a].length
                              : select(r[1 - a].given, r[a].length * ratio(1 - a), r[a].length);
      out[a] = select(r[a].given, r[a].size, follow);
      if (limited)
        out[a] = select(out[a] < f64(0), -kernel::min(-out[a], limit[a]), kernel::min(out[a], limit[a]));
    }
    return out;
  }
  const bool larger = mode == Mode::kNotSmaller;
  const Expr both = larger ? max(ratio(0), ratio(1)) : kernel::min(ratio(0), ratio(1));
  Expr scale = select(r[0].given & r[1].given, both,
                      select(r[0].given, ratio(0), select(r[1].given, ratio(1), f64(1))));
  if (limited)
    for (size_t a = 0; a < 2; ++a) scale = kernel::min(scale, limit[a] / r[a].length);
  for (size_t a = 0; a < 2; ++a) {
    // The axis that says the scale has the extent that was asked for.
    const Expr size = select(r[a].given & equal(ratio(a), scale), absolute(r[a].size), r[a].length * scale);
    out[a] = select(r[a].size < f64(0), -size, size);
  }
  return out;
}

/// The interval and whole extent that resampling gets.
ResampleAxis resample_axis(RecipeBuilder& b, const Request& r, const Expr& fractional, int dim) {
  const Expr size = to_f32(absolute(fractional));
  const Expr rounded = max(round_to_i64(size), i64(1));
  // Only an axis without a request can be empty here.
  const bool fixed = kernel::is_const(r.given);
  const Expr n = fixed && kernel::is_const(rounded)
                     ? rounded
                     : select(equal(b.full_extent(0, dim), i64(0)), i64(0), rounded);
  ResampleAxis axis{.dim = dim, .lo = r.lo, .hi = r.hi, .n = n, .within = !b.given("roi_start")};
  if (b.flag("subpixel_scale")) {
    // The scale stays the fractional one: the interval grows or shrinks about its centre by what rounding did
    // to the extent.
    const Expr exact = equal(to_f32(rounded), size);
    const Expr factor = clamp(to_f64(rounded) / to_f64(size), f64(-10), f64(10));
    const Expr centre = (r.lo + r.hi) * f64(0.5);
    axis.lo = select(exact, r.lo, rounded_to_f32(centre + (r.lo - centre) * factor));
    axis.hi = select(exact, r.hi, rounded_to_f32(centre + (r.hi - centre) * factor));
  }
  const Expr mirrored = fractional < f64(0);
  const Expr lo = axis.lo;
  axis.lo = select(mirrored, axis.hi, axis.lo);
  axis.hi = select(mirrored, lo, axis.hi);
  return axis;
}

void define_resize(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const std::array<Request, 2> requests = {request_of_axis(b, 0, at.h), request_of_axis(b, 1, at.w)};
  const auto sizes = fractional_sizes(b, requests, mode_of(b));
  const ResampleAxis rows = resample_axis(b, requests[0], sizes[0], at.h);
  const ResampleAxis columns = resample_axis(b, requests[1], sizes[1], at.w);
  b.output_stage(0, resample(b, rows, columns));
  if (b.flag("save_attrs"))
    b.output_scalars(1, {kernel::convert(b.full_extent(0, at.h), DType::kI32),
                         kernel::convert(b.full_extent(0, at.w), DType::kI32)});
}

}  // namespace

Operator make_resize() {
  Operator op;
  op.name = "resize";
  op.summary = "Resizes images.";
  op.documentation =
      "Output cell i of n samples the interval [lo, hi) of the image at lo + (i + 1/2) (hi - lo) / n, where "
      "pixel k covers [k, k + 1). Filters (triangle, Catmull-Rom, Lanczos 3, Gaussian, nearest) widen "
      "with the reduction where antialias is on; weights sum to 1; pixels past the edge repeat it; rows are "
      "filtered first, then columns of the result. Extents round half away from zero and are at least 1. "
      "Nearest neighbours are found in f32 as DALI finds them, rows by adding one step after the other, so "
      "that "
      "masks and labels are equal to DALI's. "
      "A negative size or a reversed region mirrors. mode: \"default\" keeps the aspect ratio where one "
      "extent is missing, \"stretch\" keeps the extent, \"not_larger\" and \"not_smaller\" keep the aspect "
      "ratio within or "
      "around the given extents.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC", "CHW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {
      {.name = "size",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Extents of the output, (h, w) or one number for both; 0: not given."},
      {.name = "resize_x",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Columns of the output."},
      {.name = "resize_y",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Rows of the output."},
      {.name = "resize_z",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .documentation = "Depth of the output.",
       .refused = "volumes are not supported yet"},
      {.name = "resize_shorter",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Extent of the shorter side; the aspect ratio is kept."},
      {.name = "resize_longer",
       .kind = ArgKind::kFloat,
       .default_value = 0.0,
       .per_sample = true,
       .documentation = "Extent of the longer side; the aspect ratio is kept."},
      {.name = "mode",
       .kind = ArgKind::kString,
       .default_value = std::string("default"),
       .documentation = "\"default\", \"stretch\", \"not_larger\" or \"not_smaller\"."},
      {.name = "max_size",
       .kind = ArgKind::kFloatList,
       .documentation = "Largest extents of the output, (h, w) or one number."},
      {.name = "subpixel_scale",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation =
           "Whether the region is adjusted so that a rounded extent keeps the fractional scale."},
      {.name = "roi_start",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Begin of the region of interest, (y, x)."},
      {.name = "roi_end",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "End of the region of interest, (y, x)."},
      {.name = "roi_relative",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Whether the region is a fraction of the input's extents."},
      {.name = "save_attrs",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "Adds an output: the original extents, INT32 (H, W)."},
  };
  append(op.args, filter_args());
  op.args.push_back(ignored("image_type", ArgKind::kImageType, ir::None{}, "Deprecated."));
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.resize(image, size=[64, 96], interp_type=types.INTERP_CUBIC), label");
  op.type_rule = resize_types;
  op.define = define_resize;
  return op;
}

}  // namespace galatea::ops
