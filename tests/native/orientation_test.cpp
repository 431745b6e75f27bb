// Pictures turned on their way out of the decoder: every orientation, of pictures higher and wider than the
// strips they are decoded in, whole and by windows, for every kind of pixel; and what that takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/native/decoding.h"

namespace galatea::native {
namespace {

/// Some windows that begin and end anywhere in a strip, and the whole.
std::vector<Window> windows_of(const Picture& picture, Random& random) {
  std::vector<Window> out{{0, 0, picture.height, picture.width}};
  for (int i = 0; i < 12; ++i) {
    const int y0 = draw(random, picture.height), x0 = draw(random, picture.width);
    out.push_back(
        {y0, x0, y0 + 1 + draw(random, picture.height - y0), x0 + 1 + draw(random, picture.width - x0)});
  }
  return out;
}

/// `file` is to give `upright`, and every window the crop of it.
void expect_upright(const File& file, const DecodeOptions& options, const Picture& upright,
                    const std::string& what) {
  Random random(3);
  for (const Window& w : windows_of(upright, random)) {
    auto part = decode(file, options, w);
    ASSERT_TRUE(part) << what << ": " << part.error().message();
    ASSERT_EQ(difference(*part, crop(upright, static_cast<int>(w.y0), static_cast<int>(w.x0),
                                     static_cast<int>(w.y1), static_cast<int>(w.x1))),
              "")
        << what << " [" << w.y0 << ", " << w.y1 << ") x [" << w.x0 << ", " << w.x1 << ")";
  }
}

Picture reversed_channels(const Picture& picture) {
  Picture out = picture;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      for (int c = 0; c < out.channels; ++c) out.at(y, x, c) = picture.at(y, x, out.channels - 1 - c);
  return out;
}

/// What libjpeg gives for the whole, as `type`.
Picture stored_jpeg(const File& file, ImageType type) {
  if (type == ImageType::kGray) return decode_whole_jpeg(file, true);
  const Picture rgb = decode_whole_jpeg(file);
  return type == ImageType::kBgr ? reversed_channels(rgb) : rgb;
}

TEST(Orientation, JpegsAreTurnedStripByStrip) {
  constexpr int kSizes[][2] = {{131, 77}, {64, 45}, {33, 101}, {31, 32}};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const auto& [height, width] : kSizes)
      for (int h : {1, 2})
        for (ImageType type : {ImageType::kRgb, ImageType::kBgr, ImageType::kGray, ImageType::kAny}) {
          const File file =
              encode_jpeg(make_picture(height, width, 3, 5), {.h = h, .v = h, .orientation = orientation});
          expect_upright(file, {.type = type}, turn(stored_jpeg(file, type), orientation),
                         fmt::format("orientation {}, {} x {}, sampled by {}, type {}", orientation, height,
                                     width, h, static_cast<int>(type)));
        }
}

TEST(Orientation, GreyJpegsOfOneChannelAndOfThree) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const File file = encode_jpeg(make_picture(70, 51, 1, 6), {.orientation = orientation});
    const Picture grey = turn(decode_whole_jpeg(file, true), orientation);
    const std::string what = fmt::format("orientation {}", orientation);
    expect_upright(file, {.type = ImageType::kAny}, grey, what);
    expect_upright(file, {.type = ImageType::kRgb}, with_channels(grey, 3), what);
  }
}

TEST(Orientation, ElementsOfOtherTypesAreTurnedAsWell) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const File file = encode_jpeg(make_picture(75, 43, 3, 7), {.h = 2, .v = 2, .orientation = orientation});
    Picture upright = turn(decode_whole_jpeg(file), orientation);
    upright.bits = 16;
    for (int& value : upright.values) value *= 257;
    expect_upright(file, {.dtype = DType::kU16}, upright, fmt::format("orientation {}", orientation));
  }
}

TEST(Orientation, PngsOfOneToFourChannels) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (int channels = 1; channels <= 4; ++channels)
      for (bool interlaced : {false, true}) {
        const Picture picture = make_picture(41, 58, channels, 8);
        const File file = encode_png(picture, {.interlaced = interlaced, .orientation = orientation});
        expect_upright(
            file, {.type = ImageType::kAny}, turn(picture, orientation),
            fmt::format("orientation {}, {} channels, interlaced {}", orientation, channels, interlaced));
      }
}

/// Notes the most memory that was asked for.
class CountedScratch final : public Scratch {
 public:
  Result<uint8_t*> bytes(int64_t size) override {
    most_ = std::max(most_, size);
    return scratch_.bytes(size);
  }
  int64_t most() const { return most_; }

 private:
  TestScratch scratch_;
  int64_t most_ = 0;
};

TEST(Orientation, StripsAreAmongWhatDecodingIsSaidToTake) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const int width : {9, 1000, 8000}) {
      const File file = encode_jpeg(make_picture(40, width, 3, 9), {.orientation = orientation});
      const auto header = read_header(file);
      ASSERT_TRUE(header);
      CountedScratch scratch;
      const Window all = whole(*header);
      std::vector<uint8_t> out(static_cast<size_t>(3 * all.height() * all.width()));
      ASSERT_TRUE(decode_window(file, *header, all, {}, scratch, out.data()));
      EXPECT_GT(scratch.most(), 0);
      EXPECT_LE(scratch.most(), decode_working_bytes(file)) << orientation << ", width " << width;
    }
}

}  // namespace
}  // namespace galatea::native
