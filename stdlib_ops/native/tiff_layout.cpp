#include "stdlib_ops/native/tiff_layout.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

constexpr int kJpegCompression = 7;

/// Numbers of a file, in its order of bytes.
class TiffNumbers {
 public:
  TiffNumbers(Bytes bytes, bool is_little) : bytes_(bytes), is_little_(is_little) {}

  bool holds(uint64_t at, uint64_t count) const { return at <= bytes_.size() && count <= bytes_.size() - at; }
  /// `size` bytes at a place that holds them.
  uint64_t number(uint64_t at, int size) const {
    uint64_t out = 0;
    for (int i = 0; i < size; ++i) {
      const uint64_t byte = bytes_[at + static_cast<uint64_t>(i)];
      out = is_little_ ? out | byte << 8 * i : out << 8 | byte;
    }
    return out;
  }

 private:
  Bytes bytes_;
  bool is_little_;
};

/// The sizes that tell TIFF from BigTIFF.
struct TiffForm {
  bool is_big = false;
  int offset() const { return is_big ? 8 : 4; }
  int count() const { return is_big ? 8 : 2; }
  uint64_t entry() const { return is_big ? 20 : 12; }
};

std::unexpected<Error> cut_off() { return image_error("the TIFF's directory is damaged or cut off"); }

std::unexpected<Error> unsupported_tiff(const std::string& what, std::string help) {
  return image_error(fmt::format("the TIFF {}, which is not supported", what), std::move(help));
}

/// An entry of a directory: its numbers, of types BYTE, SHORT, LONG and LONG8.
struct TiffEntry {
  uint64_t at = 0, count = 0;
  int size = 0;  ///< of a number; 0: another type
};

TiffEntry entry_at(const TiffNumbers& file, TiffForm form, uint64_t at) {
  TiffEntry out;
  const uint64_t type = file.number(at + 2, 2);
  out.size = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 0;
  out.count = file.number(at + 4, form.offset());
  out.at = at + 4 + static_cast<uint64_t>(form.offset());
  if (out.size == 0) return out;
  // Few numbers stand in the entry itself.
  const auto field = static_cast<uint64_t>(form.offset());
  const auto size = static_cast<uint64_t>(out.size);
  if (out.count > field / size) out.at = file.number(out.at, form.offset());
  if (out.count == 0 || out.count > UINT64_MAX / size || !file.holds(out.at, out.count * size)) out.size = 0;
  return out;
}

/// Whether all numbers of an entry are `first`.
bool is_uniform(const TiffNumbers& file, const TiffEntry& entry, uint64_t first) {
  // More samples than this are refused anyway.
  const uint64_t count = std::min<uint64_t>(entry.count, kMaxChannels);
  for (uint64_t i = 0; i < count; ++i)
    if (file.number(entry.at + i * static_cast<uint64_t>(entry.size), entry.size) != first) return false;
  return true;
}

