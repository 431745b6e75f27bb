// tensor_resize: tensors of any rank and layout, resampled along axes of theirs.
//
// Comes in: a tensor; sizes or scales of some of its axes, or of all. Goes out: the resampled tensor.
#include <algorithm>

#include "stdlib_ops/common/resized.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

std::optional<SizeRounding> size_rounding(std::string_view name) {
  if (name == "round") return SizeRounding::kRound;
  if (name == "truncate") return SizeRounding::kTruncate;
  if (name == "ceil") return SizeRounding::kCeil;
  return std::nullopt;
}

Status check_arguments(const TypeContext& ctx, int count) {
  if (ctx.given("sizes") == ctx.given("scales"))
    return ctx.error(ctx.given("sizes") ? "tensor_resize: sizes and scales exclude each other"
                                        : "tensor_resize: neither sizes nor scales",
                     "give the one or the other, with a number for each axis");
  GALATEA_TRY(check_resize_args(ctx, count));
  if (ctx.given("scales") && keeps_ratios(*resize_mode(ctx.text("mode"))))
    return ctx.error(fmt::format("tensor_resize: mode \"{}\" has no meaning with scales", ctx.text("mode")),
                     "give sizes, or leave mode out", "mode");
  for (const char* list : {"sizes", "scales", "alignment"}) GALATEA_TRY(check_length(ctx, list, count));
  if (!size_rounding(ctx.text("size_rounding")))
    return ctx.error(fmt::format("tensor_resize: unknown size_rounding \"{}\"", ctx.text("size_rounding")),
                     "use \"round\", \"truncate\" or \"ceil\"", "size_rounding");
  return {};
}

/// The output extent along axis number `axis` of those that are named, where input and text fix it.
int64_t static_extent(const TypeContext& ctx, size_t axis, int64_t extent) {
  const char* name = ctx.given("sizes") ? "sizes" : "scales";
  if (!given_static(ctx, name) || ctx.given("max_size")) return -1;
  const auto values = ctx.numbers(name);
  auto size = static_cast<float>(values[values.size() > 1 ? axis : 0]);
  if (ctx.given("scales")) {
    if (extent < 0) return -1;
    size *= static_cast<float>(extent);
  }
  return size == 0 ? -1 : whole_extent(size, *size_rounding(ctx.text("size_rounding")));
}

Types tensor_resize_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (in.ndim == 0)
    return ctx.error("tensor_resize: a scalar has no axis that could be resized",
                     "give a tensor of one axis or more");
  GALATEA_ASSIGN(const std::vector<int> axes, resolve_axes(ctx, in, in.layout));
  GALATEA_TRY(check_arguments(ctx, static_cast<int>(axes.size())));
  GALATEA_ASSIGN(const DType dtype, resampled_dtype(ctx));
  ir::Type out = with_dtype(in, dtype);
  if (keeps_ratios(*resize_mode(ctx.text("mode")))) {
    out.extents.assign(static_cast<size_t>(in.ndim), -1);
    return std::vector{out};
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    int64_t& extent = out.extents[static_cast<size_t>(axes[a])];
    extent = static_extent(ctx, a, extent);
  }
  return std::vector{out};
}

/// One for each axis of the input: axes that are not named have the extent that they have asked for.
std::vector<ResizeRequest> requests_of(RecipeBuilder& b, const std::vector<int>& named) {
  const int ndim = b.input_type(0).ndim, count = static_cast<int>(named.size());
  std::vector<ResizeRequest> requests;
  for (int d = 0; d < ndim; ++d) {
    requests.push_back({.dim = d, .size = {}});
    // DALI's alignment of axes that have none is 0 where it is given.
    if (b.given("alignment")) requests.back().alignment = f64(0);
  }
  const auto list = [&](const char* name) {
    return b.given(name) ? list_arg(b, name, count, DType::kF32) : std::vector<Expr>{};
  };
  const auto sizes = list("sizes"), scales = list("scales"), limits = list("max_size"),
             alignment = list("alignment");
  check_finite(b, "alignment", alignment);
  for (size_t a = 0; a < named.size(); ++a) {
    ResizeRequest& request = requests[static_cast<size_t>(named[a])];
    request.size = to_f64(sizes.empty() ? scales[a] * to_f32(b.full_extent(0, request.dim)) : sizes[a]);
    if (!limits.empty()) request.limit = limit_of(limits[a]);
    if (!alignment.empty()) request.alignment = to_f64(alignment[a]);
    read_region(b, request, a, count);
  }
  return requests;
}

