// TIFF and PNM: lossless files against the very pixels that were written, windows against crops of them.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tiff.h>

#include "base/scalar_op.h"
#include "tests/native/decoding.h"
#include "tests/native/tiff_encoder.h"

namespace galatea::native {
namespace {

constexpr DecodeOptions kAnyBytes{.type = ImageType::kAny}, kRgbBytes{};
constexpr DecodeOptions kAnyWide{.type = ImageType::kAny, .dtype = DType::kU16};

/// The whole picture and some windows of it.
void expect_pixels(const File& file, const Picture& expected, DecodeOptions options,
                   const std::string& what) {
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
              "")
        << "window " << window.y0 << ", " << window.x0;
  }
}

Picture as_bytes(Picture picture) {
  if (picture.bits == 16)
    for (int& value : picture.values) value = (2 * value + 257) / 514;
  picture.bits = 8;
  return picture;
}

TEST(Tiff, StripsTilesAndPlanes) {
  for (int bits : {8, 16})
    for (int channels : {1, 2, 3, 4, 6})
      for (bool planar : {false, true}) {
        const Picture picture = make_picture(37, 53, channels, 40, bits);
        for (TiffSettings settings : {TiffSettings{.strip_rows = 1}, TiffSettings{.strip_rows = 8},
                                      TiffSettings{}, TiffSettings{.tile_height = 16, .tile_width = 16},
                                      TiffSettings{.tile_height = 64, .tile_width = 32}}) {
          settings.planar = planar;
          settings.big_endian = channels == 3;
          settings.big_file = channels == 4;
          const std::string what =
              fmt::format("{} bits, {} channels, planar {}, strips of {}, tiles of {}", bits, channels,
                          planar, settings.strip_rows, settings.tile_height);
          const File file = encode_tiff(picture, settings);
          expect_pixels(file, picture, bits == 16 ? kAnyWide : kAnyBytes, what);
          if (settings.strip_rows != 8) continue;
          const Picture bytes = as_bytes(picture);
          expect_pixels(file, bytes, kAnyBytes, what);
          expect_pixels(file, with_channels(channels == 2 ? with_channels(bytes, 1) : bytes, 3), kRgbBytes,
                        what);
        }
      }
}

TEST(Tiff, EveryCompression) {
  const Picture picture = make_picture(37, 53, 3, 41);
  const Picture wide = make_picture(37, 53, 3, 42, 16);
  for (int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                          COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD})
    for (bool predictor : {false, true}) {
      if (!tiff_compresses(compression)) continue;
      if (predictor && compression == COMPRESSION_PACKBITS) continue;
      TiffSettings settings{.strip_rows = 9, .compression = compression, .predictor = predictor};
      const std::string what = fmt::format("method {}, predictor {}", compression, predictor);
      expect_pixels(encode_tiff(picture, settings), picture, kAnyBytes, what);
      expect_pixels(encode_tiff(wide, settings), wide, kAnyWide, what);
      settings.tile_height = settings.tile_width = 16;
      expect_pixels(encode_tiff(picture, settings), picture, kAnyBytes, what + ", tiles");
    }
  Picture bits = make_picture(37, 53, 1, 43);
  for (int& value : bits.values) value = value > 127;
  Picture levels = bits;
  for (int& value : levels.values) value *= 255;
  for (int compression : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4})
    expect_pixels(encode_tiff(bits, {.bits = 1, .strip_rows = 10, .compression = compression}), levels,
                  kAnyBytes, fmt::format("method {}", compression));
}

/// A JPEG inside is lossy: near the picture, and windows are crops of the whole.
TEST(Tiff, JpegInside) {
  const Picture picture = make_picture(48, 64, 3, 44);
  for (int photometric : {PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR})
    for (int tile : {0, 16}) {
      const File file = encode_tiff(picture, {.tile_height = tile,
                                              .tile_width = tile,
                                              .strip_rows = 16,
                                              .compression = COMPRESSION_JPEG,
                                              .photometric = photometric});
      const auto whole = decode(file);
      ASSERT_TRUE(whole) << whole.error().message();
      expect_pixels(file, *whole, kRgbBytes, fmt::format("photometric {}, tiles of {}", photometric, tile));
      double sum = 0;
      for (size_t i = 0; i < picture.values.size(); ++i)
        sum += std::abs(picture.values[i] - whole->values[i]);
      // Noise is what JPEG loses first; a swapped channel or a shifted tile is off by 40 and more.
      EXPECT_LT(sum / static_cast<double>(picture.values.size()), photometric == PHOTOMETRIC_RGB ? 6 : 20);
    }
}

