// JPEG 2000: lossless files against the very pixels that were written, windows against crops of them.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/native/decoding.h"
#include "tests/native/jpeg2000_encoder.h"

namespace galatea::native {
namespace {

void expect_j2k(const File& file, const Picture& expected, DecodeOptions options, const std::string& what) {
  SCOPED_TRACE(what);
  auto decoded = decode(file, options);
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_EQ(difference(*decoded, expected), "");
  const int h = expected.height, w = expected.width;
  for (const Window& window : {Window{h / 3, w / 4, h / 3 + 1, w / 4 + 1},
                               {h / 2, 0, h, w},
                               {0, w / 2, h, w},
                               {h / 3, w / 3, h / 2 + 1, w / 2 + 1}}) {
    auto part = decode(file, options, window);
    ASSERT_TRUE(part) << part.error().message();
    ASSERT_EQ(difference(*part, crop(expected, static_cast<int>(window.y0), static_cast<int>(window.x0),
                                     static_cast<int>(window.y1), static_cast<int>(window.x1))),
              "");
  }
}

constexpr DecodeOptions kAll{.type = ImageType::kAny},
    kAllWide{.type = ImageType::kAny, .dtype = DType::kU16};

TEST(Jpeg2000, LosslessIsExact) {
  for (int channels : {1, 2, 3, 4, 5})
    for (int bits : {8, 16})
      for (const Jpeg2000Settings& settings : {Jpeg2000Settings{},
                                               {.has_boxes = false},
                                               {.tile = 16},
                                               {.is_signed = true},
                                               {.tile = 20, .x0 = 7, .y0 = 11}}) {
        if (channels == 5 && settings.has_boxes) continue;
        const Picture picture = make_picture(37, 53, channels, 70, bits);
        expect_j2k(encode_jpeg2000(picture, settings), picture, bits == 16 ? kAllWide : kAll,
                   fmt::format("{} channels of {} bits, tiles of {}, begins at {}", channels, bits,
                               settings.tile, settings.x0));
      }
  const Picture dot = make_picture(1, 1, 3, 71);
  expect_j2k(encode_jpeg2000(dot), dot, kAll, "one pixel");
}

TEST(Jpeg2000, WhiteIsWhiteOfAnyWidth) {
  for (int bits : {1, 5, 12}) {
    const int most = (1 << bits) - 1;
    Picture picture = make_picture(21, 31, 1, 72, 16);
    for (int& value : picture.values) value &= most;
    Picture expected = picture;
    for (int& value : expected.values) value = static_cast<int>(std::lround(value * 65535.0 / most));
    expect_j2k(encode_jpeg2000(picture, {.bits = bits}), expected, kAllWide, fmt::format("{} bits", bits));
  }
}

/// Lossy: near the picture; windows of an irreversible transform are crops of the whole.
TEST(Jpeg2000, LossyIsNear) {
  const Picture picture = make_picture(64, 80, 3, 73);
  for (int tile : {0, 32}) {
    const File file = encode_jpeg2000(picture, {.tile = tile, .rate = 3});
    const auto whole = decode(file);
    ASSERT_TRUE(whole) << whole.error().message();
    expect_j2k(file, *whole, {}, "lossy");
    double sum = 0;
    for (size_t i = 0; i < picture.values.size(); ++i) sum += std::abs(picture.values[i] - whole->values[i]);
    EXPECT_LT(sum / static_cast<double>(picture.values.size()), 8);
  }
}

/// sYCC by its formula (IEC 61966-2-1, amendment 1), with chroma at full and at half resolution.
TEST(Jpeg2000, LumaAndChromaBecomeRgb) {
  for (bool half : {false, true}) {
    const Picture ycc = make_picture(20, 30, 3, 74);
    Picture rgb(20, 30, 3);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 30; ++x) {
        const int cy = half ? y / 2 * 2 : y, cx = half ? x / 2 * 2 : x;
        const double luma = ycc.at(y, x, 0), cb = ycc.at(cy, cx, 1) - 128.0, cr = ycc.at(cy, cx, 2) - 128.0;
        const double sums[] = {luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.772 * cb};
        for (int c = 0; c < 3; ++c)
          rgb.at(y, x, c) = static_cast<int>(std::lround(std::clamp(sums[c], 0.0, 255.0)));
      }
    expect_j2k(encode_jpeg2000(ycc, {.ycc = true, .half_chroma = half}), rgb, {},
               fmt::format("half {}", half));
  }
}

TEST(Jpeg2000, SaysWhatItDoesNotRead) {
  File file = encode_jpeg2000(make_picture(5, 9, 1, 75), {.has_boxes = false});
  file[42] = 23;  // Ssiz of the first component: 24 bits
  const auto header = read_header(file);
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().message(), "the JPEG 2000 has 24 bits per sample; at most 16 are supported");
  file[42] = 7;
  file[8] = 0x7F;  // Xsiz
  const auto wide = read_header(file);
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message().find("beyond the limit of 2^28"), std::string::npos)
      << wide.error().message();
}

}  // namespace
}  // namespace galatea::native
