// crop: a window of an image, placed by a relative position.
//
// Comes in: an image and the window's extents and position. Goes out: a view; with padding or another type, a
// map.
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types crop_type_rule(const TypeContext& ctx) {
  ir::Type out = ctx.input(0);
  out.layout = ctx.input_layout(0);
  const std::string axes = window_axes_of(out.layout);
  GALATEA_ASSIGN(const BoundsPolicy policy, bounds_policy(ctx));
  std::vector<int64_t> extents;
  for (const char letter : axes) extents.push_back(out.extents[static_cast<size_t>(out.layout.find(letter))]);
  GALATEA_ASSIGN(const auto window, crop_types(ctx, axes, extents, policy != BoundsPolicy::kError));
  for (size_t n = 0; n < axes.size(); ++n)
    out.extents[static_cast<size_t>(out.layout.find(axes[n]))] =
        policy == BoundsPolicy::kTrim ? -1 : window[n];
  const DType dtype = ctx.dtype("dtype", out.dtype);
  if (dtype != out.dtype && dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kU8)
    return ctx.error(fmt::format("crop: dtype {} is neither the input's type nor FLOAT, FLOAT16 or UINT8",
                                 types_name(dtype)),
                     "convert with fn.cast", "dtype");
  out.dtype = dtype;
  return std::vector{out};
}

/// The window, of each dimension of the input.
std::vector<AxisRange> cropped_ranges(RecipeBuilder& b) {
  const Layout layout = b.input_layout(0);
  const std::string axes = window_axes_of(layout);
  std::vector<Expr> extents;
  for (const char letter : axes) extents.push_back(b.extent(0, layout.find(letter)));
  const auto window = crop_window(b, axes, extents);
  std::vector<AxisRange> ranges;
  for (int d = 0; d < b.input_type(0).ndim; ++d) ranges.push_back({i64(0), b.extent(0, d)});
  for (size_t n = 0; n < axes.size(); ++n)
    ranges[static_cast<size_t>(layout.find(axes[n]))] =
        apply_bounds(b, window[n], extents[n], bounds_policy(b), axes[n]);
  return ranges;
}

void define_crop(RecipeBuilder& b) {
  output_window(b, cropped_ranges(b), bounds_policy(b), b.input_layout(0).find('C'));
}

/// Of frames that no axis D stands for, a depth is how many of them are cut out: they are cut as slices of a
/// volume are, as in DALI.
Result<std::optional<ir::NodeId>> expand_crop(const op::Expansion& expansion) {
  const TypeContext call = expansion.arguments();
  const ir::Graph& graph = expansion.builder.graph();
  const std::string layout = graph.type(expansion.call.inputs.front()).layout.str();
  const size_t frames = layout.find('F');
  const bool has_depth = call.given("crop_d") || (call.given("crop") && length_of(call, "crop") == 3);
  if (!has_depth || frames == std::string::npos || layout.find('D') != std::string::npos) return std::nullopt;
  std::string as_volume = layout;
  as_volume[frames] = 'D';
  const auto named = [&](ir::ValueId value, const std::string& letters) {
    return expansion.add("reshape", {value}, {{"layout", ir::Attr(letters), {}}});
  };
  GALATEA_ASSIGN(const ir::ValueId volume, named(expansion.call.inputs.front(), as_volume));
  GALATEA_ASSIGN(const ir::ValueId window, expansion.add("crop", {volume}, expansion.call.args));
  GALATEA_ASSIGN(const ir::ValueId sequence, named(window, layout));
  return graph.value(sequence).node;
}

void define_crop_places(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto ranges = cropped_ranges(b);
  output_places(b, window_places(ranges[static_cast<size_t>(at.w)]),
                window_places(ranges[static_cast<size_t>(at.h)]));
}

}  // namespace

Operator make_crop() {
  Operator op;
  op.name = "crop";
  op.summary = "Cuts a window out of images.";
  op.documentation =
      "The window's extents are truncated to integers; its first row is round(crop_pos_y * (H - h)), its "
      "first column round(crop_pos_x * (W - w)), half away from zero. "
      "Positions outside [0, 1] and windows that do not fit are errors, unless out_of_bounds_policy says "
      "otherwise. Of sequences without an axis D a depth is a number of frames.";
  op.inputs = {{.name = "data",
                .documentation = "image or volume",
                .layouts = {"HWC", "CHW", "DHWC", "CDHW", "DCHW"},
                .volumes_first = true}};
  op.min_inputs = op.max_inputs = 1;
  op.args = crop_args();
  append(op.args, bounds_args());
  op.args.push_back(
      dtype_arg("Element type of the output: the input's, FLOAT, FLOAT16 or UINT8; floats become integers by "
                "truncation, clamped."));
  op.args.push_back(ignored("image_type", ArgKind::kImageType, ir::None{}, "Deprecated."));
  op.args.push_back(refused("output_dtype", ArgKind::kDType, "it was renamed: write dtype="));
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.crop(image, crop={})", {"(144, 216)", "(96, 144)", "(48, 72)"});
  op.example = image_example("fn.crop(image, crop=(48, 48), out_of_bounds_policy=\"pad\"), label");
  op.type_rule = crop_type_rule;
  op.expand = expand_crop;
  op.define = define_crop;
  moves_places(op, define_crop_places);
  return op;
}

}  // namespace galatea::ops
