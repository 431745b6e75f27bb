// Encoded files, made on the spot by the formats' own libraries (BMP: by hand), and their own full decodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/native/picture.h"

namespace galatea::native {

using File = std::vector<uint8_t>;

struct JpegSettings {
  int h = 1, v = 1;  ///< luma sampling factors; chroma has 1 x 1
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;  ///< iMCU rows between restart markers
  int quality = 85;
  bool standard_tables = false;  ///< Huffman tables of the standard, not made for the picture
  int orientation = 0;           ///< 0: no EXIF
  bool big_endian_exif = false;
  bool rgb_space = false;  ///< stores R, G, B instead of Y, Cb, Cr
  bool cmyk = false;       ///< 4 channels, as Adobe writes them
};
/// 1, 3 or (cmyk) 4 channels.
File encode_jpeg(const Picture& picture, const JpegSettings& settings);
/// Everything, by the library's plain calls: 1 channel as stored grey (`gray`), else RGB; at so
/// many eighths of its size.
Picture decode_whole_jpeg(const File& file, bool gray = false, int eighths = 8);

struct PngSettings {
  int depth = 8;  ///< bits a sample; palettes: 1, 2, 4, 8
  bool interlaced = false;
  bool palette = false;           ///< values are indices into `colors`
  std::vector<int> colors;        ///< r, g, b, …
  std::vector<int> transparency;  ///< palette: an alpha per entry; grey: one value; RGB: three
  int orientation = 0;            ///< eXIf
};
File encode_png(const Picture& picture, const PngSettings& settings = {});

/// 3 or 4 channels; quality below 0: lossless.
File encode_webp(const Picture& picture, float quality);
Picture decode_whole_webp(const File& file, int channels);
/// The extended container with an EXIF chunk around a simple file.
File with_webp_exif(const File& simple, const Picture& picture, int orientation);

struct BmpSettings {
  int bits = 24;            ///< 1, 4, 8: values are indices into `colors`
  std::vector<int> colors;  ///< r, g, b, …
  bool top_down = false;
  bool os2 = false;    ///< the 12-byte header
  bool masks = false;  ///< 32 bits with masks R G B A from the low byte up
};
File encode_bmp(const Picture& picture, const BmpSettings& settings);

/// A TIFF block with the orientation tag.
File exif_block(int orientation, bool big_endian);

}  // namespace galatea::native
