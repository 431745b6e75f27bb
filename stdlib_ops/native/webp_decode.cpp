// WebP by libwebp: whole image, then the window (its cropping starts at even pixels only, and chroma
// upsampling differs at the edges).
#include <memory>

#include <webp/decode.h>

#include "runtime/messages.h"
#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {

Status decode_webp(const DecodeJob& job) {
  bool alpha = job.options.type == ImageType::kAny && job.header.channels == 4;
  int channels = alpha ? 4 : 3;
  int64_t stride = job.header.width * channels;
  auto memory = job.scratch.bytes(stride * job.header.height);
  if (!memory) return std::unexpected(memory.error());
  WebPDecoderConfig config;
  GALATEA_CHECK(WebPInitDecoderConfig(&config) != 0, "libwebp of another version");
  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {*memory, static_cast<int>(stride), static_cast<size_t>(stride * job.header.height)};
  const VP8StatusCode status = WebPDecode(job.bytes.data(), job.bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_OUT_OF_MEMORY) return runtime::make_error(runtime::message::kNoMemory);
  if (status != VP8_STATUS_OK)
    return image_error("the WebP cannot be decoded: its data is damaged or cut off");
  bool converted = job.options.type == ImageType::kRgb || job.options.type == ImageType::kAny;
  RowSink sink = job.sink(channels, 8, converted);
  for (int64_t y = job.stored.y0; y < job.stored.y1; ++y)
    sink.put(y - job.stored.y0, *memory + y * stride + job.stored.x0 * channels);
  return {};
}

}  // namespace galatea::native
