// JPEG 2000 files, written by openjpeg into memory.
#pragma once

#include "tests/native/encoders.h"

namespace galatea::native {

struct Jpeg2000Settings {
  int bits = 0;  ///< a sample; 0: the picture's
  bool is_signed = false;
  bool has_boxes = true;     ///< JP2; else a bare codestream
  int tile = 0;              ///< side of a tile; 0: one tile
  double rate = 0;           ///< 0: lossless
  int x0 = 0, y0 = 0;        ///< where the picture begins on the reference grid
  bool ycc = false;          ///< states luma and chroma
  bool half_chroma = false;  ///< the second and third channel have every second pixel of every second row
};
File encode_jpeg2000(const Picture& picture, const Jpeg2000Settings& settings = {});

}  // namespace galatea::native