TEST(Tiff, FewAndManyBits) {
  for (int bits : {1, 2, 4, 12})
    for (int channels : {1, 3})
      for (int tile : {0, 16})
        for (bool planar : {false, true}) {
          const int most = (1 << bits) - 1;
          Picture picture = make_picture(21, 31, channels, 45, bits == 12 ? 16 : 8);
          for (int& value : picture.values) value &= most;
          Picture expected = picture;
          if (bits == 12) {
            // To 16 bits: white stays white.
            for (int& value : expected.values) value = static_cast<int>(std::lround(value * 65535.0 / most));
          } else {
            for (int& value : expected.values) value = value * 255 / most;
          }
          expect_pixels(
              encode_tiff(
                  picture,
                  {.bits = bits, .tile_height = tile, .tile_width = tile, .strip_rows = 5, .planar = planar}),
              expected, bits == 12 ? kAnyWide : kAnyBytes,
              fmt::format("{} bits, {} channels, tiles of {}", bits, channels, tile));
        }
}

TEST(Tiff, FloatsFillTheRangeAndStayFloats) {
  const Picture picture = make_picture(21, 31, 3, 46, 16);
  for (int bits : {32, 64})
    for (bool planar : {false, true})
      expect_pixels(encode_tiff(picture, {.bits = bits, .is_float = true, .strip_rows = 4, .planar = planar}),
                    picture, kAnyWide, fmt::format("{} bits", bits));
  Picture beyond = picture;
  for (int& value : beyond.values) value = 3 * value - 65535;
  const File file = encode_tiff(beyond, {.bits = 32, .is_float = true});
  const auto floats = raw_window(file, {.dtype = DType::kF32});
  ASSERT_TRUE(floats);
  for (size_t i = 0; i < beyond.values.size(); ++i)
    ASSERT_EQ(cell_to_double(DType::kF32, load_cell(DType::kF32, &(*floats)[4 * i])),
              static_cast<float>(beyond.values[i] / 65535.0));
  for (int& value : beyond.values) value = std::clamp(value, 0, 65535);
  expect_pixels(file, beyond, kAnyWide, "clamped");
}

TEST(Tiff, PalettesInksAndWhiteThatIsZero) {
  for (int bits : {1, 2, 4, 8}) {
    Picture indices = make_picture(21, 31, 1, 47);
    for (int& value : indices.values) value &= (1 << bits) - 1;
    Random random(48);
    std::vector<int> colors(size_t{3} << bits);
    for (bool narrow : {false, true}) {
      for (int& value : colors) value = draw(random, narrow ? 256 : 65536);
      Picture expected(21, 31, 3, 16);
      for (int y = 0; y < 21; ++y)
        for (int x = 0; x < 31; ++x)
          for (int c = 0; c < 3; ++c)
            expected.at(y, x, c) =
                colors[static_cast<size_t>(3 * indices.at(y, x, 0) + c)] * (narrow ? 257 : 1);
      expect_pixels(
          encode_tiff(indices,
                      {.bits = bits, .strip_rows = 4, .photometric = PHOTOMETRIC_PALETTE, .colors = colors}),
          expected, kAnyWide, fmt::format("palette of {} bits", bits));
    }
  }
  for (int bits : {8, 16}) {
    const Picture inks = make_picture(21, 31, 4, 49, bits);
    const int64_t white = (1 << bits) - 1;
    Picture rgb(21, 31, 3, bits);
    for (int y = 0; y < 21; ++y)
      for (int x = 0; x < 31; ++x)
        for (int c = 0; c < 3; ++c)
          rgb.at(y, x, c) = static_cast<int>(
              std::llround(static_cast<double>((white - inks.at(y, x, c)) * (white - inks.at(y, x, 3))) /
                           static_cast<double>(white)));
    expect_pixels(encode_tiff(inks, {.strip_rows = 4, .photometric = PHOTOMETRIC_SEPARATED}), rgb,
                  bits == 16 ? kAnyWide : kAnyBytes, fmt::format("inks of {} bits", bits));
    Picture grey = make_picture(21, 31, 1, 50, bits), negative = grey;
    for (int& value : negative.values) value = static_cast<int>(white) - value;
    expect_pixels(encode_tiff(grey, {.photometric = PHOTOMETRIC_MINISWHITE}), negative,
                  bits == 16 ? kAnyWide : kAnyBytes, "white is zero");
  }
}

