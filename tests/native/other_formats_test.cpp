// PNG, WebP and BMP: lossless files against the very pixels that were written, lossy WebP against libwebp's
// full decode.
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stdlib_ops/native/png_pixels.h"
#include "tests/native/decoding.h"

namespace galatea::native {
namespace {

/// Indices, and the colours that they stand for.
struct Palette {
  Picture indices;
  std::vector<int> colors;
  Picture pixels() const {
    Picture out(indices.height, indices.width, 3);
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x)
        for (int c = 0; c < 3; ++c)
          out.at(y, x, c) = colors[static_cast<size_t>(3 * indices.at(y, x, 0) + c)];
    return out;
  }
};

Palette make_palette(int height, int width, int depth, bool gray, uint32_t seed) {
  Random random(seed);
  Palette out{Picture(height, width, 1), {}};
  int count = (1 << depth) - (depth > 2 ? 1 : 0);
  for (int i = 0; i < count; ++i) {
    int first = draw(random, 256);
    for (int c = 0; c < 3; ++c) out.colors.push_back(gray ? first : draw(random, 256));
  }
  for (int& value : out.indices.values) value = draw(random, count);
  return out;
}

void expect_picture(const File& file, const Picture& expected, const DecodeOptions& options,
                    const std::string& what) {
  auto decoded = decode(file, options);
  ASSERT_TRUE(decoded) << what << ": " << decoded.error().message();
  EXPECT_EQ(difference(*decoded, expected), "") << what;
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    int y0 = draw(random, expected.height), x0 = draw(random, expected.width);
    Window w{y0, x0, y0 + 1 + draw(random, expected.height - y0), x0 + 1 + draw(random, expected.width - x0)};
    auto part = decode(file, options, w);
    ASSERT_TRUE(part) << what << ": " << part.error().message();
    EXPECT_EQ(difference(*part, crop(expected, y0, x0, static_cast<int>(w.y1), static_cast<int>(w.x1))), "")
        << what;
  }
}

constexpr DecodeOptions kRgb{};
constexpr DecodeOptions kAny{.type = ImageType::kAny};

TEST(Png, ColourTypesInterlacedOrNot) {
  for (bool interlaced : {false, true})
    for (int channels = 1; channels <= 4; ++channels)
      for (auto [h, w] : {std::pair{37, 53}, {1, 1}, {2, 19}, {19, 2}}) {
        Picture picture = make_picture(h, w, channels, 2);
        File file = encode_png(picture, {.interlaced = interlaced});
        std::string what = fmt::format("{} channels, {} x {}, interlaced {}", channels, h, w, interlaced);
        expect_picture(file, with_channels(picture, 3), kRgb, what);
        expect_picture(file, picture, kAny, what);
      }
}

TEST(Png, SixteenBits) {
  for (bool interlaced : {false, true})
    for (int channels = 1; channels <= 4; ++channels) {
      Picture picture = make_picture(23, 31, channels, 3, 16);
      File file = encode_png(picture, {.interlaced = interlaced});
      DecodeOptions wide{.type = ImageType::kAny, .dtype = DType::kU16};
      expect_picture(file, picture, wide, fmt::format("{} channels", channels));
      Picture narrow = picture;
      narrow.bits = 8;
      for (int& value : narrow.values) value = (2 * value + 257) / 514;
      expect_picture(file, narrow, kAny, fmt::format("{} channels to 8 bits", channels));
      expect_picture(file, with_channels(narrow, 3), kRgb, fmt::format("{} channels to 8-bit RGB", channels));
    }
}

TEST(Png, FewBitsOfGreyFillTheRange) {
  for (int depth : {1, 2, 4}) {
    Picture stored(19, 29, 1);
    Random random(4);
    for (int& value : stored.values) value = draw(random, 1 << depth);
    Picture expected = stored;
    for (int& value : expected.values) value = value * 255 / ((1 << depth) - 1);
    File file = encode_png(stored, {.depth = depth});
    expect_picture(file, expected, kAny, fmt::format("{} bits", depth));
    expect_picture(file, with_channels(expected, 3), kRgb, fmt::format("{} bits", depth));
  }
}

TEST(Png, PalettesGiveTheirColours) {
  for (bool interlaced : {false, true})
    for (int depth : {1, 2, 4, 8}) {
      Palette palette = make_palette(21, 35, depth, false, 5);
      PngSettings settings{
          .depth = depth, .interlaced = interlaced, .palette = true, .colors = palette.colors};
      expect_picture(encode_png(palette.indices, settings), palette.pixels(), kRgb,
                     fmt::format("{} bits", depth));
      expect_picture(encode_png(palette.indices, settings), palette.pixels(), kAny,
                     fmt::format("{} bits, any", depth));
      // As in DALI, transparent entries are plain colours.
      settings.transparency = {0, 128};
      expect_picture(encode_png(palette.indices, settings), palette.pixels(), kAny,
                     fmt::format("{} bits, transparent", depth));
      expect_picture(encode_png(palette.indices, settings), palette.pixels(), kRgb,
                     fmt::format("{} bits, transparent", depth));
    }
}

