// BMP, by hand: uncompressed 1, 4, 8, 24 and 32 bits a pixel, and 32 bits with byte-aligned masks.
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

/// Layout of the file, from BITMAPFILEHEADER and BITMAPCOREHEADER or BITMAPINFOHEADER and its successors.
struct BmpLayout {
  int64_t width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  size_t pixels = 0;  ///< offset of the first row
  size_t palette = 0;
  int palette_entry = 4;     ///< bytes
  int64_t palette_size = 0;  ///< entries
  uint32_t red = 0x00FF0000, green = 0x0000FF00, blue = 0x000000FF;
  bool gray = false;  ///< a palette of greys only: one channel
  int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

uint32_t le16(Bytes bytes, size_t at) { return static_cast<uint32_t>(bytes[at] | bytes[at + 1] << 8); }
uint32_t le32(Bytes bytes, size_t at) { return le16(bytes, at) | le16(bytes, at + 2) << 16; }

bool is_byte_mask(uint32_t mask) {
  return mask != 0 && std::countr_zero(mask) % 8 == 0 && (mask >> std::countr_zero(mask)) == 0xFF;
}

bool is_gray_palette(Bytes bytes, const BmpLayout& layout) {
  for (int64_t i = 0; i < layout.palette_size; ++i) {
    const uint8_t* color = &bytes[layout.palette + static_cast<size_t>(i * layout.palette_entry)];
    if (color[0] != color[1] || color[1] != color[2]) return false;
  }
  return true;
}

Result<BmpLayout> read_layout(Bytes bytes) {
  if (bytes.size() < 26) return image_error("the BMP's header is cut off");
  BmpLayout layout;
  layout.pixels = le32(bytes, 10);
  size_t header = le32(bytes, 14);
  if (header != 12 && (header < 40 || header > 124))
    return image_error(fmt::format("the BMP's header is damaged: its length is {}", header));
  if (bytes.size() < 14 + header) return image_error("the BMP's header is cut off");
  uint32_t compression = 0;
  uint32_t colors = 0;
  if (header == 12) {
    layout.width = le16(bytes, 18);
    layout.height = le16(bytes, 20);
    layout.bits = static_cast<int>(le16(bytes, 24));
    layout.palette_entry = 3;
  } else {
    layout.width = static_cast<int32_t>(le32(bytes, 18));
    layout.height = static_cast<int32_t>(le32(bytes, 22));
    layout.bits = static_cast<int>(le16(bytes, 28));
    compression = le32(bytes, 30);
    colors = le32(bytes, 46);
  }
  layout.top_down = layout.height < 0;
  if (layout.height < 0) layout.height = -layout.height;
  layout.palette = 14 + header;
  if (compression == 3 && layout.bits == 32) {
    size_t masks = header >= 52 ? 54 : 14 + header;
    if (bytes.size() < masks + 12) return image_error("the BMP's header is cut off");
    layout.red = le32(bytes, masks), layout.green = le32(bytes, masks + 4),
    layout.blue = le32(bytes, masks + 8);
    if (!is_byte_mask(layout.red) || !is_byte_mask(layout.green) || !is_byte_mask(layout.blue))
      return image_error("the BMP's colour masks are not whole bytes, which is not supported",
                         "save it with 24 bits per pixel");
  } else if (compression != 0) {
    return image_error(fmt::format("the BMP is compressed (method {}), which is not supported", compression),
                       "save it uncompressed, or as PNG");
  }
  if (layout.bits != 1 && layout.bits != 4 && layout.bits != 8 && layout.bits != 24 && layout.bits != 32)
    return image_error(fmt::format("the BMP has {} bits per pixel, which is not supported", layout.bits),
                       "save it with 24 bits per pixel");
  if (layout.bits <= 8) {
    layout.palette_size =
        colors == 0 || colors > (1U << layout.bits) ? int64_t{1} << layout.bits : int64_t{colors};
    if (layout.palette + static_cast<size_t>(layout.palette_size * layout.palette_entry) > bytes.size())
      return image_error("the BMP's palette is cut off");
    layout.gray = is_gray_palette(bytes, layout);
  }
  return layout;
}

void read_row(Bytes bytes, const BmpLayout& layout, const uint8_t* row, const Window& window, uint8_t* out) {
  for (int64_t x = window.x0; x < window.x1; ++x, out += 3) {
    if (layout.bits <= 8) {
      int per_byte = 8 / layout.bits;
      int shift = 8 - layout.bits * (static_cast<int>(x % per_byte) + 1);
      int64_t index = row[x / per_byte] >> shift & ((1 << layout.bits) - 1);
      if (index >= layout.palette_size) index = 0;
      const uint8_t* color = &bytes[layout.palette + static_cast<size_t>(index * layout.palette_entry)];
      out[0] = color[2], out[1] = color[1], out[2] = color[0];
    } else if (layout.bits == 24) {
      const uint8_t* p = row + 3 * x;
      out[0] = p[2], out[1] = p[1], out[2] = p[0];
    } else {
      uint32_t value = 0;
      std::memcpy(&value, row + 4 * x, 4);
      if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
      out[0] = static_cast<uint8_t>(value >> std::countr_zero(layout.red));
      out[1] = static_cast<uint8_t>(value >> std::countr_zero(layout.green));
      out[2] = static_cast<uint8_t>(value >> std::countr_zero(layout.blue));
    }
  }
}

}  // namespace

Result<ImageHeader> read_bmp_header(Bytes bytes, int64_t /*page*/) {
  GALATEA_ASSIGN(BmpLayout layout, read_layout(bytes));
  ImageHeader header;
  header.width = layout.width;
  header.height = layout.height;
  header.channels = layout.gray ? 1 : 3;
  return header;
}

Status decode_bmp(const DecodeJob& job) {
  GALATEA_ASSIGN(BmpLayout layout, read_layout(job.bytes));
  auto row_bytes = static_cast<size_t>(layout.row_bytes());
  if (layout.pixels > job.bytes.size() ||
      (job.bytes.size() - layout.pixels) / row_bytes < static_cast<size_t>(layout.height))
    return image_error(fmt::format("the BMP is cut off: its {} rows need {} bytes", layout.height,
                                   row_bytes * static_cast<size_t>(layout.height)));
  auto memory = job.scratch.bytes(job.stored.width() * 3);
  if (!memory) return std::unexpected(memory.error());
  RowSink sink = job.sink(
      3, 8, job.options.type == ImageType::kRgb || (job.options.type == ImageType::kAny && !layout.gray));
  for (int64_t y = job.stored.y0; y < job.stored.y1; ++y) {
    int64_t stored_row = layout.top_down ? y : layout.height - 1 - y;
    read_row(job.bytes, layout, &job.bytes[layout.pixels + static_cast<size_t>(stored_row) * row_bytes],
             job.stored, *memory);
    sink.put(y - job.stored.y0, *memory);
  }
  return {};
}

}  // namespace galatea::native
