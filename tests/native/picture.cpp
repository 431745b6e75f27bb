#include "tests/native/picture.h"

#include <algorithm>

namespace galatea::native {
namespace {

Picture transpose(const Picture& in) {
  Picture out(in.width, in.height, in.channels, in.bits);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      for (int c = 0; c < in.channels; ++c) out.at(y, x, c) = in.at(x, y, c);
  return out;
}

Picture mirror(const Picture& in, bool left_right, bool top_bottom) {
  Picture out = in;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      for (int c = 0; c < in.channels; ++c)
        out.at(y, x, c) = in.at(top_bottom ? in.height - 1 - y : y, left_right ? in.width - 1 - x : x, c);
  return out;
}

}  // namespace

Picture make_picture(int height, int width, int channels, uint32_t seed, int bits) {
  Random random(seed);
  Picture out(height, width, channels, bits);
  int edge_y = draw(random, height), edge_x = draw(random, width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        int slope = 40 + (c * 60 + 150 * (c % 2 ? y : x) / std::max(1, c % 2 ? height : width));
        int edge = (y > edge_y) != (x > edge_x) ? 60 * (c + 1) / channels : 0;
        int value = std::clamp(slope + edge + draw(random, 30) - 15, 0, 255);
        out.at(y, x, c) = bits == 16 ? value * 256 + draw(random, 256) : value;
      }
  return out;
}

Picture crop(const Picture& in, int y0, int x0, int y1, int x1) {
  Picture out(y1 - y0, x1 - x0, in.channels, in.bits);
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x)
      for (int c = 0; c < in.channels; ++c) out.at(y - y0, x - x0, c) = in.at(y, x, c);
  return out;
}

Picture turn(const Picture& in, int orientation) {
  switch (orientation) {
    case 2:
      return mirror(in, true, false);
    case 3:
      return mirror(in, true, true);
    case 4:
      return mirror(in, false, true);
    case 5:
      return transpose(in);
    case 6:
      return mirror(transpose(in), true, false);
    case 7:
      return mirror(transpose(in), true, true);
    case 8:
      return mirror(transpose(in), false, true);
    default:
      return in;
  }
}

Picture with_channels(const Picture& in, int channels) {
  Picture out(in.height, in.width, channels, in.bits);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      for (int c = 0; c < channels; ++c) out.at(y, x, c) = in.at(y, x, in.channels <= 2 ? 0 : c);
  return out;
}

}  // namespace galatea::native