TEST(Png, ATransparentColourIsAColour) {
  for (int bits : {8, 16})
    for (int channels : {1, 3}) {
      Picture picture = make_picture(15, 22, channels, 6, bits);
      std::vector<int> transparent;
      for (int c = 0; c < channels; ++c) transparent.push_back(picture.at(4, 7, c));
      File file = encode_png(picture, {.transparency = transparent});
      DecodeOptions any{.type = ImageType::kAny, .dtype = bits == 16 ? DType::kU16 : DType::kU8};
      expect_picture(file, picture, any, fmt::format("{} channels of {} bits", channels, bits));
      DecodeOptions rgb{.dtype = any.dtype};
      expect_picture(file, with_channels(picture, 3), rgb,
                     fmt::format("{} channels of {} bits to RGB", channels, bits));
    }
}

TEST(Png, ExifTurnsThePicture) {
  Picture picture = make_picture(18, 27, 3, 7);
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (bool interlaced : {false, true})
      expect_picture(encode_png(picture, {.interlaced = interlaced, .orientation = orientation}),
                     turn(picture, orientation), kRgb, fmt::format("{}", orientation));
}

/// Windows that end in the upper half are read row by row, by zlib; what reaches lower is inflated before.
TEST(Png, InflatedAtOnceIsWhatIsReadRowByRow) {
  Picture indices(240, 301, 1);
  for (size_t i = 0; i < indices.values.size(); ++i) indices.values[i] = static_cast<int>(i * i / 7 % 4);
  const std::vector<int> colors{1, 2, 3, 40, 50, 60, 70, 80, 90, 250, 240, 230};
  const File files[] = {encode_png(make_picture(240, 301, 3, 31)),
                        encode_png(make_picture(240, 301, 4, 32, 16), {.depth = 16}),
                        encode_png(make_picture(240, 301, 1, 33)),
                        encode_png(indices, {.depth = 2, .palette = true, .colors = colors})};
  Random random(35);
  int told = 0;
  for (const File& file : files) {
    const std::optional<PngPixels> pixels = find_png_pixels(file);
    ASSERT_TRUE(pixels);
    std::vector<uint8_t> memory(static_cast<size_t>(pixels->bytes()));
    ASSERT_TRUE(inflate_png_pixels(file, *pixels, memory.data()));
    const Picture all = decode(file).value();
    const Window top{0, 0, (all.height - 1) / 2, all.width};
    EXPECT_EQ(difference(decode(file, {}, top).value(), crop(all, 0, 0, static_cast<int>(top.y1), all.width)),
              "");
    // What is damaged in the upper part is told alike.
    for (int round = 0; round < 40; ++round) {
      File damaged = file;
      const size_t end = pixels->first + 8 + pixels->deflated / 4;
      damaged[pixels->first + random() % (end - pixels->first)] ^= static_cast<uint8_t>(1 + random() % 255);
      const auto by_rows = decode(damaged, {}, top), at_once = decode(damaged);
      if (by_rows) continue;
      ASSERT_FALSE(at_once);
      EXPECT_EQ(at_once.error().message(), by_rows.error().message());
      ++told;
    }
  }
  EXPECT_GT(told, 50);
  EXPECT_GT(find_png_pixels(files[0])->chunks, 1U);
  EXPECT_FALSE(find_png_pixels(encode_png(make_picture(9, 11, 3, 36), {.interlaced = true})));
  // A stream that names a small window is left to zlib, which holds it to that.
  const File small = encode_png(make_picture(9, 11, 3, 34));
  const std::optional<PngPixels> pixels = find_png_pixels(small);
  ASSERT_TRUE(pixels);
  EXPECT_NE(small[pixels->first + 8], 0x78);
  std::vector<uint8_t> memory(static_cast<size_t>(pixels->bytes()));
  EXPECT_FALSE(inflate_png_pixels(small, *pixels, memory.data()));
}

TEST(Webp, LosslessIsExact) {
  for (auto [h, w] : {std::pair{33, 50}, {1, 1}, {7, 64}}) {
    Picture rgb = make_picture(h, w, 3, 8);
    expect_picture(encode_webp(rgb, -1), rgb, kRgb, "RGB");
    expect_picture(encode_webp(rgb, -1), rgb, kAny, "RGB, any");
    // Where alpha is 0 the encoder may change colours, so it is never 0 here.
    Picture rgba = make_picture(h, w, 4, 9);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) rgba.at(y, x, 3) = 1 + rgba.at(y, x, 3) * 254 / 255;
    expect_picture(encode_webp(rgba, -1), rgba, kAny, "RGBA");
    expect_picture(encode_webp(rgba, -1), with_channels(rgba, 3), kRgb, "RGBA to RGB");
  }
}

TEST(Webp, LossyEqualsTheFullDecode) {
  for (float quality : {10.0F, 80.0F}) {
    File rgb = encode_webp(make_picture(49, 67, 3, 10), quality);
    expect_picture(rgb, decode_whole_webp(rgb, 3), kRgb, "RGB");
    File rgba = encode_webp(make_picture(49, 67, 4, 11), quality);
    expect_picture(rgba, decode_whole_webp(rgba, 4), kAny, "RGBA");
    expect_picture(rgba, decode_whole_webp(rgba, 3), kRgb, "RGBA to RGB");
  }
}

