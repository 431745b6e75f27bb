// jpeg_compression_distortion: images with the blocks and rings of JPEG.
//
// Comes in: an image or a sequence, RGB of bytes. Goes out: the same, encoded and decoded. The library's part
// is stdlib_ops/native/jpeg_distort.h.
#include "stdlib_ops/common/prelude.h"
#include "stdlib_ops/native/jpeg_distort.h"
#include "stdlib_ops/operators.h"

namespace galatea::ops {
namespace {

constexpr int64_t kRgbChannels = 3;

Types jpeg_distortion_types(const TypeContext& ctx) {
  const ir::Type& in = ctx.input(0);
  if (const int64_t channels = in.extents.back(); channels >= 0 && channels != kRgbChannels)
    return ctx.error(
        fmt::format("jpeg_compression_distortion: {} has {} channels, not three", describe(in), channels),
        "it takes RGB: convert with fn.color_space_conversion");
  ir::Type out = in;
  out.layout = ctx.input_layout(0);
  out.extents.back() = kRgbChannels;
  return std::vector{out};
}

void define_jpeg_distortion(RecipeBuilder& b) {
  const int h = b.input_type(0).ndim - 3;
  const Expr height = b.extent(0, h), width = b.extent(0, h + 1), channels = b.extent(0, h + 2);
  b.check(equal(channels, i64(kRgbChannels)), "the image has {} channels, not three", {channels},
          "it takes RGB: convert with fn.color_space_conversion");
  b.check(kernel::max(height, width) <= i64(native::kMostJpegPixels),
          fmt::format("an image of {{}} x {{}} pixels is too large for JPEG, which has {} along an axis",
                      native::kMostJpegPixels),
          {height, width}, "resize it first");
  op::NativeOutput native;
  native.function = native::kJpegDistort;
  native.inputs = {0};
  native.scalars = {clamp(b.arg("quality", DType::kI64), i64(1), i64(100))};
  native.makes = "image";
  std::vector<Expr> extents = b.extents(0);
  extents.back() = i64(kRgbChannels);
  b.output_native(0, std::move(native), std::move(extents));
}

}  // namespace

Operator make_jpeg_compression_distortion() {
  Operator op;
  op.name = "jpeg_compression_distortion";
  op.summary = "Images with the blocks and rings that JPEG leaves.";
  op.documentation =
      "Each image is encoded as baseline JPEG with chroma of half the extents (4:2:0) and the tables of ITU-T "
      "T.81, annex K, scaled by quality as libjpeg scales them, and decoded again: what libjpeg-turbo makes "
      "of it, which is what OpenCV, Pillow and DALI's CPU make of it. A sequence has one quality.";
  op.kind = OperatorKind::kNative;
  op.inputs = {{.name = "data",
                .documentation = "RGB of bytes, an image or a sequence of images",
                .layouts = {"HWC", "FHWC"},
                .dtypes = {DType::kU8}}};
  op.min_inputs = op.max_inputs = 1;
  op.args = {{.name = "quality",
              .kind = ArgKind::kInt,
              .default_value = int64_t{50},
              .per_sample = true,
              .documentation = "From 1, the worst, to 100; other numbers are the nearest of these."}};
  op.places = op::Places::kKept;
  op.effect = effect("fn.jpeg_compression_distortion(image, quality={})", {"60", "25", "5"});
  op.example = image_example(
      "fn.jpeg_compression_distortion(image, quality=fn.random.uniform(range=[20, 90], "
      "dtype=types.INT32)), label");
  op.type_rule = jpeg_distortion_types;
  op.define = define_jpeg_distortion;
  return op;
}

}  // namespace galatea::ops