Status check_samples(const TiffLayout& tiff, uint64_t format, uint64_t inks) {
  const char* const convert = "save it with 8 or 16 bits per sample";
  if (tiff.samples < 1 || tiff.samples > kMaxChannels)
    return image_error(fmt::format("the TIFF has {} samples per pixel; at most {} are supported",
                                   tiff.samples, kMaxChannels));
  if (format == 2) return unsupported_tiff("has signed samples", convert);
  if (format != 1 && format != 3 && format != 4)
    return unsupported_tiff(fmt::format("has samples of format {}", format), convert);
  const bool is_known = tiff.is_float ? tiff.bits == 16 || tiff.bits == 32 || tiff.bits == 64
                                      : tiff.bits == 1 || tiff.bits == 2 || tiff.bits == 4 ||
                                            tiff.bits == 8 || tiff.bits == 12 || tiff.bits == 16;
  if (!is_known)
    return unsupported_tiff(
        fmt::format("has {} samples of {} bits", tiff.is_float ? "float" : "unsigned", tiff.bits), convert);
  switch (tiff.color) {
    case TiffColor::kWhiteIsZero:
    case TiffColor::kBlackIsZero:
      return {};
    case TiffColor::kRgb:
      if (tiff.samples < 3)
        return image_error(fmt::format("the TIFF states RGB with {} samples", tiff.samples));
      return {};
    case TiffColor::kPalette:
      if (tiff.samples != 1 || tiff.bits > 8 || tiff.is_float)
        return unsupported_tiff(
            fmt::format("has a palette for {} samples of {} bits", tiff.samples, tiff.bits),
            "save it as RGB");
      return {};
    case TiffColor::kInks:
      if (tiff.samples < 4 || inks != 1 || tiff.is_float || tiff.bits < 8)
        return unsupported_tiff("has inks other than cyan, magenta, yellow and black", "save it as RGB");
      return {};
    case TiffColor::kYCbCr:
    case TiffColor::kLab:
      if (tiff.samples < 3 || tiff.bits != 8 || tiff.is_float)
        return unsupported_tiff(
            fmt::format("has YCbCr or L*a*b* of {} samples of {} bits", tiff.samples, tiff.bits),
            "save it as RGB");
      return {};
  }
  return unsupported_tiff(
      fmt::format("has colours of kind {} (PhotometricInterpretation)", static_cast<int>(tiff.color)),
      "save it as RGB or grey");
}

Status check_compression(int compression) {
  // None, the CCITT's, LZW, JPEG, deflate under both numbers, PackBits, LZMA, Zstandard, WebP.
  constexpr int kKnown[] = {1, 2, 3, 4, 5, kJpegCompression, 8, 32946, 32773, 34925, 50000, 50001};
  if (std::find(std::begin(kKnown), std::end(kKnown), compression) == std::end(kKnown))
    return unsupported_tiff(fmt::format("is compressed by method {}", compression),
                            "save it with LZW or deflate compression");
  return {};
}

Result<TiffLayout> read_directory(const TiffNumbers& file, TiffForm form, uint64_t directory,
                                  uint64_t entries) {
  TiffLayout out;
  out.directory = static_cast<int64_t>(directory);
  uint64_t height = 0, width = 0, samples = 1, bits = 1, format = 1, color = UINT16_MAX, compression = 1,
           planar = 1, tile_height = 0, tile_width = 0, strip_rows = UINT32_MAX, orientation = 1, inks = 1;
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t at = directory + static_cast<uint64_t>(form.count()) + i * form.entry();
    const uint64_t tag = file.number(at, 2);
    uint64_t* to = nullptr;
    switch (tag) {
      case 256:
        to = &width;
        break;
      case 257:
        to = &height;
        break;
      case 258:
        to = &bits;
        break;
      case 259:
        to = &compression;
        break;
      case 262:
        to = &color;
        break;
      case 274:
        to = &orientation;
        break;
      case 277:
        to = &samples;
        break;
      case 278:
        to = &strip_rows;
        break;
      case 284:
        to = &planar;
        break;
      case 322:
        to = &tile_width;
        break;
      case 323:
        to = &tile_height;
        break;
      case 332:
        to = &inks;
        break;
      case 339:
        to = &format;
        break;
      default:
        continue;
    }
    const TiffEntry entry = entry_at(file, form, at);
    if (entry.size == 0) return cut_off();
    *to = file.number(entry.at, entry.size);
    if ((tag == 258 || tag == 339) && !is_uniform(file, entry, *to))
      return unsupported_tiff("has samples of different kinds in a pixel", "save it with 8 bits per sample");
  }
  constexpr uint64_t kMost = UINT32_MAX;
  if (width > kMost || height > kMost || tile_width > kMost || tile_height > kMost || strip_rows > kMost ||
      samples > UINT16_MAX || bits > UINT16_MAX || color > UINT16_MAX || compression > UINT16_MAX)
    return cut_off();
  if ((tile_width == 0) != (tile_height == 0) || planar < 1 || planar > 2) return cut_off();
  if (color == UINT16_MAX)
    return image_error("the TIFF does not state its colours (PhotometricInterpretation)");
  out.height = static_cast<int64_t>(height);
  out.width = static_cast<int64_t>(width);
  out.bits = static_cast<int>(bits);
  out.samples = static_cast<int>(samples);
  out.color = static_cast<TiffColor>(color);
  out.compression = static_cast<int>(compression);
  out.is_planar = planar == 2 && samples > 1;
  out.is_float = format == 3;
  out.orientation = orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  out.tile_height = static_cast<int64_t>(tile_height);
  out.tile_width = static_cast<int64_t>(tile_width);
  out.strip_rows = std::clamp<int64_t>(static_cast<int64_t>(strip_rows), 1, std::max<int64_t>(out.height, 1));
  GALATEA_TRY(check_samples(out, format, inks));
  GALATEA_TRY(check_compression(out.compression));
  return out;
}

}  // namespace

