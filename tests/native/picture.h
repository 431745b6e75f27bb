// Pictures as the tests see them: plain numbers, and the few operations that say what a decoder has to do.
//
// Comes in: a seed. Goes out: pictures, crops, turned pictures; nothing here uses the code under test.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace galatea::native {

struct Picture {
  int height = 0, width = 0, channels = 0;
  int bits = 8;
  std::vector<int> values;  ///< HWC

  Picture() = default;
  Picture(int h, int w, int c, int b = 8)
      : height(h),
        width(w),
        channels(c),
        bits(b),
        values(static_cast<size_t>(h) * static_cast<size_t>(w) * static_cast<size_t>(c)) {}
  size_t index(int y, int x, int c) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
               static_cast<size_t>(channels) +
           static_cast<size_t>(c);
  }
  int& at(int y, int x, int c) { return values[index(y, x, c)]; }
  int at(int y, int x, int c) const { return values[index(y, x, c)]; }
  friend bool operator==(const Picture&, const Picture&) = default;
};

using Random = std::mt19937;
inline int draw(Random& random, int below) {
  return static_cast<int>(random() % static_cast<uint32_t>(below));
}

/// Slopes with edges and noise: every channel differs, and so does every neighbourhood.
Picture make_picture(int height, int width, int channels, uint32_t seed, int bits = 8);
Picture crop(const Picture& picture, int y0, int x0, int y1, int x1);
/// As an EXIF orientation asks for: built from transposition and mirroring.
Picture turn(const Picture& picture, int orientation);
/// Keeps the first `channels` channels, or repeats a single one.
Picture with_channels(const Picture& picture, int channels);

}  // namespace galatea::native
