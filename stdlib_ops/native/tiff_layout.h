// The directory of a TIFF, read by hand: what decoding and peeking have to know before libtiff sees the file.
//
// Comes in: a file and the number of a picture. Goes out: its extents, how its samples are stored, and what a
// decoder makes of them. Tags, types and values are those of TIFF 6.0 and BigTIFF.
#pragma once

#include "stdlib_ops/native/image.h"

namespace galatea::native {

/// What the samples of a TIFF mean: values of PhotometricInterpretation.
enum class TiffColor : uint16_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kPalette = 3,
  kInks = 5,
  kYCbCr = 6,
  kLab = 8
};

struct TiffLayout {
  int64_t directory = 0;  ///< where it stands in the file
  int64_t height = 0, width = 0;
  int bits = 1;
  int samples = 1;
  TiffColor color = TiffColor::kBlackIsZero;
  int compression = 1;
  bool is_planar = false;
  bool is_float = false;
  int orientation = 1;
  int64_t tile_height = 0, tile_width = 0;  ///< 0: strips
  int64_t strip_rows = 0;                   ///< of a strip; at most `height`

  bool has_tiles() const { return tile_width > 0; }
  /// Libtiff makes bytes of RGB of the whole picture: colours that have no rows of their own.
  bool comes_as_rgba() const;
  /// Of the rows that a sink gets: unpacked, palettes expanded, inks as RGB.
  int row_bits() const;
  double white() const;
  int channels() const;
};

Result<TiffLayout> read_tiff_layout(Bytes bytes, int64_t page);

}  // namespace galatea::native
