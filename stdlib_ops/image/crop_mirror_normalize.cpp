// crop_mirror_normalize: crop, mirror, normalise, convert, permute, pad channels, in one map stage.
//
// Comes in: an image. Goes out: scale * (in - mean) / std + shift over the window, in the output's layout.
// The column index is an affine function of the output column (factor +1 or -1), so that the stage can sink
// into the store of its producer.
#include <algorithm>

#include "stdlib_ops/common/places.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

int64_t next_power_of_two(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

Expr next_power_of_two(const Expr& value) {
  if (kernel::is_const(value)) return i64(next_power_of_two(kernel::const_value(value)));
  Expr bits = max(value, i64(1)) - i64(1);
  for (int64_t shift = 1; shift <= 32; shift *= 2)
    bits = bits | kernel::binary(ScalarOp::kShr, bits, i64(shift));
  return bits + i64(1);
}

/// Axes that `output_layout` does not name stay in front.
Layout output_layout(const Layout& input, const std::string& asked) {
  if (asked.empty()) return input;
  std::string front;
  for (const char letter : input.str())
    if (letter == 'D' && !asked.contains(letter)) front += letter;
  return Layout(front + asked);
}

/// Gives the number of channels: what mean and std say where the image does not.
Result<int64_t> check_statistics(const TypeContext& ctx, int64_t channels) {
  int64_t lengths[2];
  const char* const names[] = {"mean", "std"};
  for (int n = 0; n < 2; ++n) {
    lengths[n] = ctx.given(names[n]) ? length_of(ctx, names[n]) : 1;
    if (lengths[n] == 0)
      return ctx.error(fmt::format("crop_mirror_normalize: {} is empty", names[n]),
                       "give one value, or one per channel", names[n]);
    if (channels >= 0 && lengths[n] > 1 && lengths[n] != channels)
      return ctx.error(fmt::format("crop_mirror_normalize: {} values of {} for an image of {} channel{}",
                                   lengths[n], names[n], channels, channels == 1 ? "" : "s"),
                       "give one value, or one per channel", names[n]);
    if (given_static(ctx, names[n]) && n == 1)
      for (double v : ctx.numbers("std"))
        if (v == 0)
          return ctx.error("crop_mirror_normalize: a std of 0", "std divides; use 1 for no scaling", "std");
  }
  if (channels < 0 && std::max(lengths[0], lengths[1]) <= 1 && std::min(lengths[0], lengths[1]) < 0) {
    ctx.want_extents(0);
    return ctx.error(
        "crop_mirror_normalize: neither the number of channels nor that of mean and std is known while "
        "compiling",
        "fix the shape of mean and std with fn.reshape(x, shape=[3])", lengths[0] < 0 ? "mean" : "std");
  }
  if (lengths[0] > 1 && lengths[1] > 1 && lengths[0] != lengths[1])
    return ctx.error(fmt::format("crop_mirror_normalize: mean has {} values, std {}", lengths[0], lengths[1]),
                     "give the same number of values", "std");
  const int64_t longest = std::max(lengths[0], lengths[1]);
  return channels < 0 && longest > 1 ? longest : channels;
}

Types cmn_type_rule(const TypeContext& ctx) {
  const Layout in_layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(in_layout);
  const ir::Type& in = ctx.input(0);
  GALATEA_ASSIGN(const BoundsPolicy policy, bounds_policy(ctx));
  if (is_border(policy))
    return ctx.error(fmt::format("crop_mirror_normalize: out_of_bounds_policy \"{}\" is not available here",
                                 ctx.text("out_of_bounds_policy")),
                     "crop first: fn.crop(…) takes it", "out_of_bounds_policy");
  int64_t channels = in.extents[static_cast<size_t>(at.c)];
  const std::string axes = window_axes_of(in_layout);
  std::vector<int64_t> extents;
  for (const char letter : axes) extents.push_back(in.extents[static_cast<size_t>(in_layout.find(letter))]);
  GALATEA_ASSIGN(auto window, crop_types(ctx, axes, extents, policy != BoundsPolicy::kError));
  if (policy == BoundsPolicy::kTrim) window.assign(window.size(), -1);
  GALATEA_ASSIGN(channels, check_statistics(ctx, channels));
  const Layout layout = output_layout(in_layout, ctx.text("output_layout"));
  if (!layout.is_permutation_of(in_layout))
    return ctx.error(
        fmt::format("crop_mirror_normalize: output_layout \"{}\" is not a permutation of the input's \"{}\"",
                    layout.str(), in_layout.str()),
        "use \"CHW\" or \"HWC\"", "output_layout");
  const DType dtype = ctx.dtype("dtype", DType::kF32);
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kI8 && dtype != DType::kU8)
    return ctx.error(fmt::format("crop_mirror_normalize: dtype {} is not FLOAT, FLOAT16, INT8 or UINT8",
                                 types_name(dtype)),
                     "convert the result with fn.cast", "dtype");
  if (ctx.flag("pad_output") && channels >= 0) channels = next_power_of_two(channels);
  ir::Type out = with_dtype(in, dtype);
  out.layout = layout;
  for (int d = 0; d < layout.size(); ++d) {
    const size_t n = axes.find(layout[d]);
    out.extents[static_cast<size_t>(d)] = n == std::string::npos ? channels : window[n];
  }
  return std::vector{out};
}

