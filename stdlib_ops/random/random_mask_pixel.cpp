// segmentation.random_mask_pixel: a pixel of a mask by chance, of its foreground or of all.
//
// Comes in: a mask. Goes out: the pixel's index along each axis. The search is
// stdlib_ops/native/mask_pixel.h.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/mask_pixel.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

Types random_mask_pixel_types(const TypeContext& ctx) {
  if (ctx.given("value") && ctx.given("threshold"))
    return ctx.error("segmentation.random_mask_pixel: value and threshold exclude each other", {},
                     "threshold");
  const ir::Type& mask = ctx.input(0);
  if (mask.ndim == 0)
    return ctx.error(fmt::format("segmentation.random_mask_pixel: {} has no axes", describe(mask)),
                     "a mask has one axis or more");
  ir::Type out;
  out.dtype = DType::kI64;
  out.ndim = 1;
  out.extents = {mask.ndim};
  return std::vector{out};
}

void define_random_mask_pixel(RecipeBuilder& b) {
  const bool by_value = b.given("value");
  const Expr foreground = kernel::not_equal(b.arg("foreground", DType::kI64), i64(0));
  const auto axes = static_cast<size_t>(b.input_type(0).ndim);
  Expr limit;
  if (by_value) {
    limit = b.arg("value", DType::kI64);
  } else {
    limit = b.arg("threshold", DType::kF32);
    b.check(equal(limit, limit), "the threshold {} is no number", {limit}, {}, "threshold");
  }
  b.output_scalars(0, b.native_scalars(native::kMaskRandomPixel, {0},
                                       {to_i64(b.random_u32(i64(0))), to_i64(b.random_u32(i64(1))),
                                        select(foreground, i64(1), i64(0)), limit},
                                       fmt::format("{{\"by_value\": {}}}", by_value),
                                       std::vector<DType>(axes, DType::kI64)));
}

}  // namespace

Operator make_segmentation_random_mask_pixel() {
  Operator op;
  op.name = "segmentation.random_mask_pixel";
  op.summary = "A pixel of a mask by chance, of its foreground or of all.";
  op.documentation =
      "With foreground not 0 one of the pixels above threshold, or of those equal to value, each as likely; "
      "where there is none, and with foreground 0, one of all. A mask without pixels is the sample's error. "
      "Output: INT64, the pixel's index along each axis of the mask.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "masks",
                .documentation = "a mask: integers, BOOL or FLOAT, one axis or more",
                .dtypes = {DType::kBool, DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI8,
                           DType::kI16, DType::kI32, DType::kI64, DType::kF32}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "foreground",
              .kind = ArgKind::kInt,
              .default_value = int64_t{0},
              .per_sample = true,
              .documentation = "Not 0: a pixel of the foreground, if there is one."},
             {.name = "threshold",
              .kind = ArgKind::kFloat,
              .default_value = 0.0,
              .per_sample = true,
              .documentation = "Pixels above it are the foreground."},
             {.name = "value",
              .kind = ArgKind::kInt,
              .per_sample = true,
              .documentation = "Pixels equal to it are the foreground, in place of those above threshold."}};
  op.random = true;
  op.example =
      "mask = fn.constant(idata=[0, 0, 1, 0, 2, 2], shape=[2, 3])\n"
      "return fn.segmentation.random_mask_pixel(mask, foreground=fn.random.coin_flip(probability=0.7))\n";
  op.type_rule = random_mask_pixel_types;
  op.define = define_random_mask_pixel;
  return op;
}

}  // namespace galatea::ops