TEST(Webp, ExifTurnsThePicture) {
  Picture picture = make_picture(16, 25, 3, 12);
  for (int orientation = 1; orientation <= 8; ++orientation)
    expect_picture(with_webp_exif(encode_webp(picture, -1), picture, orientation), turn(picture, orientation),
                   kRgb, fmt::format("{}", orientation));
}

TEST(Bmp, TrueColour) {
  for (int width : {1, 2, 3, 4, 31}) {
    Picture picture = make_picture(14, width, 3, 13);
    for (const BmpSettings& settings :
         {BmpSettings{}, BmpSettings{.top_down = true}, BmpSettings{.os2 = true}, BmpSettings{.bits = 32},
          BmpSettings{.bits = 32, .top_down = true}, BmpSettings{.bits = 32, .masks = true}}) {
      expect_picture(encode_bmp(picture, settings), picture, kRgb,
                     fmt::format("width {}, {} bits", width, settings.bits));
      expect_picture(encode_bmp(picture, settings), picture, kAny,
                     fmt::format("width {}, {} bits, any", width, settings.bits));
    }
  }
}

TEST(Bmp, Palettes) {
  for (int depth : {1, 4, 8})
    for (bool os2 : {false, true})
      for (int width : {1, 7, 16, 33}) {
        Palette palette = make_palette(9, width, depth, false, 14);
        File file = encode_bmp(palette.indices, {.bits = depth, .colors = palette.colors, .os2 = os2});
        expect_picture(file, palette.pixels(), kRgb, fmt::format("{} bits, width {}", depth, width));
        expect_picture(file, palette.pixels(), kAny, fmt::format("{} bits, width {}", depth, width));
      }
}

TEST(Bmp, APaletteOfGreysIsOneChannel) {
  for (int depth : {1, 4, 8}) {
    Palette palette = make_palette(9, 13, depth, true, 15);
    File file = encode_bmp(palette.indices, {.bits = depth, .colors = palette.colors});
    Picture grey(9, 13, 1);
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 13; ++x) grey.at(y, x, 0) = palette.pixels().at(y, x, 0);
    expect_picture(file, grey, kAny, fmt::format("{} bits", depth));
    expect_picture(file, grey, {.type = ImageType::kGray}, fmt::format("{} bits to grey", depth));
    expect_picture(file, palette.pixels(), kRgb, fmt::format("{} bits to RGB", depth));
  }
}

TEST(Formats, ContentDecides) {
  Picture picture = make_picture(5, 6, 3, 16);
  EXPECT_EQ(detect_format(encode_jpeg(picture, {})), ImageFormat::kJpeg);
  EXPECT_EQ(detect_format(encode_png(picture)), ImageFormat::kPng);
  EXPECT_EQ(detect_format(encode_webp(picture, -1)), ImageFormat::kWebp);
  EXPECT_EQ(detect_format(encode_bmp(picture, {})), ImageFormat::kBmp);
  EXPECT_EQ(detect_format(File{'G', 'I', 'F', '8', '9', 'a'}), ImageFormat::kGif);
  EXPECT_EQ(detect_format(File{}), ImageFormat::kUnknown);
}

/// What explain says beforehand holds for every file of an image of these extents, however it is stored.
TEST(Formats, NoneTakesMoreToDecodeThanItsExtentsTell) {
  const auto expect_bounds = [](const File& file, bool whole, int height, int width, const char* what) {
    const DecodeBounds most = most_decode_working_bytes(height, width);
    EXPECT_GE(most.whole, most.by_rows);
    EXPECT_LE(decode_working_bytes(file), whole ? most.whole : most.by_rows) << what;
    // The bound is one of what files take, not a guess far above.
    if (whole) {
      EXPECT_GT(decode_working_bytes(file), most.by_rows) << what;
    }
  };
  for (const auto& [height, width] : {std::pair{700, 500}, {500, 700}}) {
    const Picture picture = make_picture(height, width, 3, 21);
    expect_bounds(encode_jpeg(picture, {}), false, height, width, "JPEG");
    expect_bounds(encode_jpeg(picture, {.orientation = 6}), false, height, width, "turned JPEG");
    expect_bounds(encode_jpeg(picture, {.progressive = true}), true, height, width, "progressive JPEG");
    expect_bounds(encode_png(picture), true, height, width, "PNG");
    expect_bounds(encode_png(make_picture(height, width, 4, 22, 16), {.depth = 16}), true, height, width,
                  "PNG of 16 bits");
    expect_bounds(encode_png(make_picture(height, width, 4, 22, 16), {.depth = 16, .interlaced = true}), true,
                  height, width, "interlaced PNG of 16 bits");
    expect_bounds(encode_webp(picture, -1), true, height, width, "WebP");
    expect_bounds(encode_bmp(picture, {.bits = 24}), false, height, width, "BMP");
  }
}

}  // namespace
}  // namespace galatea::native