/// mean and scale/std of a channel.
struct Statistics {
  std::vector<Expr> mean, factor;
  Expr channels;  ///< a number where they fix it: any other is an error of the check
  bool neutral = false;
};

Statistics statistics(RecipeBuilder& b, const Expr& channels) {
  Statistics s;
  // A vector of unknown length has as many elements as the other one, or as there are channels.
  auto length = [&](const char* name) {
    const ir::Arg* arg = b.node().find_arg(name);
    const bool unknown = arg != nullptr && arg->is_value() && b.type_of(arg->as_value()).static_volume() < 0;
    return unknown ? -1 : b.arg_length(name);
  };
  int count = std::max(length("mean"), length("std"));
  if (count <= 1 && kernel::is_const(channels)) count = static_cast<int>(kernel::const_value(channels));
  s.mean = list_arg(b, "mean", length("mean") < 0 ? count : length("mean"), DType::kF32);
  check_finite(b, "mean", s.mean);
  const Expr scale = finite_arg(b, "scale");
  const auto deviation = list_arg(b, "std", length("std") < 0 ? count : length("std"), DType::kF32);
  check_finite(b, "std", deviation);
  bool neutral = !b.given("shift");
  for (const Expr& d : deviation) {
    b.check(not_equal(d, f32(0)), "std is {}; it divides and must not be 0", {d}, {}, "std");
    s.factor.push_back(scale / d);
    neutral &= same_meaning(s.factor.back(), f32(1));
  }
  for (const Expr& m : s.mean) neutral &= same_meaning(m, f32(0));
  s.neutral = neutral;
  const auto longest = static_cast<int64_t>(std::max(s.mean.size(), s.factor.size()));
  s.channels = longest > 1 ? i64(longest) : channels;
  if (longest > 1)
    b.check(equal(channels, i64(longest)), "mean and std have {} values, the image {} channels",
            {i64(longest), channels}, "give one value, or one per channel");
  return s;
}

/// The window along each of the axes D, H and W that there are.
std::vector<AxisRange> normalized_window(RecipeBuilder& b, const std::string& axes, BoundsPolicy policy) {
  std::vector<Expr> extents;
  for (const char letter : axes) extents.push_back(b.extent(0, b.input_layout(0).find(letter)));
  std::vector<AxisRange> window = crop_window(b, axes, extents);
  for (size_t n = 0; n < axes.size(); ++n)
    window[n] = apply_bounds(b, window[n], extents[n], policy, axes[n]);
  return window;
}

void define_cmn(RecipeBuilder& b) {
  const Layout in_layout = b.input_layout(0);
  const ImageAxes at = image_axes(in_layout);
  const BoundsPolicy policy = bounds_policy(b);
  const DType dtype = b.output_type(0).dtype;
  const auto w = static_cast<size_t>(at.w), c = static_cast<size_t>(at.c);
  const Statistics stats = statistics(b, b.extent(0, at.c));
  const Expr channels = stats.channels;
  const Expr shift = finite_arg(b, "shift");
  const std::string axes = window_axes_of(in_layout);
  std::vector<Expr> extents(b.extents(0).size());
  const std::vector<AxisRange> window = normalized_window(b, axes, policy);
  std::vector<int> window_dims;
  for (size_t n = 0; n < axes.size(); ++n) {
    window_dims.push_back(in_layout.find(axes[n]));
    extents[static_cast<size_t>(window_dims.back())] = window[n].extent;
  }
  const AxisRange& columns = window.back();
  const Expr mirror = not_equal(b.arg("mirror", DType::kI64), i64(0));
  const Expr x_factor = select(mirror, i64(-1), i64(1));
  const Expr x_offset = select(mirror, columns.start + columns.extent - i64(1), columns.start);

  extents[c] = b.flag("pad_output") ? next_power_of_two(channels) : channels;
  const bool pads_channels = !same(extents[c], channels);
  const bool pads = policy == BoundsPolicy::kPad && (b.given("crop") || b.given("crop_h"));
  const StageRef stage = b.map("crop_mirror_normalize", dtype, extents, [&](const Axes& at_cell) {
    Axes index = at_cell;
    for (size_t n = 0; n < window.size(); ++n) {
      const auto d = static_cast<size_t>(window_dims[n]);
      index[d] = d == w ? at_cell[w] * x_factor + x_offset : at_cell[d] + window[n].start;
    }
    const Border border = pads || pads_channels ? Border::kConstant : Border::kNone;
    const Expr in = b.load(0, index, border, Cell{});
    Expr value =
        stats.neutral
            ? kernel::saturate(in, dtype)
            : kernel::saturate(kernel::fma(kernel::convert(in, DType::kF32) - choose(at_cell[c], stats.mean),
                                           choose(at_cell[c], stats.factor), shift),
                               dtype);
    std::vector<int> outside;
    if (pads) outside = window_dims;
    if (pads_channels) outside.push_back(at.c);
    // Padding channels are 0 unless the window may be padded, as the reference has it.
    const Expr fill = policy == BoundsPolicy::kPad ? fill_of_channel(b, at_cell[c], extents[c], dtype)
                                                   : kernel::constant(dtype, Cell{});
    if (!outside.empty()) value = select(inside(b, index, outside), value, fill);
    return value;
  });
  std::vector<int> axis_of;
  const Layout out_layout = output_layout(in_layout, b.text("output_layout"));
  for (char letter : out_layout.str()) axis_of.push_back(in_layout.find(letter));
  b.output_stage(0, stage, axis_of);
}

