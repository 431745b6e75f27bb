// Drawings of waveforms, spectrograms and frames: what lies where.
#include "tools/drawings.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include <gtest/gtest.h>

namespace galatea::tools {
namespace {

/// A dense tensor over numbers that stay where they are.
template <typename T>
runtime::Tensor over(std::vector<T>& numbers, DType dtype, std::vector<int64_t> extents) {
  runtime::Tensor tensor;
  tensor.dtype = dtype;
  tensor.ndim = static_cast<int>(extents.size());
  int64_t stride = 1;
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    tensor.extents[d] = extents[static_cast<size_t>(d)];
    tensor.strides[d] = stride;
    stride *= tensor.extents[d];
  }
  tensor.data = reinterpret_cast<uint8_t*>(numbers.data());
  return tensor;
}

TEST(Drawings, AWaveformGoesFromItsLeastToItsGreatest) {
  std::vector<float> sine(2080);
  for (size_t n = 0; n < sine.size(); ++n)
    sine[n] = static_cast<float>(std::sin(2 * std::numbers::pi * static_cast<double>(n) / 2080));
  const auto drawn = draw_waveform(over(sine, DType::kF32, {2080}), Layout());
  ASSERT_TRUE(drawn);
  const Pixels& p = drawn->picture;
  const auto is_ink = [&](int x, int y) { return p.bytes[static_cast<size_t>(y * p.width + x)] < 100; };
  EXPECT_TRUE(is_ink(p.width / 4, 0)) << "a quarter of a turn is the top";
  EXPECT_TRUE(is_ink(3 * p.width / 4, p.height - 1));
  EXPECT_TRUE(is_ink(0, p.height / 2));
  EXPECT_FALSE(is_ink(p.width / 4, p.height - 1));
  EXPECT_EQ(drawn->range, "-1 to 1");
}

TEST(Drawings, ASpectrogramHasLowFrequenciesBelow) {
  for (const char* layout : {"ft", "tf"}) {
    std::vector<float> numbers(4 * 6, 0.0F);
    const bool is_ft = layout[0] == 'f';
    numbers[is_ft ? 1 * 6 + 5 : 5 * 4 + 1] = 7;  // f 1, t 5
    const auto drawn = draw_spectrogram(
        over(numbers, DType::kF32, is_ft ? std::vector<int64_t>{4, 6} : std::vector<int64_t>{6, 4}),
        Layout(layout));
    ASSERT_TRUE(drawn);
    EXPECT_EQ(drawn->picture.width, 6);
    for (int n = 0; n < 24; ++n)
      EXPECT_EQ(drawn->picture.bytes[static_cast<size_t>(n)], n == 2 * 6 + 5 ? 255 : 0) << layout << n;
    EXPECT_EQ(drawn->range, "0 to 7");
  }
}

TEST(Drawings, FramesAreFirstAndLastAndSomeBetween) {
  std::vector<uint8_t> film(11 * 2 * 2 * 3);
  for (size_t n = 0; n < film.size(); ++n) film[n] = static_cast<uint8_t>(20 * (n / 12));
  const auto drawn = draw_frames(over(film, DType::kU8, {11, 2, 2, 3}), Layout("FHWC"));
  ASSERT_TRUE(drawn);
  const Pixels& p = drawn->picture;
  EXPECT_EQ(p.width, 3 * 68 + 4);
  EXPECT_EQ(p.height, 2 * 68 + 2);
  for (int k = 0; k < 6; ++k) {
    const int x = k % 3 * 70 + 30, y = k / 3 * 70 + 30;
    EXPECT_EQ(p.bytes[static_cast<size_t>((y * p.width + x) * 3)], 20 * 2 * k) << k;
  }
  EXPECT_EQ(p.bytes[static_cast<size_t>((30 * p.width + 68) * 3)], 255) << "between them";
  EXPECT_EQ(drawn->range, "6 of 11 frames");
}

TEST(Drawings, OtherTensorsAreNotDrawn) {
  std::vector<float> numbers(600, 1.0F);
  EXPECT_FALSE(drawing_of(over(numbers, DType::kF32, {10}), Layout())) << "few are read as numbers";
  EXPECT_FALSE(drawing_of(over(numbers, DType::kF32, {20, 30}), Layout()));
  EXPECT_FALSE(drawing_of(over(numbers, DType::kF32, {2, 300}), Layout("HW")));
  std::vector<uint8_t> encoded(600);
  EXPECT_FALSE(drawing_of(over(encoded, DType::kU8, {600}), Layout()));
  std::vector<float> nothing(300, NAN);
  EXPECT_EQ(drawing_of(over(nothing, DType::kF32, {300}), Layout())->range, "no numbers");
}

}  // namespace
}  // namespace galatea::tools
