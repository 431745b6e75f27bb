// resize: images of another size, by size, by one side, by mode, of the whole image or a region.
// resize_crop_mirror: a window of the resized image, which is not made whole, and mirrored.
//
// Comes in: an image; sizes as arguments. Goes out: the resampled image and, with save_attrs, the original
// extents.
#include "stdlib_ops/compat/resize.h"
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/resized.h"
#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

template <typename Context>
ResizeMode mode_of(const Context& c) {
  if (c.given("resize_longer")) return ResizeMode::kNotLarger;
  if (c.given("resize_shorter")) return ResizeMode::kNotSmaller;
  return *resize_mode(c.text("mode"));
}

/// Whether `size` has a number for each of rows and columns, and none for slices.
bool keeps_depth(const TypeContext& c) { return c.given("size") && length_of(c, "size") == 2; }
bool keeps_depth(const RecipeBuilder& b) {
  if (!b.given("size")) return false;
  const ir::Arg* size = b.node().find_arg("size");
  return size->is_value() ? b.type_of(size->as_value()).static_volume() == 2 : b.arg_length("size") == 2;
}

/// The axes that are resampled, outermost first: those of D, H and W that there are.
template <typename Context>
std::string resized_axes(const Context& c) {
  const std::string axes = window_axes_of(c.input_layout(0));
  return axes.starts_with('D') && keeps_depth(c) ? axes.substr(1) : axes;
}

const char* argument_of(char axis) {
  return axis == 'D' ? "resize_z" : axis == 'H' ? "resize_y" : "resize_x";
}

Status check_arguments(const TypeContext& ctx, const std::string& axes) {
  const std::string& name = ctx.op().name;
  // Where there is no axis D, resize_z has no effect, as in DALI.
  const bool xy = ctx.given("resize_x") || ctx.given("resize_y") || ctx.given("resize_z");
  const bool one_side = ctx.given("resize_shorter") || ctx.given("resize_longer");
  const int given = (ctx.given("size") ? 1 : 0) + (xy ? 1 : 0) + (ctx.given("resize_shorter") ? 1 : 0) +
                    (ctx.given("resize_longer") ? 1 : 0);
  if (given == 0)
    return ctx.error(name + ": no size",
                     "give size=(h, w), resize_x and/or resize_y, resize_shorter or resize_longer");
  if (given > 1)
    return ctx.error(name + ": size, resize_x/resize_y, resize_shorter and resize_longer exclude each other",
                     "keep one of them");
  GALATEA_TRY(check_resize_args(ctx, static_cast<int>(axes.size())));
  if (one_side && ctx.given("mode"))
    return ctx.error(name + ": mode has no meaning with resize_shorter or resize_longer", "leave mode out",
                     "mode");
  return check_length(ctx, "size", static_cast<int>(axes.size()));
}

/// The output extent along one of the axes, if the text fixes it.
int64_t static_extent(const TypeContext& ctx, const std::string& axes, size_t axis) {
  if (keeps_ratios(mode_of(ctx)) || ctx.given("max_size")) return -1;
  const char* name = ctx.given("size") ? "size" : argument_of(axes[axis]);
  if (!given_static(ctx, name)) return -1;
  const auto values = ctx.numbers(name);
  const double value = values[values.size() > 1 ? axis : 0];
  return value == 0 ? -1 : whole_extent(static_cast<float>(value), SizeRounding::kRound);
}

Types resize_types(const TypeContext& ctx) {
  const std::string axes = resized_axes(ctx);
  GALATEA_TRY(check_arguments(ctx, axes));
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_resize(ctx));
  GALATEA_ASSIGN(const DType dtype, resampled_dtype(ctx));
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  for (size_t a = 0; a < axes.size(); ++a)
    out.extents[static_cast<size_t>(out.layout.find(axes[a]))] = static_extent(ctx, axes, a);
  std::vector types{out};
  if (ctx.op().find_arg("save_attrs") != nullptr && ctx.flag("save_attrs"))
    types.push_back({.dtype = DType::kI32,
                     .ndim = 1,
                     .layout = {},
                     .device = ir::Device::kCpu,
                     .extents = {static_cast<int64_t>(axes.size())}});
  return types;
}

Expr requested_size(RecipeBuilder& b, const std::string& axes, size_t axis) {
  const int count = static_cast<int>(axes.size());
  if (b.given("size")) return to_f64(list_arg(b, "size", count, DType::kF32)[axis]);
  for (const char* name : {"resize_shorter", "resize_longer"})
    if (b.given(name)) return to_f64(b.arg(name, DType::kF32));
  return to_f64(b.arg(argument_of(axes[axis]), DType::kF32));
}