void define_cmn_places(RecipeBuilder& b) {
  const auto window = normalized_window(b, window_axes_of(b.input_layout(0)), bounds_policy(b));
  const AxisRange &rows = window[window.size() - 2], &columns = window.back();
  const Expr mirror = not_equal(b.arg("mirror", DType::kI64), i64(0));
  output_places(b, mirrored_places(window_places(columns), mirror, columns.extent), window_places(rows));
}

}  // namespace

Operator make_crop_mirror_normalize() {
  Operator op;
  op.name = "crop_mirror_normalize";
  op.summary = "Crops, mirrors and normalises images, with the layout and type that a network wants.";
  op.documentation =
      "out = scale * (in - mean) / std + shift, computed in f32 as fma(in - mean, scale / std, shift), then "
      "converted (half to even, clamped). The window is that of fn.crop; mirror reverses its columns. "
      "Padding takes fill_values as they are, not normalised; channels added by pad_output are 0 where "
      "nothing may lie outside.";
  op.inputs = {{.name = "data",
                .documentation = "image or volume",
                .layouts = {"HWC", "CHW", "DHWC", "CDHW", "DCHW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32, DType::kF16},
                .volumes_first = true}};
  op.min_inputs = op.max_inputs = 1;
  op.args = crop_args();
  append(op.args, bounds_args());
  append(op.args,
         {
             {.name = "mirror",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "Not 0: reverses the columns."},
             {.name = "mean",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{0.0},
              .per_sample = true,
              .documentation = "Subtracted; one value, or one per channel."},
             {.name = "std",
              .kind = ArgKind::kFloatList,
              .default_value = std::vector<double>{1.0},
              .per_sample = true,
              .documentation = "Divides; one value, or one per channel."},
             {.name = "scale",
              .kind = ArgKind::kFloat,
              .default_value = 1.0,
              .documentation = "Multiplies the normalised value."},
             {.name = "shift",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .documentation = "Added at the end."},
             {.name = "dtype",
              .kind = ArgKind::kDType,
              .default_value = DType::kF32,
              .documentation = "Element type of the output: FLOAT, FLOAT16, INT8 or UINT8."},
             {.name = "output_layout",
              .kind = ArgKind::kLayout,
              .default_value = std::string("CHW"),
              .documentation = "Layout of the output; empty keeps the input's. An axis D that it does not "
                               "name stays in front."},
             {.name = "pad_output",
              .kind = ArgKind::kBool,
              .default_value = false,
              .documentation = "Pads the channels to the next power of two."},
         });
  op.args.push_back(ignored("image_type", ArgKind::kImageType, ir::None{}, "Deprecated."));
  op.args.push_back(refused("output_dtype", ArgKind::kDType, "it was renamed: write dtype="));
  op.devices = {"cpu", "gpu"};
  op.example = image_example(
      "fn.crop_mirror_normalize(image, dtype=types.FLOAT, mean=[123.675, 116.28, 103.53], std=[58.395, "
      "57.12, 57.375]), label");
  op.type_rule = cmn_type_rule;
  op.define = define_cmn;
  moves_places(op, define_cmn_places);
  return op;
}

}  // namespace galatea::ops