TEST(Tiff, OrientationTurnsThePicture) {
  const Picture picture = make_picture(18, 27, 3, 51);
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (int tile : {0, 16}) {
      const File file =
          encode_tiff(picture, {.tile_height = tile, .tile_width = tile, .orientation = orientation});
      expect_pixels(file, turn(picture, orientation), kRgbBytes, fmt::format("{}", orientation));
      DecodeOptions stored;
      stored.adjust_orientation = false;
      expect_pixels(file, picture, stored, fmt::format("{} as stored", orientation));
    }
}

/// Damage in a strip or tile is met by the windows that lie in it, and by no other: nothing else is decoded.
TEST(Tiff, OnlyWhatAWindowTouchesIsDecoded) {
  const Picture picture = make_picture(48, 48, 3, 21);
  for (const TiffSettings& settings : {TiffSettings{.strip_rows = 8, .compression = 8},
                                       TiffSettings{.tile_height = 16, .tile_width = 16, .compression = 8},
                                       TiffSettings{.strip_rows = 16, .planar = true, .compression = 8}}) {
    const File file = encode_tiff(picture, settings);
    // What libtiff writes: a header of 8 bytes, the chunks in their order, the directory.
    const auto directory = static_cast<size_t>(file[4] | file[5] << 8 | file[6] << 16);
    const Window first{0, 0, 5, 5}, last{43, 43, 48, 48};
    for (const bool in_first : {true, false}) {
      File damaged = file;
      const size_t at = in_first ? 30 : directory - 60;
      for (size_t k = 0; k < 8; ++k) damaged[at + k] ^= 0x5A;
      const auto is_intact = [&](const Window& w) {
        const auto part = decode(damaged, {}, w);
        const auto place = [](int64_t side) { return static_cast<int>(side); };
        return part &&
               difference(*part, crop(picture, place(w.y0), place(w.x0), place(w.y1), place(w.x1))) == "";
      };
      EXPECT_EQ(is_intact(first), !in_first);
      EXPECT_EQ(is_intact(last), in_first);
    }
  }
}

TEST(Tiff, PagesByTheirNumber) {
  const std::vector<Picture> pages = {make_picture(18, 27, 3, 52), make_picture(5, 9, 1, 53),
                                      make_picture(33, 8, 4, 54)};
  for (bool big : {false, true}) {
    const File file = encode_tiff(pages, {.big_file = big});
    for (size_t page = 0; page < pages.size(); ++page) {
      DecodeOptions options = kAnyBytes;
      options.page = static_cast<int64_t>(page);
      expect_pixels(file, pages[page], options, fmt::format("page {}", page));
    }
    const auto none = read_header(file, 3);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message(), "there is no page 3: the TIFF holds 3");
    EXPECT_FALSE(read_header(file, -1));
  }
  const auto of_png = read_header(encode_png(pages[0]), 1);
  ASSERT_FALSE(of_png);
  EXPECT_EQ(of_png.error().message(), "there is no page 1: a PNG holds one picture");
}

TEST(Tiff, AChainOfDirectoriesThatLeadsBackEnds) {
  File file = encode_tiff(make_picture(5, 9, 1, 55));
  // The first directory's successor is itself: its place stands at byte 4, and behind its entries.
  const size_t directory = file[4] | file[5] << 8;
  const size_t next = directory + 2 + size_t{12} * file[directory];
  std::copy_n(file.begin() + 4, 4, file.begin() + static_cast<ptrdiff_t>(next));
  EXPECT_TRUE(decode(file));
  const auto second = read_header(file, 1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), "there is no page 1: the TIFF holds 1");
}

