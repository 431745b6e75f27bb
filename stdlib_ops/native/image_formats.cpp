// The table of formats: what recognises each by its content, and what reads it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runtime/memory_gate.h"
#include "stdlib_ops/native/image_codecs.h"

namespace galatea::native {
namespace {

bool is_jpeg(Bytes bytes) { return starts_with(bytes, "\xFF\xD8\xFF"); }
bool is_png(Bytes bytes) { return starts_with(bytes, "\x89PNG\r\n\x1A\n"); }
bool is_webp(Bytes bytes) { return starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8); }
bool is_bmp(Bytes bytes) { return starts_with(bytes, "BM"); }

constexpr std::array kCodecs = {
    Codec{ImageFormat::kJpeg, "JPEG", "jpg jpeg", is_jpeg, read_jpeg_header, decode_jpeg, jpeg_working_bytes},
    Codec{ImageFormat::kPng, "PNG", "png", is_png, read_png_header, decode_png, png_working_bytes},
    Codec{ImageFormat::kWebp, "WebP", "webp", is_webp, read_webp_header, decode_webp, webp_working_bytes},
    Codec{ImageFormat::kBmp, "BMP", "bmp", is_bmp, read_bmp_header, decode_bmp, bmp_working_bytes},
    Codec{ImageFormat::kTiff, "TIFF", "tif tiff", is_tiff, read_tiff_header, decode_tiff, tiff_working_bytes,
          true},
    Codec{ImageFormat::kJpeg2000, "JPEG 2000", "jp2 j2k", is_jpeg2000, read_jpeg2000_header, decode_jpeg2000,
          jpeg2000_working_bytes},
    Codec{ImageFormat::kPnm, "PNM", "pnm ppm pgm pbm", is_pnm, read_pnm_header, decode_pnm,
          pnm_working_bytes},
    Codec{ImageFormat::kGif, "GIF", "gif", is_gif, read_gif_header, decode_gif, gif_working_bytes},
    Codec{ImageFormat::kAvif, "AVIF", "avif", is_avif, read_heif_header, decode_heif, heif_working_bytes},
    Codec{ImageFormat::kHeif, "HEIF", "heic heif", is_heif, read_heif_header, decode_heif,
          heif_working_bytes},
};

}  // namespace

const Codec* codec_of(Bytes bytes) {
  for (const Codec& codec : kCodecs)
    if (codec.recognises(bytes)) return &codec;
  return nullptr;
}

ImageFormat detect_format(Bytes bytes) {
  const Codec* codec = codec_of(bytes);
  return codec ? codec->format : ImageFormat::kUnknown;
}

std::string_view format_name(ImageFormat format) {
  for (const Codec& codec : kCodecs)
    if (codec.format == format) return codec.name;
  return "unknown";
}

std::string_view format_extension(ImageFormat format) {
  for (const Codec& codec : kCodecs)
    if (codec.format == format) return codec.extensions.substr(0, codec.extensions.find(' '));
  return "bin";
}

bool is_image_extension(std::string_view extension) {
  return std::ranges::any_of(kCodecs, [&](const Codec& codec) {
    for (std::string_view left = codec.extensions; !left.empty();) {
      const std::string_view one = left.substr(0, left.find(' '));
      if (one == extension) return true;
      left.remove_prefix(std::min(one.size() + 1, left.size()));
    }
    return false;
  });
}

std::string known_formats() {
  std::string out;
  for (const Codec& codec : kCodecs) out += fmt::format("{}{}", out.empty() ? "" : ", ", codec.name);
  return out;
}

std::unexpected<Error> image_error(std::string message, std::string help) {
  return make_error(
      ErrorKind::kUser, "G0810", std::move(message),
      help.empty()
          ? "check or remove the file; on_error=\"skip\" or \"replace\" lets the run go on without it"
          : std::move(help));
}

Result<ImageHeader> read_header(Bytes bytes, int64_t page) {
  const Codec* codec = codec_of(bytes);
  if (!codec) {
    if (bytes.empty()) return image_error("the file is empty");
    return image_error(fmt::format("the data is not an image of a known format ({})", known_formats()),
                       "remove the file, or keep it out with file_filters=; on_error=\"skip\" lets the run "
                       "go on without it");
  }
  if (page < 0) return image_error(fmt::format("there is no page {}", page), "count pages from 0");
  if (page > 0 && !codec->has_pages)
    return image_error(fmt::format("there is no page {}: a {} holds one picture", page, codec->name),
                       "leave page= out, or give it per sample");
  Result<ImageHeader> header = codec->read_header(bytes, page);
  if (!header) return header;
  header->format = codec->format;
  if (header->width <= 0 || header->height <= 0 || header->width > kMaxPixels ||
      header->height > kMaxPixels || header->width * header->height > kMaxPixels) {
    return image_error(
        fmt::format("the header states {} x {} pixels, which is {}", header->width, header->height,
                    header->width <= 0 || header->height <= 0 ? "empty" : "beyond the limit of 2^28 pixels"));
  }
  if (header->width * header->height > 4 * kMaxPixels / header->channels)
    return image_error(
        fmt::format("the header states {} x {} pixels of {} channels, which is beyond the limit of "
                    "2^30 samples",
                    header->width, header->height, header->channels));
  return header;
}

Status decode_window(Bytes bytes, const ImageHeader& header, const Window& window,
                     const DecodeOptions& options, Scratch& scratch, uint8_t* output) {
  const Codec* codec = codec_of(bytes);
  if (!codec || codec->format != header.format)
    return image_error("the data is not an image of a known format");
  int orientation = options.adjust_orientation ? header.orientation : 1;
  GALATEA_CHECK(options.eighths >= least_eighths(header, orientation), "this image comes no smaller");
  Window stored = to_stored(window, header, orientation);
  const int64_t height = (header.height * options.eighths + 7) / 8;
  const int64_t width = (header.width * options.eighths + 7) / 8;
  if (stored.y0 < 0 || stored.x0 < 0 || stored.y1 > height || stored.x1 > width || stored.height() < 0 ||
      stored.width() < 0)
    return image_error(fmt::format("the window [{}, {}) x [{}, {}) is not inside the image", window.y0,
                                   window.y1, window.x0, window.x1));
  if (stored.height() == 0 || stored.width() == 0) return {};
  return codec->decode({bytes, header, stored, options, orientation, scratch, output});
}

int64_t decode_working_bytes(Bytes bytes, int64_t page) {
  const auto header = read_header(bytes, page);
  if (!header) return 0;  // decoding will fail
  return runtime::claimed_bytes(codec_of(bytes)->working_bytes(bytes, *header, page) + kAroundDecoder);
}

}  // namespace galatea::native