bool TiffLayout::comes_as_rgba() const {
  return color == TiffColor::kLab || (color == TiffColor::kYCbCr && compression != kJpegCompression);
}

int TiffLayout::row_bits() const {
  if (is_float) return 32;
  if (color == TiffColor::kPalette) return 16;
  return bits > 8 ? 16 : 8;
}

double TiffLayout::white() const {
  if (is_float) return 1;
  if (color == TiffColor::kPalette) return 65535;
  return bits <= 8 ? 255 : (1 << bits) - 1;
}

int TiffLayout::channels() const {
  switch (color) {
    case TiffColor::kPalette:
    case TiffColor::kInks:
    case TiffColor::kYCbCr:
    case TiffColor::kLab:
      return 3;
    default:
      return samples;
  }
}

bool is_tiff(Bytes bytes) {
  using namespace std::string_view_literals;
  return starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv) || starts_with(bytes, "II+\0"sv) ||
         starts_with(bytes, "MM\0+"sv);
}

Result<TiffLayout> read_tiff_layout(Bytes bytes, int64_t page) {
  const TiffForm form{.is_big = bytes[2] == '+' || bytes[3] == '+'};
  const TiffNumbers file(bytes, bytes[0] == 'I');
  const uint64_t head = form.is_big ? 8 : 4;
  if (!file.holds(head, static_cast<uint64_t>(form.offset()))) return cut_off();
  uint64_t directory = file.number(head, form.offset());
  std::set<uint64_t> seen;  // a chain may lead back to itself
  for (int64_t number = 0;; ++number) {
    if (directory == 0 || !seen.insert(directory).second) {
      if (number == 0) return cut_off();
      return image_error(fmt::format("there is no page {}: the TIFF holds {}", page, number),
                         "count pages from 0");
    }
    if (!file.holds(directory, static_cast<uint64_t>(form.count()))) return cut_off();
    const uint64_t entries = file.number(directory, form.count());
    const uint64_t room = (bytes.size() - directory - static_cast<uint64_t>(form.count())) / form.entry();
    if (entries > room || entries > UINT16_MAX) return cut_off();
    if (number == page) return read_directory(file, form, directory, entries);
    const uint64_t next = directory + static_cast<uint64_t>(form.count()) + entries * form.entry();
    if (!file.holds(next, static_cast<uint64_t>(form.offset()))) return cut_off();
    directory = file.number(next, form.offset());
  }
}

Result<ImageHeader> read_tiff_header(Bytes bytes, int64_t page) {
  GALATEA_ASSIGN(const TiffLayout tiff, read_tiff_layout(bytes, page));
  ImageHeader header;
  header.height = tiff.height;
  header.width = tiff.width;
  header.channels = tiff.channels();
  header.orientation = tiff.orientation;
  header.bits = tiff.row_bits();
  header.white = tiff.white();
  return header;
}

}  // namespace galatea::native
