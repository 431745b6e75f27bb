#include "stdlib_ops/native/video/stretch.h"

#include <algorithm>

namespace galatea::native::video {
namespace {

constexpr int32_t kAcross = 1 << 14, kDown = 1 << 12;
constexpr int kAcrossBits = 15;
/// Places that 15 bits and a weight of 12 have more than a sample of 8 bits with kStretchPlaces.
constexpr int kDownPlaces = 12 + kAcrossBits - 8 - kStretchPlaces;

/// Of the chroma, where the picture has so many pixels.
int64_t num_samples(int64_t pixels, int shift) { return (pixels + (int64_t{1} << shift) - 1) >> shift; }

}  // namespace

StretchPlace stretch_place(int64_t pixel, int64_t pixels, int64_t samples, int32_t whole) {
  constexpr int kStepBits = 16, kPlaceBits = kStepBits + 1;
  constexpr int64_t kOne = int64_t{1} << kPlaceBits;
  // A first sample that weighs less than this is left out.
  constexpr double kLeast = 0.002;
  const int64_t step = ((samples << kStepBits) + pixels / 2) / pixels;
  const int64_t at = (2 * pixel + 1) * step - (int64_t{1} << kStepBits);
  const int64_t first = at >> kPlaceBits, share = kOne - (at - first * kOne);
  StretchPlace place{std::clamp<int64_t>(first, 0, samples - 1),
                     std::clamp<int64_t>(first + 1, 0, samples - 1)};
  if (static_cast<double>(share) > kLeast * static_cast<double>(kOne))
    place.first_weight = static_cast<int32_t>((share * whole + kOne / 2) >> kPlaceBits);
  place.second_weight = whole - place.first_weight;
  return place;
}

bool is_stretched(const Picture& picture) {
  return picture.kind == Picture::Kind::kYuv && ((picture.shift_x > 0 && picture.width % 2 != 0) ||
                                                 (picture.shift_y > 0 && picture.height % 2 != 0));
}

template <typename Sample>
StretchedChroma<Sample>::StretchedChroma(const Picture& picture, int64_t x0, int64_t x1)
    : picture_(picture), samples_down_(num_samples(picture.height, picture.shift_y)) {
  const int64_t samples = num_samples(picture.width, picture.shift_x);
  for (int64_t x = x0; x < x1; ++x) columns_.push_back(stretch_place(x, picture.width, samples, kAcross));
}

template <typename Sample>
const int32_t* StretchedChroma<Sample>::across(int plane, int64_t row) {
  Across& out = kept_[plane - 1][row % 2];
  if (out.row == row) return out.values.data();
  out.row = row;
  out.values.resize(columns_.size());
  const auto* const from =
      reinterpret_cast<const Sample*>(picture_.planes[plane] + row * picture_.strides[plane]);
  const int places = 14 + picture_.bits - kAcrossBits;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const StretchPlace& is = columns_[k];
    out.values[k] = (from[is.first] * is.first_weight + from[is.second] * is.second_weight) >> places;
  }
  return out.values.data();
}

template <typename Sample>
void StretchedChroma<Sample>::row(int plane, int64_t y, int32_t* to) {
  const StretchPlace is = stretch_place(y, picture_.height, samples_down_, kDown);
  const int32_t *const first = across(plane, is.first), *const second = across(plane, is.second);
  constexpr int32_t kMiddle = 128 << kStretchPlaces;
  for (size_t k = 0; k < columns_.size(); ++k)
    to[k] = ((first[k] * is.first_weight + second[k] * is.second_weight) >> kDownPlaces) - kMiddle;
}

template class StretchedChroma<uint8_t>;
template class StretchedChroma<uint16_t>;

}  // namespace galatea::native::video
