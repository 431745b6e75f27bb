// Images as JPEG leaves them: see jpeg_distort.h.
#include "stdlib_ops/native/jpeg_distort.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "runtime/messages.h"

namespace galatea::native {
namespace {

constexpr int64_t kRgb = 3;

struct DistortFailure {
  jpeg_error_mgr manager;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  bool out_of_memory = false;
};

[[noreturn]] void on_distort_error(j_common_ptr info) {
  auto* failure = reinterpret_cast<DistortFailure*>(info->err);
  failure->out_of_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
  info->err->format_message(info, failure->message);
  std::longjmp(failure->escape, 1);
}

void ignore_message(j_common_ptr, int) {}

jpeg_error_mgr* errors_to(DistortFailure& failure) {
  jpeg_error_mgr* manager = jpeg_std_error(&failure.manager);
  manager->error_exit = on_distort_error;
  manager->emit_message = ignore_message;
  return manager;
}

/// One image of the input; strides count bytes.
struct JpegInput {
  const uint8_t* data;
  int64_t height, width;
  int64_t row_stride, pixel_stride, channel_stride;
};

/// A row whose pixels lie next to each other: where it is, or a copy in `copy`.
const uint8_t* dense_row(const JpegInput& pixels, int64_t y, uint8_t* copy) {
  const uint8_t* row = pixels.data + y * pixels.row_stride;
  if (pixels.channel_stride == 1 && pixels.pixel_stride == kRgb) return row;
  for (int64_t x = 0; x < pixels.width; ++x)
    for (int64_t c = 0; c < kRgb; ++c)
      copy[x * kRgb + c] = row[x * pixels.pixel_stride + c * pixels.channel_stride];
  return copy;
}

/// What survives a longjmp; plain members only.
struct JpegCompressor {
  jpeg_compress_struct info;
  DistortFailure failure;
  unsigned char* bytes;  ///< room for any image of these extents, so that the library needs none of its own
  unsigned long size;
};

struct JpegDecompressor {
  jpeg_decompress_struct info;
  DistortFailure failure;
};

/// The most bytes that an image takes: libjpeg-turbo's bound of 4:2:0, tjBufSize() of its manual.
int64_t most_bytes(int64_t height, int64_t width) {
  const auto blocks = [](int64_t extent) { return (extent + 15) / 16 * 16; };
  return blocks(height) * blocks(width) * 3 + 2048;
}

/// False: the failure says why. Errors leave by longjmp, so nothing here has a destructor.
bool compress(JpegCompressor& encoder, const JpegInput& pixels, int quality, uint8_t* copy) {
  jpeg_compress_struct& info = encoder.info;
  info.err = errors_to(encoder.failure);
  if (setjmp(encoder.failure.escape)) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoder.bytes, &encoder.size);
  info.image_width = static_cast<JDIMENSION>(pixels.width);
  info.image_height = static_cast<JDIMENSION>(pixels.height);
  info.input_components = static_cast<int>(kRgb);
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);  // baseline, 4:2:0, Huffman tables of the standard
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(dense_row(pixels, info.next_scanline, copy));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

bool decompress(JpegDecompressor& decoder, const JpegCompressor& encoded, uint8_t* out) {
  jpeg_decompress_struct& info = decoder.info;
  info.err = errors_to(decoder.failure);
  if (setjmp(decoder.failure.escape)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, encoded.bytes, encoded.size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out + int64_t{info.output_scanline} * info.output_width * kRgb;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

std::unexpected<Error> distort_error(const DistortFailure& failure) {
  if (failure.out_of_memory) return runtime::make_error(runtime::message::kNoMemory);
  return make_error(ErrorKind::kUser, "G0910", fmt::format("JPEG cannot hold the image: {}", failure.message),
                    "leave fn.jpeg_compression_distortion out for such images");
}

/// Bytes for a row, and for an encoded image.
int64_t distort_bytes(const runtime::Tensor& images) {
  const int64_t height = images.extents[images.ndim - 3], width = images.extents[images.ndim - 2];
  return width * kRgb + most_bytes(height, width);
}

Status distort(runtime::NativeContext& context) {
  const runtime::Tensor& images = context.inputs[0];
  const int h = images.ndim - 3;
  const int64_t frames = h > 0 ? images.extents[0] : 1;
  JpegInput pixels{.data = images.data,
                   .height = images.extents[h],
                   .width = images.extents[h + 1],
                   .row_stride = images.strides[h],
                   .pixel_stride = images.strides[h + 1],
                   .channel_stride = images.strides[h + 2]};
  if (frames == 0 || pixels.height == 0 || pixels.width == 0) return {};
  const auto quality = static_cast<int>(cell_to_int(DType::kI64, context.scalars[0]));
  GALATEA_ASSIGN(uint8_t* const row, context.scratch(distort_bytes(images)));
  uint8_t* out = context.output->data;
  for (int64_t frame = 0; frame < frames; ++frame) {
    if (context.cancelled()) return {};
    JpegCompressor encoder;
    encoder.bytes = row + pixels.width * kRgb;
    encoder.size = static_cast<unsigned long>(most_bytes(pixels.height, pixels.width));
    if (!compress(encoder, pixels, quality, row)) return distort_error(encoder.failure);
    JpegDecompressor decoder;
    if (!decompress(decoder, encoder, out)) return distort_error(decoder.failure);
    out += pixels.height * pixels.width * kRgb;
    if (h > 0) pixels.data += images.strides[0];
  }
  return {};
}

}  // namespace

runtime::NativeFunction jpeg_distort_function() {
  runtime::NativeFunction made;
  made.name = kJpegDistort;
  made.category = "compute";
  made.call = distort;
  made.working_bytes = [](std::span<const runtime::Tensor> inputs, std::span<const Cell>,
                          const runtime::NativeState*) { return distort_bytes(inputs[0]); };
  return made;
}

}  // namespace galatea::native