TEST(Tiff, SaysWhatItDoesNotRead) {
  const Picture picture = make_picture(5, 9, 3, 56);
  struct Unread {
    uint16_t tag, value;
    const char* words;
  };
  for (const Unread& c : {Unread{258, 24, "24 bits"},
                          {259, 34661, "method 34661"},
                          {262, 32803, "kind 32803"},
                          {339, 2, "signed"},
                          {277, 2, "RGB with 2 samples"}}) {
    File file = encode_tiff(picture);
    const size_t directory = file[4] | file[5] << 8;
    for (size_t i = 0; i < file[directory]; ++i) {
      const size_t entry = directory + 2 + 12 * i;
      if ((file[entry] | file[entry + 1] << 8) != c.tag) continue;
      // One SHORT in place of what stands there.
      const uint8_t bytes[] = {
          3, 0, 1, 0, 0, 0, static_cast<uint8_t>(c.value), static_cast<uint8_t>(c.value >> 8), 0, 0};
      std::copy(std::begin(bytes), std::end(bytes), file.begin() + static_cast<ptrdiff_t>(entry + 2));
    }
    const auto header = read_header(file);
    ASSERT_FALSE(header) << c.words;
    EXPECT_NE(header.error().message().find(c.words), std::string::npos) << header.error().message();
    EXPECT_FALSE(header.error().diagnostics.at(0).help.empty());
  }
}

TEST(Pnm, BytesAndText) {
  for (int kind : {2, 3, 5, 6})
    for (int most : {1, 100, 255, 1000, 65535}) {
      Picture picture = make_picture(19, 23, kind % 3 == 0 ? 3 : 1, 57, 16);
      for (int& value : picture.values) value %= most + 1;
      const File file = encode_pnm(picture, kind, most, "# a comment\n");
      Picture wide = picture, bytes = picture;
      bytes.bits = 8;
      for (int& value : wide.values) value = static_cast<int>(std::lround(value * 65535.0 / most));
      for (int& value : bytes.values) value = static_cast<int>(std::lround(value * 255.0 / most));
      const std::string what = fmt::format("P{}, {}", kind, most);
      expect_pixels(file, wide, kAnyWide, what);
      expect_pixels(file, bytes, kAnyBytes, what);
      expect_pixels(file, with_channels(bytes, 3), kRgbBytes, what);
    }
}

TEST(Pnm, ASetBitIsBlack) {
  Picture picture = make_picture(19, 23, 1, 58);
  for (int& value : picture.values) value = value > 127 ? 255 : 0;
  for (int kind : {1, 4}) {
    expect_pixels(encode_pnm(picture, kind), picture, kAnyBytes, fmt::format("P{}", kind));
    expect_pixels(encode_pnm(picture, kind, 1, "#\n"), with_channels(picture, 3), kRgbBytes,
                  fmt::format("P{}", kind));
  }
}

TEST(Pnm, SamplesAboveWhiteAreWhite) {
  Picture picture = make_picture(7, 9, 3, 59);
  const File file = encode_pnm(picture, 6, 100);
  for (int& value : picture.values) value = static_cast<int>(std::lround(std::min(value, 100) * 255 / 100.0));
  expect_pixels(file, picture, kRgbBytes, "P6");
}

TEST(Pnm, SaysWhatIsWrong) {
  for (const char* text :
       {"P6 3", "P6 3 3 0 ", "P6 3 3 70000 ", "P5 x 3 255 ", "P5 3 3 255", "P2 2 2 255 1 2 3", "P1 2 2 1 0 1",
        "P3 1 1 255 1 2 x", "P5 99999999999 3 255 ", "P6 3 3 255 abc"}) {
    const auto decoded = decode(File(text, text + std::strlen(text)));
    ASSERT_FALSE(decoded) << text;
    EXPECT_NE(decoded.error().message().find("PNM"), std::string::npos)
        << text << ": " << decoded.error().message();
  }
}

}  // namespace
}  // namespace galatea::native
