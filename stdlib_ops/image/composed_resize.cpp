// composed_resize: what resizes of resizes become under exact=False (compiler/passes/compose_resizes.h).
//
// Comes in: the image of the first resize, values that intervals are made of, and the intervals as texts
// (common/composed.h). Goes out: the image, resampled once.
#include "stdlib_ops/common/composed.h"
#include "stdlib_ops/common/resample.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr size_t kPerAxis = 4;  ///< lo, hi, extent, span
constexpr size_t kExtent = 2;

Types composed_resize_types(const TypeContext& ctx) {
  GALATEA_TRY(check_composed_checks(ctx));
  const auto& texts = std::get<std::vector<std::string>>(ctx.attr("intervals"));
  if (texts.size() != 2 * kPerAxis)
    return ctx.error(fmt::format("composed_resize: intervals has {} expressions", texts.size()), {},
                     "intervals");
  for (size_t i = 0; i < texts.size(); ++i)
    GALATEA_TRY(check_text(ctx, "intervals", texts[i], i % kPerAxis == kExtent ? DType::kI64 : DType::kF64));
  GALATEA_ASSIGN(const DType dtype, resampled_dtype(ctx));
  ir::Type out = with_dtype(ctx.input(0), dtype);
  out.layout = ctx.input_layout(0);
  GALATEA_ASSIGN(const ir::Type known, with_known_extents(ctx, out));
  return std::vector{known};
}

void define_composed_resize(RecipeBuilder& b) {
  const ImageAxes at = image_axes(b.input_layout(0));
  const ComposedTexts texts(b, "intervals");
  const auto axis = [&](int dim, size_t first) {
    return ResampleAxis{.dim = dim,
                        .lo = texts(first),
                        .hi = texts(first + 1),
                        .n = texts(first + kExtent),
                        .span = texts(first + 3)};
  };
  const ResampleAxis rows = axis(at.h, 0), columns = axis(at.w, kPerAxis);
  ask_composed_checks(b);
  b.check((rows.n >= i64(0)) & (columns.n >= i64(0)), "{} x {} are no extents of an image",
          {rows.n, columns.n});
  b.output_stage(0, resample(b, {rows, columns}));
}

}  // namespace

Operator make_composed_resize() {
  Operator op;
  op.name = "composed_resize";
  op.summary = "Resizes of resizes as one, under exact=False.";
  op.documentation =
      "The product of the maps, resampled once, by a filter as wide as the widest of the steps' filters.";
  op.internal = true;
  op.inputs = {{.name = "data", .documentation = "image"}};
  op.min_inputs = 1;
  op.max_inputs = kMaxComposedInputs;
  op.args = filter_args();
  op.args.push_back({.name = "intervals",
                     .kind = ArgKind::kStringList,
                     .required = true,
                     .documentation = "Of rows, then of columns: the interval's ends in pixels of the image, "
                                      "the output's extent, and how many pixels the filter spans at least."});
  append(op.args, composed_args());
  op.devices = {"cpu", "gpu"};
  op.type_rule = composed_resize_types;
  op.define = define_composed_resize;
  return op;
}

}  // namespace galatea::ops
