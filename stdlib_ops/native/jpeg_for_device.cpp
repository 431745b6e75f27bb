// Which JPEGs a device may decode in place of libjpeg-turbo: those of which both make the same image, but for
// rounding in the transforms.
//
// Comes in: a file whose header was read. Goes out: the image, or nothing where the host shall decode it:
// because the device would make something else (a turned image, four inks, RGB stored as it is), because only
// the host notices that the file is damaged, or because the host has less to do for the window alone.
//
// Everything here is a function of the file, the window and the options.
#include "stdlib_ops/native/jpeg_for_device.h"

#include <cstring>

namespace galatea::native {
namespace {

/// Of an image's pixels, how many a window must have. Codes are more than half of what decoding costs the
/// host. Where they stay with the host, nvJPEG reads those of the whole file; alone, the host steps over rows
/// above a window and leaves those below, and has less to do for windows of less than two fifths. Where they
/// do not, next to nothing is left to the host, but the device writes the whole image.
struct Share {
  int64_t num, den;
};
constexpr Share kLeastWindow = {2, 5}, kLeastWindowOfEntropyOnDevice = {1, 12};

struct Frame {
  uint8_t marker = 0;
  int components = 0;
  int h[3] = {}, v[3] = {}, id[3] = {};
  bool has_jfif = false;
  int adobe_transform = -1;  ///< -1: no such marker
  size_t scan = 0;           ///< where the codes of the first one begin
  int scan_components = 0;   ///< of that scan
};

size_t be16(Bytes bytes, size_t at) { return static_cast<size_t>(bytes[at]) << 8 | bytes[at + 1]; }

bool holds(Bytes segment, std::string_view magic) {
  return segment.size() >= magic.size() && std::memcmp(segment.data(), magic.data(), magic.size()) == 0;
}

void read_frame(Bytes segment, uint8_t marker, Frame& out) {
  out.marker = marker;
  out.components = segment.size() > 5 ? segment[5] : 0;
  if ((out.components != 1 && out.components != 3) ||
      segment.size() < 6 + 3 * static_cast<size_t>(out.components)) {
    out.components = 0;
    return;
  }
  for (int c = 0; c < out.components; ++c) {
    const size_t at = 6 + 3 * static_cast<size_t>(c);
    out.id[c] = segment[at];
    out.h[c] = segment[at + 1] >> 4;
    out.v[c] = segment[at + 1] & 15;
  }
}

/// The markers in front of the first scan; no scan: they cannot be read.
Frame read_markers(Bytes bytes) {
  Frame out;
  for (size_t at = 2; at + 4 <= bytes.size();) {
    if (bytes[at] != 0xFF) return {};
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {
      ++at;
      continue;
    }
    const size_t length = be16(bytes, at + 2);
    if (length < 2 || at + 2 + length > bytes.size()) return {};
    const Bytes segment = bytes.subspan(at + 4, length - 2);
    if (marker == 0xDA) {
      out.scan = at + 2 + length;
      out.scan_components = segment.empty() ? 0 : segment[0];
      return out;
    }
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) read_frame(segment, marker, out);
    if (marker == 0xE0 && holds(segment, "JFIF")) out.has_jfif = true;
    if (marker == 0xEE && holds(segment, "Adobe") && segment.size() >= 12) out.adobe_transform = segment[11];
    at += 2 + length;
  }
  return {};
}

/// Luma and two chromas, by the rules that libjpeg guesses by.
bool is_ycbcr(const Frame& frame) {
  if (frame.has_jfif) return frame.adobe_transform < 0 || frame.adobe_transform == 1;
  if (frame.adobe_transform >= 0) return frame.adobe_transform == 1;
  return frame.id[0] == 1 && frame.id[1] == 2 && frame.id[2] == 3;
}

/// 4:4:4, 4:2:2, 4:4:0, 4:2:0, 4:1:1, 4:1:0: chroma of one size, luma a multiple of it.
bool is_usual_sampling(const Frame& frame) {
  if (frame.components == 1) return true;
  if (frame.h[1] != 1 || frame.v[1] != 1 || frame.h[2] != 1 || frame.v[2] != 1) return false;
  return (frame.h[0] == 1 || frame.h[0] == 2 || frame.h[0] == 4) && (frame.v[0] == 1 || frame.v[0] == 2);
}

/// A JPEG engine decodes baseline files of one scan, of 4:4:4, 4:2:2, 4:4:0, 4:2:0 or grey. How it enlarges
/// chroma is not documented: it may repeat it where the others interpolate.
bool may_be_the_engines(const Frame& frame, JpegEngineUse use, EncodedImage::Format format) {
  if (use == JpegEngineUse::kNever || frame.marker != 0xC0 || frame.scan_components != frame.components)
    return false;
  if (frame.components == 1) return format == EncodedImage::Format::kGray;
  return use == JpegEngineUse::kWherever ? frame.h[0] <= 2 : frame.h[0] == 1 && frame.v[0] == 1;
}

/// A file that was cut off has no end; codes hold no such marker.
bool has_end(Bytes bytes, size_t from) {
  for (size_t at = bytes.size() - 1; at > from; --at)
    if (bytes[at] == 0xD9 && bytes[at - 1] == 0xFF) return true;
  return false;
}

int64_t count_scans(Bytes bytes, size_t from) {
  int64_t count = 1;
  for (size_t at = from; at + 1 < bytes.size(); ++at) {
    const void* found = std::memchr(bytes.data() + at, 0xFF, bytes.size() - 1 - at);
    if (!found) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    if (bytes[at + 1] == 0xDA) ++count;
  }
  return count;
}

bool is_worth_it(const EncodedImage& image, const Window& window) {
  const int64_t wanted = window.height() * window.width();
  const Share least = image.entropy_on_device ? kLeastWindowOfEntropyOnDevice : kLeastWindow;
  return wanted > 0 && wanted * least.den >= image.height * image.width * least.num;
}

std::optional<EncodedImage::Format> format_of(ImageType type, int components) {
  switch (type) {
    case ImageType::kRgb:
      if (components == 3) return EncodedImage::Format::kRgb;
      return std::nullopt;  // grey that is to be coloured
    case ImageType::kBgr:
      if (components == 3) return EncodedImage::Format::kBgr;
      return std::nullopt;
    case ImageType::kGray:
      return EncodedImage::Format::kGray;
    case ImageType::kAny:
      return components == 3 ? EncodedImage::Format::kRgb : EncodedImage::Format::kGray;
    case ImageType::kYCbCr:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<EncodedImage> jpeg_for_device(Bytes bytes, const ImageHeader& header, const Window& window,
                                            const DecodeOptions& options) {
  if (header.format != ImageFormat::kJpeg || options.dtype != DType::kU8 || options.eighths != 8) return {};
  if (options.adjust_orientation && header.orientation != 1) return {};
  if (window.y0 < 0 || window.x0 < 0 || window.y1 > header.height || window.x1 > header.width) return {};
  const Frame frame = read_markers(bytes);
  if (frame.scan == 0 || frame.components == 0) return {};
  const bool is_progressive = frame.marker == 0xC2;
  if (frame.marker != 0xC0 && frame.marker != 0xC1 && !is_progressive) return {};
  if (frame.components == 3 && !is_ycbcr(frame)) return {};
  if (!is_usual_sampling(frame)) return {};
  const auto format = format_of(options.type, frame.components);
  if (!format) return {};
  EncodedImage out{bytes, header.height, header.width, *format};
  out.entropy_on_device = header.height * header.width > options.hybrid_huffman_threshold &&
                          frame.marker == 0xC0 && frame.components == 3;
  out.by_engine = may_be_the_engines(frame, options.engine, *format);
  if (!is_worth_it(out, window)) return {};
  if (!has_end(bytes, frame.scan) || (is_progressive && count_scans(bytes, frame.scan) > kMaxJpegScans))
    return {};
  return out;
}

}  // namespace galatea::native
