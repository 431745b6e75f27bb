// Films that end early, and films that were damaged: an error that names them or frames, in bounded memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

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

/// Decodes the corner of the first frames; of an error its words, else nothing.
std::string decode_corner(const Bytes& bytes) {
  video::FilmLibrary library({});
  const video::FilmFile file{.name = "hostile.film", .identity = "hostile", .open = [&bytes] {
                               return native::bytes_elsewhere("hostile.film", bytes);
                             }};
  const auto index = library.index_of(file);
  if (!index) return index.error().message();
  std::vector<int64_t> frames;
  for (int64_t k = 0; k < std::min((*index)->num_frames(), kMostFrames); ++k) frames.push_back(k);
  const video::StreamFacts& stream = (*index)->stream();
  const video::Box corner{0, 0, std::min<int64_t>(stream.height, kSide),
                          std::min<int64_t>(stream.width, kSide)};
  Bytes pixels(frames.size() * kSide * kSide * 3);
  const Status done =
      video::paint_clip(library, file, **index, frames, {}, corner, [] { return false; }, pixels.data());
  return done ? std::string() : done.error().message();
}

/// Every container and codec that is read.
const std::vector<std::string> kFilms = {"h264.avi",  "h264.mkv",    "h264_cut.mp4",      "h264_fields.ts",
                                         "mpeg2.ts",  "mpeg4.mp4",   "hevc_open_gop.mp4", "mjpeg.avi",
                                         "vp8.webm",  "vp9.webm",    "av1.mp4",           "hevc_10_bits.mkv",
                                         "mpeg4.avi", "vp9_odd.webm"};

/// A decoder of 17 pictures of a header that claims 4K, and what it takes beside them.
constexpr int64_t kMostGrowth = int64_t{1} << 30;

TEST(HostileFilms, ThatEndEarlyAreNamed) {
  const int64_t before = peak_bytes();
  for (const std::string& name : kFilms) {
    SCOPED_TRACE(name);
    const Bytes whole = film_bytes(name);
    EXPECT_EQ(decode_corner(whole), "");
    const int64_t cuts = scaled(200, 10);
    size_t errors = 0;
    for (int64_t k = 0; k < cuts; ++k) {
      const size_t length = whole.size() * static_cast<size_t>(k) / static_cast<size_t>(cuts);
      const std::string error =
          decode_corner(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
      errors += error.empty() ? 0 : 1;
      if (!error.empty()) {
        EXPECT_TRUE(error.contains("hostile.film")) << error;
      }
    }
    EXPECT_GT(errors, 0U);  // nothing at all is no film
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
