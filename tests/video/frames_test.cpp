// Which frames a clip consists of, and how their pixels are made.
#include "stdlib_ops/native/video/frames.h"

#include <random>

#include <gtest/gtest.h>

#include "stdlib_ops/native/video/colour.h"
#include "stdlib_ops/native/video_source.h"

namespace galatea::testing {
namespace {

using native::video::Box;
using native::video::channels_of;
using native::video::clip_starts;
using native::video::kFilled;
using native::video::Loops;
using native::video::padded;
using native::video::Padding;
using native::video::Picture;
using native::video::Pixels;
using native::video::write_pixels;
using Frames = std::vector<int64_t>;

Frames padded_range(int64_t first, int64_t last, int64_t frames, Padding padding) {
  Frames out;
  for (int64_t k = first; k <= last; ++k) out.push_back(padded(k, frames, padding).value_or(-9));
  return out;
}

TEST(ClipFrames, StandInForThoseOutsideOfAFilm) {
  EXPECT_EQ(padded_range(-2, 4, 3, Padding::kNone), (Frames{-9, -9, 0, 1, 2, -9, -9}));
  EXPECT_EQ(padded_range(-1, 3, 3, Padding::kConstant), (Frames{kFilled, 0, 1, 2, kFilled}));
  EXPECT_EQ(padded_range(-2, 4, 3, Padding::kEdge), (Frames{0, 0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(padded_range(-4, 7, 3, Padding::kReflect1001), (Frames{2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_EQ(padded_range(-3, 6, 3, Padding::kReflect101), (Frames{1, 2, 1, 0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(padded_range(-2, 2, 1, Padding::kReflect101), (Frames{0, 0, 0, 0, 0}));
}

TEST(ClipFrames, ClipsBeginWhereTheyFit) {
  EXPECT_EQ(clip_starts(0, 25, 8, 1, 8, Padding::kNone), (Frames{0, 8, 16}));
  EXPECT_EQ(clip_starts(0, 24, 8, 3, 5, Padding::kNone), (Frames{0}));
  EXPECT_EQ(clip_starts(0, 23, 8, 3, 5, Padding::kNone), Frames());
  EXPECT_EQ(clip_starts(5, 10, 8, 3, 2, Padding::kEdge), (Frames{5, 7, 9}));
  EXPECT_EQ(clip_starts(0, 5, 1'000'000, 1'000'000, 1, Padding::kNone), Frames());
}

TEST(ClipFrames, AreSpreadFromTheFirstToTheLast) {
  EXPECT_EQ(native::video::spread_frames(0, 25, 3), (Frames{0, 12, 24}));
  EXPECT_EQ(native::video::spread_frames(2, 4, 4), (Frames{2, 2, 3, 3}));
  EXPECT_EQ(native::video::spread_frames(3, 9, 1), (Frames{3}));
}

/// Planes of noise, and a picture of them.
template <typename Sample>
struct Noise {
  Noise(int32_t width, int32_t height, int32_t bits, Picture::Kind kind, int32_t shift) {
    std::mt19937 random(static_cast<uint32_t>(width * 31 + bits));
    picture = {.width = width,
               .height = height,
               .kind = kind,
               .bits = bits,
               .shift_x = shift,
               .shift_y = shift,
               .is_full_range = width % 2 == 0};
    for (size_t k = 0; k < 3; ++k) {
      planes[k].resize(static_cast<size_t>(width) * static_cast<size_t>(height));
      for (Sample& sample : planes[k]) sample = static_cast<Sample>(random() % (1U << bits));
      picture.planes[k] = reinterpret_cast<const uint8_t*>(planes[k].data());
      picture.strides[k] = width * static_cast<ptrdiff_t>(sizeof(Sample));
    }
  }
  std::vector<Sample> planes[3];
  Picture picture;
};

void expect_same_bytes(const Picture& picture, Pixels pixels) {
  const Box box{1, 1, picture.height, picture.width};
  const auto bytes = static_cast<size_t>((box.y1 - box.y0) * (box.x1 - box.x0) * channels_of(pixels));
  std::vector<uint8_t> here(bytes, 1), anywhere(bytes, 2);
  ASSERT_TRUE(write_pixels(picture, {.pixels = pixels}, box, "noise", here.data()));
  ASSERT_TRUE(write_pixels(picture, {.pixels = pixels}, box, "noise", anywhere.data(), Loops::kOfAny));
  EXPECT_EQ(here, anywhere) << picture.width << " columns of " << picture.bits << " bits";
}

TEST(Colours, AreTheSameByAnyLoops) {
  using Kind = Picture::Kind;
  for (const int32_t width : {2, 7, 16, 33, 130, 257})
    for (const Pixels pixels : {Pixels::kRgb, Pixels::kBgr, Pixels::kGrey, Pixels::kYcbcr})
      for (const int32_t shift : {0, 1}) {
        expect_same_bytes(Noise<uint8_t>(width, 6, 8, Kind::kYuv, shift).picture, pixels);
        expect_same_bytes(Noise<uint16_t>(width, 5, 10, Kind::kYuv, shift).picture, pixels);
        expect_same_bytes(Noise<uint8_t>(width, 5, 8, Kind::kGrey, 0).picture, pixels);
        if (pixels != Pixels::kYcbcr)
          expect_same_bytes(Noise<uint8_t>(width, 5, 8, Kind::kRgb, 0).picture, pixels);
      }
}

/// Every range and matrix, any part of a row: blocks of 32 columns, what is left of one, and the edges.
TEST(Colours, AreTheSameByAnyLoopsInEveryPart) {
  using native::video::Matrix;
  for (const int32_t width : {2, 4, 30, 32, 34, 64, 98, 160}) {
    Noise<uint8_t> noise(width, 4, 8, Picture::Kind::kYuv, 1);
    for (const bool is_full_range : {false, true})
      for (const Matrix matrix : {Matrix::kBt601, Matrix::kBt709, Matrix::kBt2020}) {
        noise.picture.is_full_range = is_full_range;
        noise.picture.matrix = matrix;
        for (const int64_t x0 : {0, 1, 2, 31, 33})
          for (const int64_t cut : {0, 1, 3}) {
            const Box box{0, x0, 4, width - cut};
            if (box.x0 >= box.x1) continue;
            const auto bytes = static_cast<size_t>(4 * (box.x1 - box.x0) * 3);
            std::vector<uint8_t> here(bytes, 1), anywhere(bytes, 2);
            const native::video::Colours colours{.pixels = x0 % 2 == 0 ? Pixels::kRgb : Pixels::kBgr,
                                                 .is_tagged = true};
            ASSERT_TRUE(write_pixels(noise.picture, colours, box, "noise", here.data()));
            ASSERT_TRUE(write_pixels(noise.picture, colours, box, "noise", anywhere.data(), Loops::kOfAny));
            EXPECT_EQ(here, anywhere) << width << " columns, from " << x0 << " to " << width - cut;
          }
      }
  }
}

TEST(FilmLists, NameAFilmItsLabelAndItsPart) {
  const auto films = native::parse_film_list("a.mp4 3\n\n  b.mp4\t4 0.5\nc.mp4 5 -1.5 2e0\n", "list");
  ASSERT_TRUE(films);
  ASSERT_EQ(films->size(), 3U);
  EXPECT_EQ((*films)[0].path, "a.mp4");
  EXPECT_FALSE((*films)[1].has_end);
  EXPECT_EQ((*films)[1].start, 0.5);
  EXPECT_EQ((*films)[2].label, 5);
  EXPECT_EQ((*films)[2].start, -1.5);
  EXPECT_EQ((*films)[2].end, 2);
}

TEST(FilmLists, SayWhichLineIsWrong) {
  for (const char* line :
       {"a.mp4", "a.mp4 x", "a.mp4 -1", "a.mp4 1 x", "a.mp4 1 2 3 4", "a.mp4 1 nan", "a.mp4 1 1 inf"}) {
    const auto films = native::parse_film_list(std::string("b.mp4 1\n") + line, "list");
    ASSERT_FALSE(films) << line;
    EXPECT_TRUE(films.error().message().starts_with("list:2: expected")) << films.error().message();
  }
  EXPECT_FALSE(native::parse_film_list("\n \n", "list"));
}

}  // namespace
}  // namespace galatea::testing
