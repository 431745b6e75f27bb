// From the planes of a picture to pixels.
//
// Chroma that has half the columns or rows is interpolated between its centres (1/4 and 3/4), exactly; of films of
// odd extents it is stretched (stretch.h). Then, of
// samples with 8 + e bits, with k = 2^13 and each coefficient rounded to 13 bits behind the point,
//   R = (cy (Y - black) + cr Cr) / k 2^e,  G = (cy (Y - black) - gb Cb - gr Cr) / k 2^e,  B = (cy (Y - black) + cb Cb) / k 2^e,
// rounded half up and clamped to 0 … 255: what DALI 2.4's frames are, bit for bit. The coefficients are those of
// the matrix (ITU-R BT.601, BT.709, BT.2020) with Y from 16 to 235 and Cb, Cr from 16 to 240, or full range.
#pragma once

#include <cstdint>

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

/// What a pixel becomes; the numbers are DALIImageType's.
enum class Pixels : uint8_t { kRgb = 0, kBgr = 1, kGrey = 2, kYcbcr = 3 };
inline int64_t channels_of(Pixels pixels) { return pixels == Pixels::kGrey ? 1 : 3; }

struct Colours {
  Pixels pixels = Pixels::kRgb;
  bool is_tagged = false;  ///< by the matrix that the film names; else always BT.601
};

/// Of a picture.
struct Box {
  int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;
};

/// The loops over a line, which all give the same bytes: for the vectors of this machine, or for any machine.
enum class Loops : uint8_t { kOfThisMachine, kOfAny };

/// Writes the pixels of the box, row by row without gaps. A film that is tagged with a matrix that we do not know
/// is an error that names the film.
Status write_pixels(const Picture& picture, const Colours& colours, const Box& box, const std::string& name,
                    uint8_t* to, Loops loops = Loops::kOfThisMachine);

}  // namespace galatea::native::video