void define_tensor_resize(RecipeBuilder& b) {
  const std::vector<int> named = resolve_axes(b, b.input_type(0).ndim, b.input_type(0).layout);
  const ResizeRule rule{.mode = *resize_mode(b.text("mode")),
                        .rounding = *size_rounding(b.text("size_rounding")),
                        .keeps_scale = b.flag("subpixel_scale")};
  std::vector<ResampleAxis> axes = resample_axes(b, requests_of(b, named), rule);
  if (!keeps_ratios(rule.mode))
    std::erase_if(
        axes, [&](const ResampleAxis& axis) { return std::ranges::find(named, axis.dim) == named.end(); });
  b.output_stage(0, resample(b, std::move(axes), SpatialAxes::kThatChange));
}

std::vector<ArgSpec> own_args() {
  return {
      {.name = "sizes",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation =
           "Extents of the output, one for each axis that is named, or one number for all; 0: not "
           "given; negative: mirrored. Excludes scales."},
      {.name = "scales",
       .kind = ArgKind::kFloatList,
       .per_sample = true,
       .documentation = "Extents of the output as multiples of the input's, also where there is a region; "
                        "otherwise as sizes."},
      {.name = "axes",
       .kind = ArgKind::kIntList,
       .documentation = "The axes that sizes, scales, max_size, alignment, roi_start and roi_end speak of; "
                        "negative numbers count from the end. All axes where it is left out."},
      {.name = "axis_names",
       .kind = ArgKind::kLayout,
       .documentation = "The same by letters of the input's layout, \"HW\"."},
      {.name = "size_rounding",
       .kind = ArgKind::kString,
       .default_value = std::string("round"),
       .documentation =
           "How a fractional extent becomes whole, at least 1: \"round\" (halves away from zero), "
           "\"truncate\" or \"ceil\"."},
      {.name = "alignment",
       .kind = ArgKind::kFloatList,
       .default_value = std::vector<double>{0.5},
       .per_sample = true,
       .documentation =
           "Which part of the region stays in place where subpixel_scale adjusts it: 0 its begin, "
           "0.5 the middle, 1 its end; one number for each axis that is named, or one for all."},
  };
}

}  // namespace

Operator make_tensor_resize() {
  Operator op;
  op.name = "tensor_resize";
  op.aliases = {"experimental.tensor_resize"};
  op.summary = "Resizes tensors along any of their axes.";
  op.documentation =
      "As fn.resize, but of a tensor of any rank and layout, along the axes that are named, innermost axis "
      "first. Axes that are not named keep their extent, and count as asked for it: with mode \"default\" a "
      "size of 0 follows the geometric mean of all ratios, theirs of 1 among them, and with \"not_larger\" and "
      "\"not_smaller\" all axes are scaled alike, channels too. Of nearest neighbours those along the last axis "
      "that changes, or the one behind it where it is alone, are found one by one, the others by adding up "
      "steps, as DALI does.";
  op.inputs = {{.name = "data",
                .documentation = "tensor of at least one axis",
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = own_args();
  append(op.args, resize_args("one for each axis that is named,", "one number for each axis that is named"));
  append(op.args, filter_args());
  op.devices = {"cpu", "gpu"};
  op.example = image_example("fn.tensor_resize(image, sizes=[64, 96], axes=[0, 1]), label");
  op.type_rule = tensor_resize_types;
  op.define = define_tensor_resize;
  return op;
}

}  // namespace galatea::ops
