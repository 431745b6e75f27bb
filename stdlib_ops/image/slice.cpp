// slice: a window given by start and end or shape.
//
// Comes in: any tensor; positions as arguments or as two more inputs. Goes out: a view; with padding or
// another type, a map.
#include <algorithm>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/slice_window.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types slice_type_rule(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  GALATEA_ASSIGN(const BoundsPolicy policy, bounds_policy(ctx));
  std::vector<int> axes;
  if (selects_axes_per_sample(ctx)) {
    GALATEA_ASSIGN(const int named, count_axes_of_sample(ctx, out.ndim));
    GALATEA_TRY(check_slice(ctx, named, 1));
    std::ranges::fill(out.extents, -1);
  } else {
    GALATEA_ASSIGN(axes, slice_axes(ctx, out.layout, out.ndim));
    GALATEA_TRY(check_slice(ctx, static_cast<int>(axes.size()), 1));
  }
  const int count = static_cast<int>(axes.size());
  for (int n = 0; n < count; ++n) {
    int64_t& extent = out.extents[static_cast<size_t>(axes[static_cast<size_t>(n)])];
    const int64_t known = static_slice_extent(ctx, n, count, extent, 1);
    if (policy == BoundsPolicy::kError && known >= 0 && extent >= 0 && known > extent)
      return ctx.error(fmt::format("slice: a window of {} does not fit axis {} of {}", known,
                                   axes[static_cast<size_t>(n)], describe(ctx.input(0))),
                       "make it smaller, or pad with out_of_bounds_policy=\"pad\"", "shape");
    if (known < -1) return ctx.error("slice: negative shape", {}, "shape");
    extent = policy == BoundsPolicy::kTrim ? -1 : known;
  }
  const DType dtype = ctx.dtype("dtype", out.dtype);
  if (dtype != out.dtype && dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kU8)
    return ctx.error(fmt::format("slice: dtype {} is neither the input's type nor FLOAT, FLOAT16 or UINT8",
                                 types_name(dtype)),
                     "convert with fn.cast", "dtype");
  out.dtype = dtype;
  return std::vector{out};
}

/// The window, of each dimension of the input.
std::vector<AxisRange> sliced_ranges(RecipeBuilder& b) {
  const ir::Type& in = b.input_type(0);
  const BoundsPolicy policy = bounds_policy(b);
  std::vector<AxisRange> ranges;
  std::vector<int> axes;
  if (selects_axes_per_sample(b)) {
    ranges = slice_ranges_of_sample(b, b.extents(0), 1);
    for (int d = 0; d < in.ndim; ++d) axes.push_back(d);
  } else {
    axes = slice_axes(b, in.layout, in.ndim);
    for (int d = 0; d < in.ndim; ++d) ranges.push_back({i64(0), b.extent(0, d)});
    for (size_t n = 0; n < axes.size(); ++n)
      ranges[static_cast<size_t>(axes[n])] =
          slice_range(b, static_cast<int>(n), static_cast<int>(axes.size()), b.extent(0, axes[n]), 1);
  }
  for (const int d : axes) {
    const char letter = in.layout.empty() ? static_cast<char>('0' + d) : in.layout[d];
    AxisRange& range = ranges[static_cast<size_t>(d)];
    range = apply_bounds(b, range, b.extent(0, d), policy, letter);
  }
  return ranges;
}

void define_slice(RecipeBuilder& b) {
  output_window(b, sliced_ranges(b), bounds_policy(b), b.input_type(0).layout.find('C'));
}

void define_slice_places(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_type(0).layout);
  const auto ranges = sliced_ranges(b);
  output_places(b, window_places(ranges[static_cast<size_t>(at.w)]),
                window_places(ranges[static_cast<size_t>(at.h)]));
}

}  // namespace

Operator make_slice() {
  Operator op;
  op.name = "slice";
  op.summary = "Cuts a window given by start and end or shape.";
  op.documentation =
      "Absolute and relative positions mix freely; relative ones are multiplied by the extent (arguments in "
      "f32: rel_end=0.45 of 150 is 68) and rounded half away from zero. By default the positions are given x "
      "first (axis_names=\"WH\"). Anchor and shape may also be inputs; float ones are relative unless "
      "normalized_anchor or normalized_shape says otherwise.";
  op.inputs = {{.name = "data", .documentation = "any tensor"},
               {.name = "anchor",
                .documentation = "the start, one element per axis",
                .optional = true,
                .any_device = true},
               {.name = "shape",
                .documentation = "the window's extents, one element per axis",
                .optional = true,
                .any_device = true}};
  op.min_inputs = 1;
  op.max_inputs = 3;
  op.args = slice_args();
  append(op.args, bounds_args());
  op.args.push_back(
      dtype_arg("Element type of the output: the input's, FLOAT, FLOAT16 or UINT8; floats become integers by "
                "truncation, clamped."));
  op.args.push_back(ignored("image_type", ArgKind::kImageType, ir::None{}, "Deprecated."));
  op.args.push_back(refused("output_dtype", ArgKind::kDType, "it was renamed: write dtype="));
  op.devices = {"cpu", "gpu"};
  op.effect =
      effect("fn.slice(image, rel_start=[{}], rel_end=[0.9, 0.9])", {"0.1, 0.1", "0.3, 0.3", "0.6, 0.6"});
  op.example = image_example("fn.slice(image, rel_start=[0.25, 0.25], rel_shape=[0.5, 0.5]), label");
  op.type_rule = slice_type_rule;
  op.define = define_slice;
  moves_places(op, define_slice_places);
  return op;
}

}  // namespace galatea::ops
