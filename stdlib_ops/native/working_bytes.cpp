// What decoding takes beside the image that it gives: our scratch, and what the libraries allocate
// themselves. Bounds: rows that a library buffers are counted generously, whole images exactly.
#include <algorithm>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/image_codecs.h"
#include "stdlib_ops/native/png_pixels.h"

namespace galatea::native {
namespace {

/// Whether the JPEG is decoded from coefficients of the whole image: progressive, or in several scans.
bool keeps_coefficients(Bytes bytes) {
  int components = 0;
  for (size_t at = 2; at + 4 <= bytes.size();) {
    if (bytes[at] != 0xFF) {
      ++at;
      continue;
    }
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xFF || marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) {
      at += marker == 0xFF ? 1 : 2;
      continue;
    }
    const size_t length = static_cast<size_t>(bytes[at + 2]) << 8 | bytes[at + 3];
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) {
      if ((marker & 3) == 2 || at + 9 >= bytes.size()) return true;
      components = bytes[at + 9];
    }
    if (marker == 0xDA) return at + 4 >= bytes.size() || bytes[at + 4] < components;
    at += 2 + length;
  }
  return false;
}

int64_t jpeg_bytes(int64_t height, int64_t width, bool keeps_coefficients) {
  constexpr int64_t kComponents = 4, kRowsOfBuffers = 152 + kMostStripRows;
  width = (width + 63) / 64 * 64;
  height = (height + 63) / 64 * 64;
  const int64_t rows = width * kComponents * kRowsOfBuffers;
  return rows + (keeps_coefficients ? 2 * kComponents * width * height : 0);
}

int64_t png_bytes(int64_t height, int64_t width, int bits, bool interlaced) {
  const int64_t row = most_png_row(width, bits);
  return row * (interlaced ? height : 1) + 8 * row;
}

/// Rows that are inflated before, each with its filter, and what they were deflated to.
int64_t inflated_png_bytes(int64_t height, int64_t width) {
  const int64_t rows = (most_png_row(width, 16) + 1) * height;
  return png_bytes(height, width, 16, false) + 2 * std::min<int64_t>(rows, kMostInflatedPng) + 1024;
}

/// The whole image, once for us and, where it is lossless, once in the library.
int64_t webp_bytes(int64_t height, int64_t width) { return 10 * width * height; }

}  // namespace

int64_t jpeg_working_bytes(Bytes bytes, const ImageHeader& header, int64_t /*page*/) {
  return jpeg_bytes(header.height, header.width, keeps_coefficients(bytes));
}

int64_t png_working_bytes(Bytes bytes, const ImageHeader& header, int64_t /*page*/) {
  const std::optional<PngPixels> pixels = find_png_pixels(bytes);
  return png_bytes(header.height, header.width, header.bits, bytes.size() > 28 && bytes[28] != 0) +
         (pixels ? pixels->bytes() : 0);
}

int64_t webp_working_bytes(Bytes, const ImageHeader& header, int64_t /*page*/) {
  return webp_bytes(header.height, header.width);
}

int64_t bmp_working_bytes(Bytes, const ImageHeader& header, int64_t /*page*/) { return 4 * header.width; }

DecodeBounds most_decode_working_bytes(int64_t height, int64_t width) {
  // A file may hold the image turned, with rows as long as its columns.
  const int64_t row = std::max(height, width), rows = std::min(height, width);
  const int64_t by_rows = std::max(jpeg_bytes(rows, row, false), png_bytes(rows, row, 16, false));
  const int64_t whole =
      std::max({jpeg_bytes(rows, row, true), png_bytes(rows, row, 16, true), inflated_png_bytes(rows, row),
                inflated_png_bytes(row, rows), webp_bytes(rows, row)});
  return {runtime::claimed_bytes(by_rows + kAroundDecoder), runtime::claimed_bytes(whole + kAroundDecoder)};
}

}  // namespace galatea::native