std::vector<ResampleAxis> resized(RecipeBuilder& b, const std::string& axes) {
  const int count = static_cast<int>(axes.size());
  std::vector<Expr> limits;
  if (b.given("max_size")) limits = list_arg(b, "max_size", count, DType::kF32);
  std::vector<ResizeRequest> requests;
  for (size_t a = 0; a < axes.size(); ++a) {
    ResizeRequest request{.dim = b.input_layout(0).find(axes[a]), .size = requested_size(b, axes, a)};
    read_region(b, request, a, count);
    if (!limits.empty()) request.limit = limit_of(limits[a]);
    requests.push_back(request);
  }
  return resample_axes(b, requests, {.mode = mode_of(b), .keeps_scale = b.flag("subpixel_scale")});
}

/// The last two axes are rows and columns.
void output_resized_places(RecipeBuilder& b, const std::vector<ResampleAxis>& axes) {
  output_places(b, resampled_places(axes.back()), resampled_places(axes[axes.size() - 2]));
}

void define_resize(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) return define_compat_resize(b);
  const std::vector<ResampleAxis> axes = resized(b, resized_axes(b));
  b.output_stage(0, resample(b, axes));
  if (!b.flag("save_attrs")) return;
  std::vector<Expr> originals;
  for (const ResampleAxis& axis : axes)
    originals.push_back(kernel::convert(b.full_extent(0, axis.dim), DType::kI32));
  b.output_scalars(1, std::move(originals));
}

// ---- resize_crop_mirror

Types resize_crop_mirror_types(const TypeContext& ctx) {
  GALATEA_ASSIGN(auto types, resize_types(ctx));
  ir::Type& out = types[0];
  const std::string axes = window_axes_of(out.layout);
  std::vector<int64_t> extents;
  for (const char letter : axes) extents.push_back(out.extents[static_cast<size_t>(out.layout.find(letter))]);
  GALATEA_ASSIGN(const auto window, crop_types(ctx, axes, extents, true));
  for (size_t n = 0; n < axes.size(); ++n)
    out.extents[static_cast<size_t>(out.layout.find(axes[n]))] = window[n];
  return types;
}

/// Bits of `mirror`, per axis.
int64_t mirror_bit(char axis) { return axis == 'W' ? 1 : axis == 'H' ? 2 : 4; }

/// The part of the interval that the cells [start, start + extent) sample, from its end where mirrored. Of
/// numbers that DALI has in f32.
void take_window(ResampleAxis& axis, const AxisRange& range) {
  const Expr step = (axis.hi - axis.lo) / to_f64(max(axis.n, i64(1)));
  const Expr lo = axis.lo;
  axis.lo = to_f64(to_f32(lo + to_f64(range.start) * step));
  axis.hi = to_f64(to_f32(lo + to_f64(range.start + range.extent) * step));
  axis.n = range.extent;
  axis.within = false;  // it may be larger than the resized image
}

/// All of D, H and W that there are. `made`: the output, where its extents are to be known ones.
std::vector<ResampleAxis> resized_windows(RecipeBuilder& b, const ir::Type* made) {
  const std::string axes = window_axes_of(b.input_layout(0)), sized = resized_axes(b);
  std::vector<ResampleAxis> resampled = resized(b, sized);
  if (sized.size() < axes.size()) {  // slices stay as they are, but for the window
    const int depth = b.input_layout(0).find('D');
    const Expr extent = b.full_extent(0, depth);
    resampled.insert(resampled.begin(), {.dim = depth, .lo = f64(0), .hi = to_f64(extent), .n = extent});
  }
  if (b.given("crop") || b.given("crop_h") || b.given("crop_w") || b.given("crop_d")) {
    std::vector<Expr> extents;
    for (const ResampleAxis& axis : resampled) extents.push_back(axis.n);
    const auto window = crop_window(b, axes, extents);
    for (size_t n = 0; n < axes.size(); ++n) {
      const int64_t known = made ? made->extents[static_cast<size_t>(resampled[n].dim)] : -1;
      take_window(resampled[n],
                  {window[n].start, known >= 0 ? kernel::extent_constant(known) : window[n].extent});
    }
  }
  const Expr mirror = b.arg("mirror", DType::kI64);
  for (size_t n = 0; n < axes.size(); ++n) {
    const Expr mirrored = not_equal(mirror & i64(mirror_bit(axes[n])), i64(0));
    const Expr lo = resampled[n].lo;
    resampled[n].lo = select(mirrored, resampled[n].hi, lo);
    resampled[n].hi = select(mirrored, lo, resampled[n].hi);
  }
  return resampled;
}

void define_resize_crop_mirror(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) return define_compat_resize_crop_mirror(b);
  b.output_stage(0, resample(b, resized_windows(b, &b.output_type(0))));
}

