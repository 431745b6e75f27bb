// FITS: images of astronomy (FITS standard, version 4.0; section 10 for images that are compressed tile by tile).
//
// Comes in: a file, the number of one of its HDUs. Goes out: its element type and shape; its elements, in C order,
// of this machine's byte order, scaled by BSCALE and BZERO. Reading is ours: the format is one of fixed records,
// and the usual library opens commands, URLs and temporary files by what a name looks like.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "stdlib_ops/native/bytes.h"

namespace galatea::native {

/// A column of a table of tiles.
struct FitsColumn {
  int64_t offset = -1;  ///< in a row; -1: there is none
  char type = 0;        ///< letter of TFORM; of an array in the heap, of its elements
  bool wide = false;    ///< an array of the heap is described by 64-bit numbers ("Q")
  bool is_there() const { return offset >= 0; }
};

/// How an image is cut into tiles and compressed.
struct FitsTiles {
  enum class Compression : uint8_t { kNone, kRice, kPlio, kGzip, kShuffledGzip };
  enum class Dither : uint8_t { kNone, kSubtractive, kSubtractiveWithZeros };
  Compression compression = Compression::kNone;
  std::vector<int64_t> extents;  ///< of a tile, in C order; those at the end may be smaller
  int64_t rows = 0, row_bytes = 0;
  int64_t heap = 0, heap_bytes = 0;  ///< place in the file
  FitsColumn data, gzip, raw, scale, zero, blank;
  std::optional<double> scale_of_all, zero_of_all;
  std::optional<int64_t> blank_of_all;
  int64_t block = 32, width = 4;  ///< Rice: pixels of a block, bytes of a pixel
  Dither dither = Dither::kNone;
  int64_t seed = 1;
};

struct FitsImage {
  DType stored = DType::kU8;  ///< in the file
  DType dtype = DType::kU8;   ///< of the elements that come out
  std::vector<int64_t> shape;
  double scale = 1, zero = 0;
  std::optional<int64_t> blank;  ///< a number that stands for none: NaN where floats come out
  int64_t offset = 0;            ///< of the data in the file
  std::optional<FitsTiles> tiles;
  std::string where;  ///< "a.fits, HDU 2", for messages
};

/// The image in an HDU; the first has the number 1.
Result<FitsImage> find_fits_image(const ByteSource& file, int64_t hdu);

/// All of the image into `to`, which has room for it.
Status read_fits_image(const ByteSource& file, const FitsImage& image, uint8_t* to);

// ---- between fits.cpp and fits_tiles.cpp

/// `count` elements as they are stored, big-endian, to those that come out.
void convert_fits_elements(const FitsImage& image, const uint8_t* from, int64_t count, uint8_t* to);
Status read_fits_tiles(const ByteSource& file, const FitsImage& image, uint8_t* to);
std::unexpected<Error> bad_fits(const std::string& where, const std::string& why);

}  // namespace galatea::native
