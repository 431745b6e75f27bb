// TIFF files, written by libtiff into memory, and text and bytes of PNM by hand.
#pragma once

#include "tests/native/encoders.h"

namespace galatea::native {

struct TiffSettings {
  int bits = 0;                         ///< a sample; 0: the picture's
  bool is_float = false;                ///< samples are values / 65535
  int tile_height = 0, tile_width = 0;  ///< 0: strips
  int strip_rows = 0;                   ///< 0: one strip
  bool planar = false;
  int compression = 1;  ///< libtiff's number
  bool predictor = false;
  int photometric = -1;     ///< -1: grey or RGB, as the channels say
  std::vector<int> colors;  ///< a palette of 16-bit r, g, b, …
  int orientation = 0;
  bool big_endian = false, big_file = false;
};
/// One page a picture.
File encode_tiff(const std::vector<Picture>& pages, const TiffSettings& settings = {});
inline File encode_tiff(const Picture& picture, const TiffSettings& settings = {}) {
  return encode_tiff(std::vector{picture}, settings);
}
/// Whether the libtiff of this machine has a method.
bool tiff_compresses(int compression);

/// `kind` 1 to 6; values of bits are 0 and 255, the others' largest is `most`.
File encode_pnm(const Picture& picture, int kind, int most = 255, const char* comment = "");

}  // namespace galatea::native
