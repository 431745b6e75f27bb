// Chroma of films with an odd number of columns or rows, which is stretched over them as DALI stretches it.
//
// Pixel x of n stands at (x + 0.5) m / n - 0.5 among m samples. Across, weights have 14 bits and what comes out
// 15; down, weights have 12 bits and what comes out is a sample of 8 bits with kStretchPlaces behind the point.
// Both times what is behind the last bit is cut off.
#pragma once

#include <cstdint>
#include <vector>

#include "stdlib_ops/native/video/film.h"

namespace galatea::native::video {

inline constexpr int kStretchPlaces = 9;

/// A pixel between two samples. The weights add up to a whole.
struct StretchPlace {
  int64_t first = 0, second = 0;
  int32_t first_weight = 0, second_weight = 0;
};
/// `whole` is what weights add up to.
StretchPlace stretch_place(int64_t pixel, int64_t pixels, int64_t samples, int32_t whole);

bool is_stretched(const Picture& picture);

/// The chroma of one picture, row by row.
template <typename Sample>
class StretchedChroma {
 public:
  /// At the columns [x0, x1) of the picture.
  StretchedChroma(const Picture& picture, int64_t x0, int64_t x1);
  /// Cb (plane 1) or Cr (2) of a row of the picture, around 0.
  void row(int plane, int64_t y, int32_t* to);

 private:
  /// A row of samples, at the columns of the picture.
  struct Across {
    int64_t row = -1;
    std::vector<int32_t> values;
  };
  const int32_t* across(int plane, int64_t row);

  const Picture& picture_;
  const int64_t samples_down_;
  std::vector<StretchPlace> columns_;
  Across kept_[2][2];  ///< of each plane, the latest row with an even number and with an odd one
};

}  // namespace galatea::native::video
