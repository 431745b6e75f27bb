// JPEG against libjpeg's own full decode: whole pictures, and every window equal to the crop of the whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/native/decoding.h"

namespace galatea::native {
namespace {

struct JpegCase {
  std::string name;
  int height, width, channels;
  JpegSettings settings;
};

std::vector<JpegCase> jpeg_cases() {
  std::vector<JpegCase> out;
  struct Sampling {
    const char* name;
    int h, v;
  };
  constexpr Sampling kSamplings[] = {{"444", 1, 1}, {"422", 2, 1}, {"420", 2, 2},
                                     {"440", 1, 2}, {"411", 4, 1}, {"410", 4, 2}};
  constexpr int kSizes[][2] = {{61, 47}, {48, 64}, {1, 1}, {3, 130}, {101, 5}, {97, 131}, {17, 33}};
  for (const Sampling& s : kSamplings)
    for (auto& size : kSizes)
      out.push_back(
          {fmt::format("{} {}x{}", s.name, size[0], size[1]), size[0], size[1], 3, {.h = s.h, .v = s.v}});
  for (auto& size : kSizes)
    out.push_back({fmt::format("grey {}x{}", size[0], size[1]), size[0], size[1], 1, {}});
  for (auto [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
    out.push_back({fmt::format("progressive {}{}", h, v), 90, 75, 3, {.h = h, .v = v, .progressive = true}});
    out.push_back({fmt::format("restarts {}{}", h, v), 90, 75, 3, {.h = h, .v = v, .restart_rows = 1}});
  }
  out.push_back({"arithmetic", 61, 47, 3, {.h = 2, .v = 2, .arithmetic = true}});
  out.push_back({"grey progressive", 61, 47, 1, {.progressive = true}});
  out.push_back({"stored as RGB", 61, 47, 3, {.rgb_space = true}});
  out.push_back({"low quality", 77, 94, 3, {.h = 2, .v = 2, .quality = 5}});
  return out;
}

TEST(Jpeg, WholePicturesEqualLibjpegs) {
  for (const JpegCase& c : jpeg_cases()) {
    File file = encode_jpeg(make_picture(c.height, c.width, c.channels, 1), c.settings);
    auto decoded = decode(file);
    ASSERT_TRUE(decoded) << c.name << ": " << decoded.error().message();
    EXPECT_EQ(difference(*decoded, decode_whole_jpeg(file)), "") << c.name;
  }
}

/// Windows of every kind: random, a single pixel, along each border, whole rows, whole columns.
std::vector<Window> windows(int height, int width, Random& random, int count) {
  std::vector<Window> out;
  for (int i = 0; i < count; ++i) {
    int y0 = draw(random, height), x0 = draw(random, width);
    out.push_back({y0, x0, y0 + 1 + draw(random, height - y0), x0 + 1 + draw(random, width - x0)});
    out.push_back({y0, x0, y0 + 1, x0 + 1});
  }
  int y = draw(random, height), x = draw(random, width);
  out.push_back({0, 0, y + 1, width}), out.push_back({y, 0, height, width});
  out.push_back({0, 0, height, x + 1}), out.push_back({0, x, height, width});
  return out;
}

TEST(Jpeg, EveryWindowIsTheCropOfTheWhole) {
  Random random(2);
  for (const JpegCase& c : jpeg_cases()) {
    File file = encode_jpeg(make_picture(c.height, c.width, c.channels, 3), c.settings);
    Picture full = decode_whole_jpeg(file);
    for (const Window& w : windows(c.height, c.width, random, 60)) {
      auto decoded = decode(file, {}, w);
      ASSERT_TRUE(decoded) << c.name << ": " << decoded.error().message();
      auto expected = crop(full, static_cast<int>(w.y0), static_cast<int>(w.x0), static_cast<int>(w.y1),
                           static_cast<int>(w.x1));
      ASSERT_EQ(difference(*decoded, expected), "")
          << c.name << " [" << w.y0 << ", " << w.y1 << ") x [" << w.x0 << ", " << w.x1 << ")";
    }
  }
}

TEST(Jpeg, EveryScaledWindowIsTheCropOfTheScaledWhole) {
  Random random(8);
  for (const JpegCase& c : jpeg_cases()) {
    File file = encode_jpeg(make_picture(c.height, c.width, c.channels, 9), c.settings);
    for (int eighths : {1, 2, 4}) {
      Picture full = decode_whole_jpeg(file, false, eighths);
      DecodeOptions options{.eighths = eighths};
      for (const Window& w : windows(full.height, full.width, random, 20)) {
        auto decoded = decode(file, options, w);
        ASSERT_TRUE(decoded) << c.name << ": " << decoded.error().message();
        auto expected = crop(full, static_cast<int>(w.y0), static_cast<int>(w.x0), static_cast<int>(w.y1),
                             static_cast<int>(w.x1));
        ASSERT_EQ(difference(*decoded, expected), "") << c.name << " " << eighths << "/8 [" << w.y0 << ", "
                                                      << w.y1 << ") x [" << w.x0 << ", " << w.x1 << ")";
      }
    }
  }
}

TEST(Jpeg, LargeSubsampledWindows) {
  Random random(4);
  for (auto [h, v] : {std::pair{2, 2}, {2, 1}, {1, 2}}) {
    File file = encode_jpeg(make_picture(333, 501, 3, 5), {.h = h, .v = v});
    Picture full = decode_whole_jpeg(file);
    for (const Window& w : windows(333, 501, random, 120)) {
      auto decoded = decode(file, {}, w);
      ASSERT_TRUE(decoded) << decoded.error().message();
      ASSERT_EQ(difference(*decoded, crop(full, static_cast<int>(w.y0), static_cast<int>(w.x0),
                                          static_cast<int>(w.y1), static_cast<int>(w.x1))),
                "")
          << h << v << " [" << w.y0 << ", " << w.y1 << ") x [" << w.x0 << ", " << w.x1 << ")";
    }
  }
}

TEST(Jpeg, OrientationsTurnWholesAndWindows) {
  Random random(6);
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (int h : {1, 2}) {
      JpegSettings settings{
          .h = h, .v = h, .orientation = orientation, .big_endian_exif = orientation % 2 == 0};
      File file = encode_jpeg(make_picture(45, 83, 3, 7), settings);
      Picture stored = decode_whole_jpeg(file);
      Picture upright = turn(stored, orientation);
      auto decoded = decode(file);
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(difference(*decoded, upright), "") << orientation;
      for (const Window& w : windows(upright.height, upright.width, random, 20)) {
        auto part = decode(file, {}, w);
        ASSERT_TRUE(part) << part.error().message();
        ASSERT_EQ(difference(*part, crop(upright, static_cast<int>(w.y0), static_cast<int>(w.x0),
                                         static_cast<int>(w.y1), static_cast<int>(w.x1))),
                  "")
            << orientation;
      }
      DecodeOptions as_stored{.adjust_orientation = false};
      auto kept = decode(file, as_stored);
      ASSERT_TRUE(kept);
      EXPECT_EQ(difference(*kept, stored), "") << orientation;
    }
}

TEST(Jpeg, InvalidOrientationsCountAsUpright) {
  for (int orientation : {9, 255, 65535}) {
    File file = encode_jpeg(make_picture(20, 30, 3, 8), {.orientation = orientation});
    auto decoded = decode(file);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(difference(*decoded, decode_whole_jpeg(file)), "") << orientation;
  }
}

TEST(Jpeg, GreyIsTheStoredLuma) {
  for (int h : {1, 2}) {
    File file = encode_jpeg(make_picture(50, 70, 3, 9), {.h = h, .v = h});
    auto decoded = decode(file, {.type = ImageType::kGray});
    ASSERT_TRUE(decoded);
    EXPECT_EQ(difference(*decoded, decode_whole_jpeg(file, true)), "");
  }
}

TEST(Jpeg, CmykInksAreInverted) {
  // Adobe's files hold 255 - ink; the encoder stores what it gets and writes the marker.
  Picture inks = make_picture(40, 40, 4, 10);
  File file = encode_jpeg(inks, {.quality = 100, .cmyk = true});
  Picture stored = decode_whole_jpeg(file);
  ASSERT_EQ(stored.channels, 4);
  Picture expected(40, 40, 3);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x)
      for (int c = 0; c < 3; ++c)
        expected.at(y, x, c) = (2 * stored.at(y, x, c) * stored.at(y, x, 3) + 255) / 510;
  auto decoded = decode(file);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(difference(*decoded, expected), "");
}

TEST(Jpeg, TheFastTransformStaysClose) {
  File file = encode_jpeg(make_picture(64, 64, 3, 11), {.h = 2, .v = 2, .quality = 95});
  Picture exact = decode_whole_jpeg(file);
  auto fast = decode(file, {.fast_idct = true});
  ASSERT_TRUE(fast);
  int largest = 0;
  for (size_t i = 0; i < exact.values.size(); ++i)
    largest = std::max(largest, std::abs(exact.values[i] - fast->values[i]));
  EXPECT_GT(largest, 0) << "the option has no effect";
  EXPECT_LE(largest, 12);
}

TEST(Jpeg, WindowsOutsideAreErrors) {
  File file = encode_jpeg(make_picture(20, 30, 3, 12), {});
  for (const Window& w :
       {Window{0, 0, 21, 30}, Window{-1, 0, 5, 5}, Window{0, 25, 5, 31}, Window{10, 10, 5, 20}}) {
    TestScratch scratch;
    uint8_t unused = 0;
    auto header = read_header(file);
    ASSERT_TRUE(header);
    Status status = decode_window(file, *header, w, {}, scratch, &unused);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message().find("not inside the image"), std::string::npos)
        << status.error().message();
  }
}

TEST(Jpeg, EmptyWindowsWriteNothing) {
  File file = encode_jpeg(make_picture(20, 30, 3, 13), {});
  auto decoded = decode(file, {}, Window{5, 5, 5, 20});
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->values.empty());
}

}  // namespace
}  // namespace galatea::native
