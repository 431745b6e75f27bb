// WebP by libwebp: whole image, then the window (its cropping starts at even pixels only, and chroma
// upsampling differs at the edges).
#include <memory>

#include <webp/decode.h>

#include "stdlib_ops/native/image.h"

namespace galatea::native {

Status decode_webp(const DecodeJob& job) {
  bool alpha = job.options.type == ImageType::kAny && job.header.channels == 4;
  int channels = alpha ? 4 : 3;
  int64_t stride = job.header.width * channels;
  auto memory = job.scratch.bytes(stride * job.header.height);
  if (!memory) return std::unexpected(memory.error());
  auto size = static_cast<size_t>(stride * job.header.height);
  const uint8_t* done =
      alpha ? WebPDecodeRGBAInto(job.bytes.data(), job.bytes.size(), *memory, size, static_cast<int>(stride))
            : WebPDecodeRGBInto(job.bytes.data(), job.bytes.size(), *memory, size, static_cast<int>(stride));
  if (!done) return image_error("the WebP cannot be decoded: its data is damaged or cut off");
  bool converted = job.options.type == ImageType::kRgb || job.options.type == ImageType::kAny;
  RowSink sink = job.sink(channels, 8, converted);
  for (int64_t y = job.stored.y0; y < job.stored.y1; ++y)
    sink.put(y - job.stored.y0, *memory + y * stride + job.stored.x0 * channels);
  return {};
}

}  // namespace galatea::native