std::vector<Port> resize_input() {
  return {{.name = "data",
           .documentation = "image or volume",
           .layouts = {"HWC", "CHW", "DHWC", "CDHW", "DCHW"},
           .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
}

/// The arguments that say the size.
std::vector<ArgSpec> size_args() {
  std::vector<ArgSpec> args = {
      {.name = "size",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation =
           "Extents of the output, (h, w) or one number for both; 0: not given. Where there is an "
           "axis D: (d, h, w), one number for all, or (h, w), which leaves D as it is."},
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
       .per_sample = true,
       .documentation = "Slices of the output, where there is an axis D."},
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
  };
  append(args, resize_args("(h, w)", "(y, x) or (z, y, x)"));
  return args;
}

Operator make_cropped(const std::string& name, bool antialias) {
  Operator op;
  op.name = name;
  op.presets = resize_presets("three calls of the library, resize, crop and flip: ");
  op.inputs = resize_input();
  op.min_inputs = op.max_inputs = 1;
  op.args = size_args();
  append(op.args, filter_args());
  for (ArgSpec& arg : op.args)
    if (arg.name == "antialias") arg.default_value = antialias;
  append(op.args, crop_args());
  op.args.push_back({.name = "mirror",
                     .kind = ArgKind::kInt,
                     .default_value = int64_t{0},
                     .per_sample = true,
                     .documentation = "Bits: 1 reverses the columns, 2 the rows, 4 the slices."});
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn." + name + "(image, resize_shorter=72, crop=(64, 64), mirror=fn.random.coin_flip()), label");
  op.type_rule = resize_crop_mirror_types;
  op.define = define_resize_crop_mirror;
  moves_places(op, [](RecipeBuilder& b) {
    if (b.compat() != op::Compat::kDali) return output_compat_resized_crop_places(b);
    output_resized_places(b, resized_windows(b, nullptr));
  });
  return op;
}

}  // namespace

Operator make_resize() {
  Operator op;
  op.name = "resize";
  op.summary = "Resizes images.";
  op.documentation =
      "Output cell i of n samples the interval [lo, hi) of the image at lo + (i + 1/2) (hi - lo) / n, where "
      "pixel k covers [k, k + 1). Filters (triangle, Catmull-Rom, Lanczos 3, Gaussian, nearest) widen with "
      "the reduction where antialias is on; weights sum to 1; pixels past the edge repeat it; rows are "
      "filtered first, then columns of the result, then slices of a volume. Extents round half away from "
      "zero and are at least 1. Nearest neighbours are found in f32 as DALI finds them, rows by adding one "
      "step after the other, so that masks and labels are equal to DALI's. A negative size or a reversed "
      "region mirrors. mode: \"default\" keeps the aspect ratio where one extent is missing (of several "
      "given, by the mean of their ratios), \"stretch\" keeps the extent, \"not_larger\" and \"not_smaller\" "
      "keep the aspect ratio within or around the given extents.";
  op.inputs = resize_input();
  op.min_inputs = op.max_inputs = 1;
  op.args = size_args();
  op.output_needs = {"", "save_attrs"};
  op.args.push_back({.name = "save_attrs",
                     .kind = ArgKind::kBool,
                     .default_value = false,
                     .documentation = "Adds an output: the original extents, INT32 (H, W) or (D, H, W)."});
  append(op.args, filter_args());
  op.args.push_back(ignored("image_type", ArgKind::kImageType, ir::None{}, "Deprecated."));
  op.devices = {"cpu", "gpu"};
  op.aliases = {"experimental.resize"};
  op.effect = effect("fn.resize(image, size={})", {"[120, 180]", "[60, 90]", "[30, 45]"});
  op.example = image_example("fn.resize(image, size=[64, 96], interp_type=types.INTERP_CUBIC), label");
  op.presets = resize_presets();
  op.type_rule = resize_types;
  op.define = define_resize;
  moves_places(op, [](RecipeBuilder& b) {
    if (b.compat() != op::Compat::kDali) return output_compat_resized_places(b);
    output_resized_places(b, resized(b, resized_axes(b)));
  });
  return op;
}

Operator make_resize_crop_mirror() {
  Operator op = make_cropped("resize_crop_mirror", true);
  op.summary = "Resizes images, cuts a window out, and mirrors it.";
  op.documentation =
      "As fn.resize, fn.crop and fn.flip one after the other, but the window is resampled at once: its place "
      "in the resized image, whose extents are whole, is a part of the region, and only that is read. The "
      "window may be larger than the resized image: the edge of the input is repeated.";
  return op;
}

Operator make_fast_resize_crop_mirror() {
  Operator op = make_cropped("fast_resize_crop_mirror", false);
  op.summary = "As fn.resize_crop_mirror, without antialiasing.";
  op.documentation =
      "DALI's older name of fn.resize_crop_mirror, whose antialias=False is the default here: pixels between "
      "those that are hit are left out where the image becomes smaller.";
  return op;
}

}  // namespace galatea::ops
