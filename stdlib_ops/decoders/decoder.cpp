// Shared parts of the image decoders: see decoder.h.
#include "stdlib_ops/decoders/decoder.h"

#include <algorithm>
#include <array>

#include "stdlib_ops/compat/checks.h"
#include "stdlib_ops/native/image.h"
#include "stdlib_ops/native/image_functions.h"

namespace galatea::ops {
namespace {

constexpr int64_t kHybridHuffmanThreshold = 1'000'000;
/// Scales are eighths, as libjpeg's.
constexpr int64_t kWholeScale = 8;

using op::Compat;

/// Pillow and torchvision leave the EXIF orientation to who asks for it.
bool applies_orientation(const RecipeBuilder& b) {
  const bool asks = b.compat() == Compat::kPil || b.compat() == Compat::kTorchvision;
  return asks && !b.given("adjust_orientation") ? false : b.flag("adjust_orientation");
}

/// The numbers are DALIImageType's.
constexpr int64_t kRgb = 0, kBgr = 1, kGray = 2, kYCbCr = 3;

Status check_compat_decoder(const TypeContext& ctx) {
  const int64_t type = ctx.integer("output_type");
  if (ctx.dtype("dtype", DType::kU8) != DType::kU8)
    return preset_error(ctx, " gives UINT8", "convert with fn.cast", "dtype");
  if (ctx.flag("use_fast_idct"))
    return preset_error(ctx, " has the exact inverse transform", "leave use_fast_idct out", "use_fast_idct");
  if (ctx.given("jpeg_fancy_upsampling") && !ctx.flag("jpeg_fancy_upsampling"))
    return preset_error(ctx, " upsamples chroma smoothly", "leave jpeg_fancy_upsampling out",
                        "jpeg_fancy_upsampling");
  if (type != kRgb && type != kBgr && (type != kGray || ctx.compat() == Compat::kPil))
    return preset_error(ctx, " has no numbers for that colour space",
                        ctx.compat() == Compat::kPil ? "use types.RGB or types.BGR"
                                                     : "use types.RGB, types.BGR or types.GRAY",
                        "output_type");
  return {};
}

}  // namespace

std::vector<op::Preset> decoder_presets() {
  const std::string same = "libjpeg-turbo's exact inverse transform and smooth chroma, as DALI's default";
  const std::string unturned =
      "the EXIF orientation is not applied unless adjust_orientation=True is given; ";
  return {{.peer = Compat::kPil, .differs = "Image.open(…).convert: " + unturned + same},
          {.peer = Compat::kTorchvision, .differs = "torchvision.io.decode_image: " + unturned + same},
          {.peer = Compat::kOpenCv,
           .differs = "cv2.imdecode, which turns by EXIF as DALI does: " + same + "; no decoding on a GPU"}};
}

ArgSpec page_arg() {
  return {.name = "page",
          .kind = ArgKind::kInt,
          .default_value = int64_t{0},
          .per_sample = true,
          .documentation = "Which picture of a file that holds several (TIFF), from 0. Not in DALI."};
}

std::vector<ArgSpec> decoder_args() {
  const char* const hint = "A hint for GPU decoding; not needed here.";
  const char* const no_room = "A hint for the GPU's JPEG engine; not needed here.";
  return {
      {.name = "output_type",
       .kind = ArgKind::kImageType,
       .default_value = int64_t{0},
       .documentation = "Colour space: RGB, BGR, GRAY, YCbCr or ANY_DATA (channels as stored)."},
      {.name = "dtype",
       .kind = ArgKind::kDType,
       .default_value = DType::kU8,
       .documentation = "Element type: integers are filled to their range, floats give [0, 1]."},
      {.name = "adjust_orientation",
       .kind = ArgKind::kBool,
       .default_value = true,
       .documentation = "Whether the EXIF orientation is applied."},
      {.name = "use_fast_idct",
       .kind = ArgKind::kBool,
       .default_value = false,
       .documentation = "JPEG: the faster, less exact inverse transform."},
      page_arg(),
      ignored("jpeg_fancy_upsampling", ArgKind::kBool, false, "Chroma is always upsampled smoothly here."),
      ignored("affine", ArgKind::kBool, true, hint),
      {.name = "hybrid_huffman_threshold",
       .kind = ArgKind::kInt,
       .default_value = kHybridHuffmanThreshold,
       .documentation = "On a GPU: of JPEGs with more pixels it decodes the Huffman codes, too."},
      {.name = "hw_decoder_load",
       .kind = ArgKind::kFloat,
       .default_value = 0.65,
       .documentation =
           "On a GPU with a JPEG engine, if given: 0 leaves it alone, more lets it decode all baseline JPEGs that "
           "it can, chroma enlarged its way; else those whose chroma has full size. No share: it does not "
           "depend on load."},
      ignored("preallocate_width_hint", ArgKind::kInt, int64_t{0}, no_room),
      ignored("preallocate_height_hint", ArgKind::kInt, int64_t{0}, no_room),
      ignored("device_memory_padding", ArgKind::kInt, int64_t{16777216}, hint),
      ignored("host_memory_padding", ArgKind::kInt, int64_t{8388608}, hint),
      ignored("device_memory_padding_jpeg2k", ArgKind::kInt, int64_t{0}, hint),
      ignored("host_memory_padding_jpeg2k", ArgKind::kInt, int64_t{0}, hint),
      ignored("split_stages", ArgKind::kBool, ir::None{}, "Deprecated."),
      ignored("use_chunk_allocator", ArgKind::kBool, ir::None{}, "Deprecated."),
      ignored("memory_stats", ArgKind::kBool, ir::None{}, "Deprecated."),
  };
}

Port encoded_input() {
  return {.name = "data",
          .documentation = "the bytes of an image file (" + native::known_formats() + ")",
          .dtypes = {DType::kU8},
          .ndim = 1};
}

int64_t channels_of(int64_t image_type) { return image_type == 2 ? 1 : image_type == 4 ? -1 : 3; }

Result<ir::Type> decoded_type(const TypeContext& ctx) {
  if (ctx.compat() != Compat::kDali) GALATEA_TRY(check_compat_decoder(ctx));
  constexpr std::array kTypes = {DType::kU8,  DType::kU16, DType::kU32, DType::kI8,
                                 DType::kI16, DType::kI32, DType::kF16, DType::kF32};
  const DType dtype = ctx.dtype("dtype", DType::kU8);
  if (std::find(kTypes.begin(), kTypes.end(), dtype) == kTypes.end())
    return ctx.error(fmt::format("{}: images cannot be decoded to {}", ctx.op().name, types_name(dtype)),
                     "decode to UINT8 and convert with fn.cast", "dtype");
  ir::Type out;
  out.dtype = dtype;
  out.ndim = 3;
  out.layout = Layout("HWC");
  out.extents = {-1, -1, channels_of(ctx.integer("output_type"))};
  return out;
}

namespace {

/// The page goes first among the scalars of a call whose configuration says so; most calls have none.
std::vector<Expr> page_scalars(const RecipeBuilder& b) {
  return b.given("page") ? std::vector{b.arg("page", DType::kI64)} : std::vector<Expr>{};
}
const char* paged(const RecipeBuilder& b) { return b.given("page") ? ", \"paged\": true" : ""; }

}  // namespace

EncodedExtents peek(RecipeBuilder& b, std::string_view type_argument) {
  if (b.given("page")) {
    const Expr page = b.arg("page", DType::kI64);
    b.check(page >= i64(0), "there is no page {}", {page}, "count pages from 0", "page");
  }
  const int64_t image_type = b.integer(type_argument);
  const std::string config = fmt::format("{{\"adjust_orientation\": {}, \"output_type\": {}{}}}",
                                         applies_orientation(b), image_type, paged(b));
  // A header that states no pixels, or more than this, is refused (native/image_header.cpp).
  constexpr std::pair<int64_t, int64_t> kPixels = {1, int64_t{1} << 28};
  const auto extents =
      b.native_scalars(native::kImagePeek, {0}, page_scalars(b), config, std::vector<DType>(5, DType::kI64),
                       {kPixels, kPixels, {1, native::kMaxChannels}, {1, kWholeScale}, {0, 1}}, "HWC--");
  const int64_t channels = channels_of(image_type);
  return {extents[0], extents[1], channels > 0 ? i64(channels) : extents[2], extents[3], extents[4]};
}

std::string decoder_config(const RecipeBuilder& b) {
  const int64_t threshold = b.integer("hybrid_huffman_threshold");
  const char* const engine = !b.given("hw_decoder_load")       ? ""
                             : b.number("hw_decoder_load") > 0 ? ", \"jpeg_engine\": true"
                                                               : ", \"jpeg_engine\": false";
  return fmt::format(
      "{{\"adjust_orientation\": {}, \"output_type\": {}, \"dtype\": \"{}\", \"use_fast_idct\": {}{}{}{}}}",
      applies_orientation(b), b.integer("output_type"), short_name(b.output_type(0).dtype),
      b.flag("use_fast_idct"),
      threshold == kHybridHuffmanThreshold ? ""
                                           : fmt::format(", \"hybrid_huffman_threshold\": {}", threshold),
      engine, paged(b));
}

namespace {

/// jpeg_for_device.cpp decides; this says it.
op::DeviceOffer offer_to_nvjpeg(const RecipeBuilder& b, int dense_axes) {
  op::DeviceOffer offer{.name = native::kNvjpeg, .reads = false, .suited = {}, .dense_axes = dense_axes};
  const char* why_none = nullptr;
  if (b.output_type(0).dtype != DType::kU8) why_none = "none, since dtype is another than UINT8";
  if (b.integer("output_type") == kYCbCr) why_none = "none, since output_type is YCBCR";
  if (why_none) {
    offer.suited = {why_none};
    return offer;
  }
  offer.suited.push_back(fmt::format("JPEGs of 8 bits in grey or YCbCr{}, of which enough is read",
                                     applies_orientation(b) ? ", upright" : ""));
  if (!b.given("hw_decoder_load"))
    offer.suited.push_back(
        "by the JPEG engine, where the GPU has one: baseline files of one scan that are 4:4:4 or grey; not "
        "those whose chroma it would enlarge its own way, unless hw_decoder_load says so");
  else if (b.number("hw_decoder_load") > 0)
    offer.suited.push_back(
        "by the JPEG engine, where the GPU has one: baseline files of one scan but 4:1:1 and 4:1:0 ones, "
        "since hw_decoder_load is more than 0");
  else
    offer.suited.push_back("by the JPEG engine: none, since hw_decoder_load is 0");
  return offer;
}

/// ceil(n * eighths / 8), as the decoder rounds.
Expr scaled_up(const Expr& n, const Expr& eighths) {
  return kernel::binary(ScalarOp::kShr, n * eighths + i64(7), i64(3));
}
Expr scaled_down(const Expr& n, const Expr& eighths) {
  return kernel::binary(ScalarOp::kShr, n * eighths, i64(3));
}

/// How far the first pixel of a low pass lies before the midst of those that it stands for, in pixels of the
/// scaled image.
Expr low_pass_shift(const EncodedExtents& image, const Expr& eighths) {
  return to_f64(image.is_low_pass * (i64(kWholeScale) - eighths)) * f64(1.0 / (2 * kWholeScale));
}

/// What both decoders offer; rows and columns at full size.
op::NativeOutput decoding(const RecipeBuilder& b, std::string function, const EncodedExtents& image,
                          const AxisRange& rows, const AxisRange& columns) {
  const Expr eighths = b.scale(kWholeScale);
  const auto axis = [&](char letter, const AxisRange& range) {
    return op::ScaleOffer::Axis{letter, range.extent, range.start,
                                to_f64(scaled_down(range.start, eighths)) - low_pass_shift(image, eighths)};
  };
  op::NativeOutput native;
  native.function = std::move(function);
  native.inputs = {0};
  native.config = decoder_config(b);
  native.makes = "image";
  native.scalars = page_scalars(b);
  // A preset's pixels are libjpeg's at full size, all channels.
  if (b.compat() != Compat::kDali) return native;
  native.scale = {.whole = kWholeScale,
                  .parts = {1, 2, 4},
                  .axes = {axis('H', rows), axis('W', columns)},
                  .least = image.least_eighths};
  native.plane = luma_offer(b, "output_type");
  if (!kernel::is_const(eighths)) native.scalars.push_back(eighths);
  return native;
}

}  // namespace

std::optional<op::PlaneOffer> luma_offer(const RecipeBuilder& b, const char* type_argument) {
  const int64_t image_type = b.integer(type_argument);
  if (image_type != kRgb && image_type != kBgr) return std::nullopt;
  std::vector<double> weights = {0.299, 0.587, 0.114};
  if (image_type == kBgr) std::reverse(weights.begin(), weights.end());
  return op::PlaneOffer{.name = "luma",
                        .axis = 'C',
                        .weights = std::move(weights),
                        .makes_plane = {type_argument, ir::Attr(kGray)},
                        .spread = "color_space_conversion",
                        .spread_args = {{"image_type", ir::Attr(kGray)}, {"output_type", ir::Attr(kRgb)}}};
}

void output_decoded(RecipeBuilder& b, const EncodedExtents& image) {
  using Part = op::WindowScalar::Part;
  const Expr eighths = b.scale(kWholeScale);
  op::NativeOutput native = decoding(b, native::kImageDecode, image, {i64(0), image.h}, {i64(0), image.w});
  native.window = {{'H', Part::kBegin}, {'W', Part::kBegin}, {'H', Part::kEnd}, {'W', Part::kEnd}};
  if (b.compat() == Compat::kDali) native.device = offer_to_nvjpeg(b, runtime::kMaxRank);
  std::vector<Expr> extents = {image.h, image.w, image.c};
  if (!kernel::is_const(eighths))
    for (size_t d = 0; d < 2; ++d) extents[d] = scaled_up(extents[d], eighths);
  b.output_native(0, std::move(native), std::move(extents));
}

void output_decoded_window(RecipeBuilder& b, const EncodedExtents& image, const AxisRange& rows,
                           const AxisRange& columns) {
  const Expr eighths = b.scale(kWholeScale);
  op::NativeOutput native = decoding(b, native::kImageDecodeWindow, image, rows, columns);
  // Of the rows of a whole image.
  if (b.compat() == Compat::kDali) native.device = offer_to_nvjpeg(b, 2);
  if (kernel::is_const(eighths)) {
    for (const Expr& side :
         {rows.start, columns.start, rows.start + rows.extent, columns.start + columns.extent})
      native.scalars.push_back(side);
    b.output_native(0, std::move(native), {rows.extent, columns.extent, image.c});
    return;
  }
  // Every pixel of the window, whole or in part.
  const Expr y0 = scaled_down(rows.start, eighths), x0 = scaled_down(columns.start, eighths);
  const Expr y1 = scaled_up(rows.start + rows.extent, eighths);
  const Expr x1 = scaled_up(columns.start + columns.extent, eighths);
  for (const Expr& side : {y0, x0, y1, x1}) native.scalars.push_back(side);
  b.output_native(0, std::move(native), {y1 - y0, x1 - x0, image.c});
}

}  // namespace galatea::ops
