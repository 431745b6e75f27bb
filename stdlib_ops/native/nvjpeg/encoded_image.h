// A JPEG that nvJPEG is to decode.
#pragma once

#include <cstdint>
#include <span>

namespace galatea::native {

/// In the orientation in which it is stored.
struct EncodedImage {
  enum class Format : uint8_t { kRgb, kBgr, kGray };
  std::span<const uint8_t> bytes;  ///< of the file, while the call lasts
  int64_t height = 0, width = 0;   ///< of the whole image, which is decoded
  Format format = Format::kRgb;
  /// Its Huffman codes are the device's work too.
  bool entropy_on_device = false;
  /// The device's JPEG engine may decode it, where there is one.
  bool by_engine = false;

  int64_t channels() const { return format == Format::kGray ? 1 : 3; }
  int64_t row_bytes() const { return width * channels(); }
};

}  // namespace galatea::native
