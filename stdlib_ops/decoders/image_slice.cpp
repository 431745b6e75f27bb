// decoders.image_slice: decodes a window given by start and end or shape.
//
// Comes in: encoded bytes; positions as arguments or as two more inputs. Goes out: the window of the oriented
// image, equal to decoding and slicing.
#include "stdlib_ops/common/slice_window.h"
#include "stdlib_ops/decoders/decoder.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

const Layout kImageLayout("HWC");

Types image_slice_types(const TypeContext& ctx) {
  GALATEA_ASSIGN(ir::Type out, decoded_type(ctx));
  if (selects_axes_per_sample(ctx)) {
    GALATEA_ASSIGN(const int named, count_axes_of_sample(ctx, 2));
    GALATEA_TRY(check_slice(ctx, named, 1));
    return std::vector{out};
  }
  GALATEA_ASSIGN(const auto axes, slice_axes(ctx, kImageLayout, 3));
  for (int axis : axes)
    if (axis == 2)
      return ctx.error("decoders.image_slice: channels cannot be sliced while decoding",
                       "slice the decoded image", ctx.given("axes") ? "axes" : "axis_names");
  const int count = static_cast<int>(axes.size());
  GALATEA_TRY(check_slice(ctx, count, 1));
  for (int n = 0; n < count; ++n)
    out.extents[static_cast<size_t>(axes[static_cast<size_t>(n)])] =
        static_slice_extent(ctx, n, count, -1, 1);
  return std::vector{out};
}

void define_image_slice(RecipeBuilder& b) {
  const EncodedExtents image = peek(b, "output_type");
  const std::vector<Expr> extents = {image.h, image.w};
  std::vector<AxisRange> ranges = {{i64(0), image.h}, {i64(0), image.w}};
  if (selects_axes_per_sample(b)) {
    ranges = slice_ranges_of_sample(b, extents, 1);
  } else {
    const auto axes = slice_axes(b, kImageLayout, 3);
    for (size_t n = 0; n < axes.size(); ++n) {
      const auto d = static_cast<size_t>(axes[n]);
      ranges[d] = slice_range(b, static_cast<int>(n), static_cast<int>(axes.size()), extents[d], 1);
    }
  }
  for (size_t d = 0; d < ranges.size(); ++d)
    ranges[d] =
        apply_bounds(b, ranges[d], extents[d], BoundsPolicy::kError, kImageLayout[static_cast<int>(d)]);
  output_decoded_window(b, image, ranges[0], ranges[1]);
}

}  // namespace

Operator make_decoders_image_slice() {
  Operator op;
  op.name = "decoders.image_slice";
  op.summary = "Decodes a window of images given by start and end or shape.";
  op.documentation =
      "Equal to fn.decoders.image followed by fn.slice; a window that reaches outside the image is an error.";
  op.kind = OperatorKind::kNative;
  op.inputs = {
      encoded_input(),
      {.name = "anchor", .documentation = "the start, one element per axis", .optional = true},
      {.name = "shape", .documentation = "the window's extents, one element per axis", .optional = true}};
  op.min_inputs = 1;
  op.max_inputs = 3;
  op.args = slice_args();
  append(op.args, decoder_args());
  op.devices = {"cpu", "mixed"};
  op.aliases = {"image_decoder_slice", "experimental.decoders.image_slice"};
  op.example =
      image_example("fn.decoders.image_slice(encoded, rel_start=[0.25, 0.25], rel_shape=[0.5, 0.5]), label");
  op.presets = decoder_presets();
  op.type_rule = image_slice_types;
  op.define = define_image_slice;
  return op;
}

}  // namespace galatea::ops
