// Films that end early, and films that were damaged: an error that names them or frames, in bounded memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/video/paint.h"
#include "tests/support/cases.h"
#include "tests/support/damage.h"

namespace galatea::testing {
namespace {

namespace video = native::video;
using Bytes = std::vector<uint8_t>;

constexpr int64_t kMostFrames = 8, kSide = 16;

Bytes film_bytes(const std::string& name) {
  const auto text = native::text_of(GALATEA_SOURCE_DIR "/tests/video/films/" + name, "film");
  EXPECT_TRUE(text) << name;
  return text ? Bytes(text->begin(), text->end()) : Bytes();
}

int64_t peak_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// The corner of the first frames, or the words of an error.
struct Corners {
  std::string error;
  std::set<Bytes> frames;
};

Corners corners_of(const Bytes& bytes) {
  video::FilmLibrary library({});
  const video::FilmFile file{.name = "hostile.film", .identity = "hostile", .open = [&bytes] {
                               return native::bytes_elsewhere("hostile.film", bytes);
                             }};
  const auto index = library.index_of(file);
  if (!index) return {.error = index.error().message()};
  std::vector<int64_t> frames;
  for (int64_t k = 0; k < std::min((*index)->num_frames(), kMostFrames); ++k) frames.push_back(k);
  const video::StreamFacts& stream = (*index)->stream();
  const video::Box corner{0, 0, std::min<int64_t>(stream.height, kSide),
                          std::min<int64_t>(stream.width, kSide)};
  Bytes pixels(frames.size() * kSide * kSide * 3);
  const Status done =
      video::paint_clip(library, file, **index, frames, {}, corner, [] { return false; }, pixels.data());
  if (!done) return {.error = done.error().message()};
  Corners out;
  constexpr ptrdiff_t kEach = kSide * kSide * 3;
  for (auto at = pixels.begin(); at != pixels.end(); at += kEach) out.frames.emplace(at, at + kEach);
  return out;
}

std::string decode_corner(const Bytes& bytes) { return corners_of(bytes).error; }

/// Every container and codec that is read.
const std::vector<std::string> kFilms = {"h264.avi",  "h264.mkv",    "h264_cut.mp4",      "h264_fields.ts",
                                         "mpeg2.ts",  "mpeg4.mp4",   "hevc_open_gop.mp4", "mjpeg.avi",
                                         "vp8.webm",  "vp9.webm",    "av1.mp4",           "hevc_10_bits.mkv",
                                         "mpeg4.avi", "vp9_odd.webm"};

/// A decoder of 17 pictures of a header that claims 4K, and what it takes beside them.
constexpr int64_t kMostGrowth = int64_t{1} << 30;

/// What is left of a film is read as it was, or refused; never grey where pixels are missing. Matroska tells of its
/// whole, so that each cut is an error; MPEG-TS tells nothing, and its last frame may be half of one.
TEST(HostileFilms, ThatEndEarlyAreNamed) {
  const int64_t before = peak_bytes();
  for (const std::string& name : kFilms) {
    SCOPED_TRACE(name);
    const bool is_matroska = name.ends_with(".mkv") || name.ends_with(".webm"),
               is_stream = name.ends_with(".ts");
    const Bytes whole = film_bytes(name);
    const Corners all = corners_of(whole);
    EXPECT_EQ(all.error, "");
    const int64_t cuts = scaled(200, 10);
    size_t errors = 0;
    for (int64_t k = 0; k < cuts; ++k) {
      const size_t length = whole.size() * static_cast<size_t>(k) / static_cast<size_t>(cuts);
      SCOPED_TRACE(length);
      const Corners cut = corners_of(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
      errors += cut.error.empty() ? 0 : 1;
      if (!cut.error.empty()) {
        EXPECT_TRUE(cut.error.contains("hostile.film")) << cut.error;
      } else if (!is_stream) {
        EXPECT_TRUE(std::ranges::includes(all.frames, cut.frames));
      }
    }
    EXPECT_GT(errors, 0U);  // nothing at all is no film
    if (is_matroska) {
      EXPECT_EQ(errors, static_cast<size_t>(cuts));
    }
  }
  EXPECT_LT(peak_bytes() - before, kMostGrowth);
}

TEST(HostileFilms, ThatAreDamagedAreNamedOrShown) {
  const int64_t before = peak_bytes();
  for (const std::string& name : kFilms) {
    SCOPED_TRACE(name);
    const Bytes whole = film_bytes(name);
    size_t errors = 0;
    for (int64_t k = 0, count = scaled(2000, 20); k < count; ++k) {
      SCOPED_TRACE(k);
      const std::string error = decode_corner(Damager(static_cast<uint32_t>(k)).damaged(whole));
      errors += error.empty() ? 0 : 1;
      if (!error.empty()) {
        EXPECT_TRUE(error.contains("hostile.film")) << error;
      }
    }
    EXPECT_GT(errors, 0U);
  }
  EXPECT_LT(peak_bytes() - before, kMostGrowth);
}

}  // namespace
}  // namespace galatea::testing
