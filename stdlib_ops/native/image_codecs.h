// The functions of each format, which the table of formats (image_formats.cpp) lists.
//
// Headers are read without decoding, and by hand where the format lets it: a peek costs a microsecond.
#pragma once

#include <cstring>

#include "stdlib_ops/native/image.h"

namespace galatea::native {

inline constexpr int64_t kAroundDecoder = 256 << 10;  ///< objects, tables, windows of inflate

inline bool starts_with(Bytes bytes, std::string_view magic, size_t at = 0) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

Result<ImageHeader> read_jpeg_header(Bytes bytes, int64_t page);
Status decode_jpeg(const DecodeJob& job);
int64_t jpeg_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

Result<ImageHeader> read_png_header(Bytes bytes, int64_t page);
Status decode_png(const DecodeJob& job);
/// A row as it is decoded: four channels at most.
inline int64_t most_png_row(int64_t width, int bits) { return width * 4 * (bits / 8); }
int64_t png_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

Result<ImageHeader> read_webp_header(Bytes bytes, int64_t page);
Status decode_webp(const DecodeJob& job);
int64_t webp_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

Result<ImageHeader> read_bmp_header(Bytes bytes, int64_t page);
Status decode_bmp(const DecodeJob& job);
int64_t bmp_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

bool is_tiff(Bytes bytes);
Result<ImageHeader> read_tiff_header(Bytes bytes, int64_t page);
Status decode_tiff(const DecodeJob& job);
int64_t tiff_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

bool is_jpeg2000(Bytes bytes);
Result<ImageHeader> read_jpeg2000_header(Bytes bytes, int64_t page);
Status decode_jpeg2000(const DecodeJob& job);
int64_t jpeg2000_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

bool is_pnm(Bytes bytes);
Result<ImageHeader> read_pnm_header(Bytes bytes, int64_t page);
Status decode_pnm(const DecodeJob& job);
int64_t pnm_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

bool is_gif(Bytes bytes);
Result<ImageHeader> read_gif_header(Bytes bytes, int64_t page);
Status decode_gif(const DecodeJob& job);
int64_t gif_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

bool is_avif(Bytes bytes);
bool is_heif(Bytes bytes);
Result<ImageHeader> read_heif_header(Bytes bytes, int64_t page);
Status decode_heif(const DecodeJob& job);
int64_t heif_working_bytes(Bytes bytes, const ImageHeader& header, int64_t page);

}  // namespace galatea::native
