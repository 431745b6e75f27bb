// JPEG 2000: lossless files against the very pixels that were written, windows against crops of them.
#include <algorithm>
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

/// Waves so long that a low pass leaves them as they are, but for what is rounded.
int wave(double y, double x, int channel) {
  return static_cast<int>(std::lround(128 + 50 * std::sin(x / 15 + channel) + 50 * std::cos(y / 13)));
}

/// A low pass has its pixels where every n-th of the picture lies: the first with the first.
TEST(Jpeg2000, AtAScaleItsPixelsAreThoseOfEveryNthPlace) {
  Picture picture(90, 131, 3);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < 3; ++c) picture.at(y, x, c) = wave(y, x, c);
  for (const Jpeg2000Settings& settings : {Jpeg2000Settings{.rate = 1.5},
                                           {.has_boxes = false, .tile = 64, .rate = 1.5},
                                           {.rate = 1.5, .x0 = 16, .y0 = 8}}) {
    const File file = encode_jpeg2000(picture, settings);
    ASSERT_EQ(read_header(file)->least_eighths, 1);
    for (const int eighths : {1, 2, 4}) {
      SCOPED_TRACE(fmt::format("{}/8, tiles of {}, begins at {}", eighths, settings.tile, settings.x0));
      const int step = 8 / eighths, height = (90 + step - 1) / step, width = (131 + step - 1) / step;
      const DecodeOptions options{.eighths = eighths};
      const auto small = decode(file, options, Window{0, 0, height, width});
      ASSERT_TRUE(small) << small.error().message();
      double at_places = 0, amid = 0;  // how far it is from the picture there, and in the midst of n by n
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < 3; ++c) {
            const double half = (step - 1) / 2.0;
            at_places += std::abs(small->at(y, x, c) - wave(y * step, x * step, c));
            amid += std::abs(small->at(y, x, c) - wave(y * step + half, x * step + half, c));
          }
      EXPECT_LT(at_places, amid / 2);
      const Window window{height / 3, width / 4, height, width / 2};
      const auto part = decode(file, options, window);
      ASSERT_TRUE(part) << part.error().message();
      EXPECT_EQ(difference(*part, crop(*small, height / 3, width / 4, height, width / 2)), "");
    }
  }
}

TEST(Jpeg2000, IsScaledWhereAllOfItHasTheSameLowPasses) {
  const Picture picture = make_picture(40, 50, 3, 76);
  const auto least = [](const File& file) { return read_header(file)->least_eighths; };
  EXPECT_EQ(least(encode_jpeg2000(picture, {.rate = 2})), 1);
  EXPECT_EQ(least(encode_jpeg2000(picture)), 4) << "the reversible transform";
  EXPECT_EQ(least(encode_jpeg2000(picture, {.rate = 2, .x0 = 4})), 8) << "begins between two of its places";
  EXPECT_EQ(least(encode_jpeg2000(picture, {.ycc = true, .half_chroma = true})), 8);
  EXPECT_EQ(least(encode_jpeg2000(make_picture(5, 5, 1, 77), {.rate = 2})), 8) << "it was not halved";

  // A tile, and a channel, with a style of their own.
  File tiles = encode_jpeg2000(picture, {.has_boxes = false, .tile = 32, .rate = 2});
  const auto marker = [&](uint8_t code) {
    const uint8_t bytes[] = {0xFF, code};
    return std::search(tiles.begin(), tiles.end(), std::begin(bytes), std::end(bytes));
  };
  const File style(marker(0x52), marker(0x52) + 14);
  File channel = tiles;
  channel[static_cast<size_t>(marker(0x52) - tiles.begin()) + 1] = 0x53;
  EXPECT_EQ(least(channel), 8);
  const auto whole = decode(tiles);
  const auto tile = marker(0x90);
  tile[9] = static_cast<uint8_t>(tile[9] + style.size());  // the length of its first part
  ASSERT_GE(tile[9], style.size()) << "no carry";
  tiles.insert(tile + 12, style.begin(), style.end());
  EXPECT_EQ(least(tiles), 8);
  const auto again = decode(tiles);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(difference(*again, *whole), "");
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
