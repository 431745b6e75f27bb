// Images that a device decodes in place of the host.
//
// Comes in: a file that a native function has looked at (NativeFunction::encoded_image), and the window of it
// that is wanted. Goes out: a job that stands in the sample's record until its batch is enqueued. Who decodes
// an image is a function of the image and of the program's options, never of load or time.
#pragma once

#include <cstdint>
#include <span>

namespace galatea::runtime {

/// A JPEG in the orientation in which it is stored.
struct EncodedImage {
  enum class Format : uint8_t { kRgb, kBgr, kGray };
  std::span<const uint8_t> bytes;  ///< of the file, while the call lasts
  int64_t height = 0, width = 0;   ///< of the whole image, which is decoded
  int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;
  Format format = Format::kRgb;
  /// Its Huffman codes are the device's work too.
  bool entropy_on_device = false;

  int64_t channels() const { return format == Format::kGray ? 1 : 3; }
};

/// What the host's part of decoding left behind.
class DeviceDecode {
 public:
  virtual ~DeviceDecode() = default;
};

}  // namespace galatea::runtime
