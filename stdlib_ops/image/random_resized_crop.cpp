// random_resized_crop: a random window of area and aspect ratio, resampled to a fixed size.
//
// Comes in: an image. Goes out: the window resampled to `size`; filter taps may reach past the window, as in
// the reference, but under a preset.
#include "stdlib_ops/common/places.h"
#include "stdlib_ops/common/random_window.h"
#include "stdlib_ops/compat/resize.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types random_resized_crop_types(const TypeContext& ctx) {
  GALATEA_TRY(check_random_window(ctx));
  if (ctx.compat() != op::Compat::kDali) GALATEA_TRY(check_compat_filter(ctx));
  GALATEA_ASSIGN(const DType dtype, resampled_dtype(ctx));
  const auto size = ctx.integers("size");
  if (size.empty() || size.size() > 2)
    return ctx.error("random_resized_crop: size needs one or two elements, (h, w)", {}, "size");
  for (int64_t n : size)
    if (n < 1)
      return ctx.error(fmt::format("random_resized_crop: size must be positive, not {}", n), {}, "size");
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  const ImageAxes at = image_axes(out.layout);
  out.extents[static_cast<size_t>(at.h)] = size.front();
  out.extents[static_cast<size_t>(at.w)] = size.back();
  return std::vector{out};
}

/// Rows, then columns.
std::pair<AxisRange, AxisRange> drawn_window(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const Expr height = b.full_extent(0, at.h), width = b.full_extent(0, at.w);
  b.check((height > i64(0)) & (width > i64(0)), "the image is empty: {} x {}", {height, width});
  return random_window(b, height, width);
}

std::array<ResampleAxis, 2> drawn_axes(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const auto [rows, columns] = drawn_window(b);
  const auto size = b.integers("size");
  auto axis = [](int dim, const AxisRange& range, int64_t n) {
    return ResampleAxis{.dim = dim,
                        .lo = to_f64(range.start),
                        .hi = to_f64(range.start + range.extent),
                        .n = i64(n),
                        .within = true};
  };
  return {axis(at.h, rows, size.front()), axis(at.w, columns, size.back())};
}

void define_random_resized_crop(RecipeBuilder& b) {
  if (b.compat() != op::Compat::kDali) {
    const auto [rows, columns] = drawn_window(b);
    const auto size = b.integers("size");
    return output_compat_resized_window(b, rows, columns, size.front(), size.back());
  }
  const auto [rows, columns] = drawn_axes(b);
  b.output_stage(0, resample(b, {rows, columns}));
}

void define_random_resized_crop_places(RecipeBuilder& b) {
  const auto [rows, columns] = drawn_axes(b);
  output_places(b, resampled_places(columns), resampled_places(rows));
}

}  // namespace

Operator make_random_resized_crop() {
  Operator op;
  op.name = "random_resized_crop";
  op.summary = "Crops a random window and resizes it to a fixed size.";
  op.documentation =
      "The window covers a random fraction of the image (random_area) with a random ratio of width to height "
      "(random_aspect_ratio, uniform in the logarithm); after num_attempts windows that do "
      "not fit, the largest allowed one is taken. It is then resampled as fn.resize resamples a region of "
      "interest: filters may use pixels outside the window. Under a preset (compat=) it is cut out first, as the "
      "other libraries do; where it lies, is drawn in the same way.";
  op.inputs = {{.name = "data",
                .documentation = "image",
                .layouts = {"HWC", "CHW"},
                .dtypes = {DType::kU8, DType::kI16, DType::kU16, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "size",
              .kind = ArgKind::kIntList,
              .required = true,
              .documentation = "Extents of the output, (h, w) or one number."}};
  append(op.args, random_window_args());
  append(op.args, filter_args());
  op.presets = resize_presets();
  for (op::Preset& preset : op.presets)
    preset.differs = "the window is cut out first, then resized: " + preset.differs;
  op.random = true;
  op.devices = {"cpu", "gpu"};
  op.effect = effect("fn.random_resized_crop(image, size=[160, 240], random_area=[{}])",
                     {"0.6, 0.8", "0.3, 0.4", "0.08, 0.1"});
  op.example = image_example("fn.random_resized_crop(image, size=[64, 64]), label");
  op.type_rule = random_resized_crop_types;
  op.define = define_random_resized_crop;
  moves_places(op, define_random_resized_crop_places);
  return op;
}

}  // namespace galatea::ops
