// GIF, AVIF and HEIC as others wrote them, against what others decoded.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stdlib_ops/native/heif_library.h"
#include "tests/native/decoding.h"
#include "tests/native/pictures.h"

namespace galatea::native {
namespace {

constexpr DecodeOptions kAsStored{.type = ImageType::kAny};

/// A PNG of Pillow, which png_test holds to its pixels.
Picture recorded(const std::string& name) { return decode(read_picture(name + ".png"), kAsStored).value(); }

TEST(Gif, EqualsPillow) {
  for (const char* name : {"plain.gif", "interlaced.gif", "noise.gif", "transparent.gif", "animation.gif"}) {
    SCOPED_TRACE(name);
    const File file = read_picture(name);
    ASSERT_FALSE(file.empty());
    const Picture expected = recorded(name);
    const auto decoded = decode(file, kAsStored);
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(difference(*decoded, expected), "");
    const auto part = decode(file, {}, Window{5, 7, 20, 31});
    ASSERT_TRUE(part);
    EXPECT_EQ(difference(*part, crop(with_channels(expected, 3), 5, 7, 20, 31)), "");
  }
}

/// Profiles that let red and blue change places: DALI 2.4 leaves the numbers as they are stored, in every format.
TEST(Profiles, ChangeNoColoursAsInDali) {
  for (const char* name : {"profile.jpg", "profile.png", "profile.tif", "profile.webp", "profile.jp2"}) {
    SCOPED_TRACE(name);
    const Picture expected = recorded(name);
    for (const ImageType type : {ImageType::kAny, ImageType::kRgb}) {
      const auto decoded = decode(read_picture(name), {.type = type});
      ASSERT_TRUE(decoded) << decoded.error().message();
      EXPECT_EQ(difference(*decoded, expected), "");
    }
  }
}

/// A picture of 2 x 2 at (1, 1) of a canvas of 3 x 4, in codes of 3 bits: clear, 0, 1, 2, 3, end.
File small_gif(uint8_t top, uint8_t left) {
  File file = {'G', 'I', 'F', '8', '9', 'a', 4,   0,    3, 0,   0x81, 0, 0, 10, 20, 30, 40, 50, 60,
               70,  80,  90,  100, 110, 120, ',', left, 0, top, 0,    2, 0, 2,  0,  0,  2,  3};
  // 100 000 001 010 011 101, the least significant bit first; the codes grow to 4 bits behind the third.
  uint32_t bits = 0;
  int held = 0;
  for (const auto& [code, width] : {std::pair{4, 3}, {0, 3}, {1, 3}, {2, 3}, {3, 4}, {5, 4}})
    bits |= static_cast<uint32_t>(code) << held, held += width;
  for (int i = 0; i < 3; ++i) file.push_back(static_cast<uint8_t>(bits >> 8 * i));
  file.push_back(0);
  file.push_back(';');
  return file;
}

TEST(Gif, APictureMayLieAnywhereOnItsCanvas) {
  for (const auto& [top, left] : {std::pair{1, 1}, {0, 0}, {2, 3}, {9, 9}}) {
    Picture expected(3, 4, 4);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        if (top + y < 3 && left + x < 4)
          for (int c = 0; c < 4; ++c)
            expected.at(top + y, left + x, c) = c == 3 ? 255 : 10 * (3 * (2 * y + x) + c + 1);
    const auto decoded = decode(small_gif(static_cast<uint8_t>(top), static_cast<uint8_t>(left)), kAsStored);
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(difference(*decoded, expected), "") << top << ", " << left;
  }
}

TEST(Gif, SaysWhatIsWrong) {
  const File good = small_gif(1, 1);
  for (size_t length = 6; length < good.size() - 4; ++length)
    EXPECT_FALSE(decode(File(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)))) << length;
  File code = good;
  code[37] = 0xFF;  // codes that nobody has made
  EXPECT_FALSE(decode(code));
  File large = good;
  large[32] = large[30] = 0x7F;  // a picture of 32 K x 32 K in three bytes
  large[31] = large[33] = 0x7F;
  TestScratch none(0);
  uint8_t pixel[4];
  const auto header = read_header(large);
  ASSERT_TRUE(header);
  const Status status = decode_window(large, *header, {0, 0, 1, 1}, {}, none, pixel);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "the GIF is damaged or cut off");
}

class Heif : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto library = HeifLibrary::shared(); !library) GTEST_SKIP() << library.error().message();
  }
};

/// Within rounding of YCbCr to RGB, which libavif and versions of libheif do by different arithmetic.
TEST_F(Heif, IsNearWhatOthersDecode) {
  for (const char* name : {"rgb.avif", "alpha.avif", "grey.avif", "rgb.heic", "turned.heic"}) {
    SCOPED_TRACE(name);
    const File file = read_picture(name);
    ASSERT_FALSE(file.empty());
    const Picture expected = recorded(name);
    const auto whole = decode(file, kAsStored);
    ASSERT_TRUE(whole) << whole.error().message();
    ASSERT_EQ(fmt::format("{} x {} x {}", whole->height, whole->width, whole->channels),
              fmt::format("{} x {} x {}", expected.height, expected.width, expected.channels));
    for (size_t i = 0; i < expected.values.size(); ++i)
      ASSERT_NEAR(whole->values[i], expected.values[i], 2) << i;
    const auto part = decode(file, kAsStored, Window{5, 7, 20, 21});
    ASSERT_TRUE(part);
    EXPECT_EQ(difference(*part, crop(*whole, 5, 7, 20, 21)), "");
  }
}

TEST_F(Heif, DamageIsAnError) {
  for (const char* name : {"rgb.avif", "rgb.heic"}) {
    const File good = read_picture(name);
    for (size_t length = 16; length < good.size(); length += 61) {
      const auto decoded = decode(File(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)));
      EXPECT_TRUE(decoded || !decoded.error().message().empty());
    }
    EXPECT_FALSE(decode(File(good.begin(), good.begin() + static_cast<ptrdiff_t>(good.size() / 2)))) << name;
  }
}

TEST(HeifLibrary, NamesThePackageWhereItIsMissing) {
  const auto library = HeifLibrary::open("libheif_of_nowhere.so.1");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().message(),
            "AVIF and HEIF need libheif_of_nowhere.so.1, which is not on this machine");
  EXPECT_NE(library.error().diagnostics.at(0).help.find("libheif1"), std::string::npos);
  // A library that is another one.
  const auto other = HeifLibrary::open("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("has no heif_"), std::string::npos) << other.error().message();
}

}  // namespace
}  // namespace galatea::native
