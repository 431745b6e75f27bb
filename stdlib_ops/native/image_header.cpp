// Headers of JPEG, PNG and WebP: size, channels, orientation; and windows of turned pictures.
#include <fmt/format.h>
#include <webp/decode.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

uint32_t be16(const uint8_t* p) { return static_cast<uint32_t>(p[0] << 8 | p[1]); }
uint32_t be32(const uint8_t* p) { return be16(p) << 16 | be16(p + 2); }
uint32_t le32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}

}  // namespace

Result<ImageHeader> read_jpeg_header(Bytes bytes, int64_t /*page*/) {
  ImageHeader header;
  header.least_eighths = 1;
  size_t at = 2;
  while (true) {
    while (at < bytes.size() && bytes[at] != 0xFF) ++at;  // stray bytes before a marker
    while (at < bytes.size() && bytes[at] == 0xFF) ++at;
    if (at >= bytes.size()) break;
    uint8_t marker = bytes[at++];
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (marker == 0xD9 || marker == 0xDA) break;  // no frame before the end or the first scan
    if (at + 2 > bytes.size()) break;
    size_t length = be16(&bytes[at]);
    if (length < 2 || at + length > bytes.size()) break;
    Bytes segment = bytes.subspan(at + 2, length - 2);
    at += length;
    bool is_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) {
      if (segment.size() < 6) break;
      header.height = be16(&segment[1]);
      header.width = be16(&segment[3]);
      int components = segment[5];
      header.channels = components == 1 ? 1 : 3;
      if (segment[0] != 8)
        return image_error(
            fmt::format("the JPEG has {} bits per sample; only 8 are supported", int{segment[0]}),
            "re-encode it with 8 bits per sample");
      if (header.height == 0)
        return image_error("the JPEG does not state its height (DNL marker), which is not supported",
                           "re-encode the file");
      return header;
    }
    if (marker == 0xE1 && starts_with(segment, std::string_view("Exif\0\0", 6)))
      header.orientation = orientation_from_exif(segment.subspan(6));
  }
  return image_error("the JPEG's header is damaged or cut off: no frame header was found");
}

Result<ImageHeader> read_png_header(Bytes bytes, int64_t /*page*/) {
  ImageHeader header;
  if (bytes.size() < 33 || !starts_with(bytes, "IHDR", 12))
    return image_error("the PNG's header is damaged or cut off");
  header.width = be32(&bytes[16]);
  header.height = be32(&bytes[20]);
  int depth = bytes[24], color = bytes[25];
  header.bits = depth == 16 ? 16 : 8;
  header.white = depth == 16 ? 65535 : 255;
  switch (color) {
    case 0:
      header.channels = 1;
      break;
    case 2:
      header.channels = 3;
      break;
    case 3:
      header.channels = 3;
      break;
    case 4:
      header.channels = 2;
      break;
    case 6:
      header.channels = 4;
      break;
    default:
      return image_error(fmt::format("the PNG's header is damaged: colour type {}", color));
  }
  // eXIf stands before the pixels. Transparency by tRNS is no channel, as in DALI.
  for (size_t at = 8; at + 12 <= bytes.size();) {
    size_t length = be32(&bytes[at]);
    if (length > bytes.size() - at - 12 || starts_with(bytes, "IDAT", at + 4)) break;
    if (starts_with(bytes, "eXIf", at + 4))
      header.orientation = orientation_from_exif(bytes.subspan(at + 8, length));
    at += 12 + length;
  }
  return header;
}

Result<ImageHeader> read_webp_header(Bytes bytes, int64_t /*page*/) {
  ImageHeader header;
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK)
    return image_error("the WebP's header is damaged or cut off");
  if (features.has_animation)
    return image_error("the WebP is an animation, which is not supported",
                       "extract its frames as single images");
  header.width = features.width;
  header.height = features.height;
  header.channels = features.has_alpha ? 4 : 3;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    size_t length = le32(&bytes[at + 4]);
    if (length > bytes.size() - at - 8) break;
    if (starts_with(bytes, "EXIF", at)) {
      Bytes exif = bytes.subspan(at + 8, length);
      if (starts_with(exif, std::string_view("Exif\0\0", 6))) exif = exif.subspan(6);
      header.orientation = orientation_from_exif(exif);
    }
    at += 8 + length + (length & 1);
  }
  return header;
}

int orientation_from_exif(Bytes tiff) {
  if (tiff.size() < 8) return 1;
  bool little = starts_with(tiff, "II*") && tiff[3] == 0;
  bool big = tiff[0] == 'M' && tiff[1] == 'M' && tiff[2] == 0 && tiff[3] == '*';
  if (!little && !big) return 1;
  auto u16 = [&](size_t at) -> uint32_t {
    return little ? static_cast<uint32_t>(tiff[at] | tiff[at + 1] << 8) : be16(&tiff[at]);
  };
  auto u32 = [&](size_t at) -> uint32_t { return little ? le32(&tiff[at]) : be32(&tiff[at]); };
  size_t directory = u32(4);
  if (directory > tiff.size() || tiff.size() - directory < 2) return 1;
  size_t entries = u16(directory);
  for (size_t i = 0; i < entries; ++i) {
    size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > tiff.size()) return 1;
    if (u16(entry) != 0x0112) continue;
    uint32_t value = u16(entry + 2) == 3 ? u16(entry + 8) : u16(entry + 2) == 4 ? u32(entry + 8) : 1;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int decoded_channels(const ImageHeader& header, ImageType type) {
  if (type == ImageType::kGray) return 1;
  return type == ImageType::kAny ? header.channels : 3;
}

Window to_stored(const Window& w, const ImageHeader& header, int orientation) {
  int64_t h = header.height, wd = header.width;
  switch (orientation) {
    case 2:
      return {w.y0, wd - w.x1, w.y1, wd - w.x0};
    case 3:
      return {h - w.y1, wd - w.x1, h - w.y0, wd - w.x0};
    case 4:
      return {h - w.y1, w.x0, h - w.y0, w.x1};
    case 5:
      return {w.x0, w.y0, w.x1, w.y1};
    case 6:
      return {h - w.x1, w.y0, h - w.x0, w.y1};
    case 7:
      return {h - w.x1, wd - w.y1, h - w.x0, wd - w.y0};
    case 8:
      return {w.x0, wd - w.y1, w.x1, wd - w.y0};
    default:
      return w;
  }
}

}  // namespace galatea::native
