// Sounds that end early, and sounds that were damaged: an error that names them or samples, in bounded memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/sound/sound_file.h"
#include "tests/support/cases.h"
#include "tests/support/damage.h"

namespace galatea::native {
namespace {

using SoundBytes = std::vector<uint8_t>;

SoundBytes sound_bytes(const std::string& name) {
  const auto text = text_of(GALATEA_SOURCE_DIR "/tests/fuzz/corpus/sound/" + name, "sound");
  EXPECT_TRUE(text) << name;
  if (!text) return {};
  // Two bytes of the fuzz target's stand before the file.
  return {text->begin() + 2, text->end()};
}

int64_t peak_of_process() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// Decodes the first frames, some in the middle, and the last; of an error its words, else nothing.
std::string decode_some(const SoundBytes& bytes) {
  constexpr int64_t kMost = 4096;
  std::vector<float> out;
  for (const int64_t eighths : {0, 4, 7}) {
    const auto file = SoundFile::open(bytes_elsewhere("hostile.sound", bytes));
    if (!file) return file.error().message();
    const int64_t frames = (*file)->frames(), begin = frames / 8 * eighths;
    const int64_t end = std::min(frames, begin + kMost / (*file)->channels() + 1);
    out.resize(static_cast<size_t>((end - begin) * (*file)->channels()));
    const Status done = (*file)->read(begin, end, DType::kF32, out.data());
    if (!done) return done.error().message();
  }
  return {};
}

const std::vector<std::string> kSounds = {"tone.wav", "float.wav", "tone.flac", "tone.ogg", "tone.opus",
                                          "tone.mp3", "tone.aiff", "tone.au",   "tone.caf", "tone.w64"};
/// libsndfile keeps a few kilobytes of every damaged Ogg file that it refuses (docs/sound.md).
constexpr int64_t kMostGrowth = int64_t{256} << 20;

TEST(HostileSound, ThatEndsEarlyIsNamed) {
  if (const auto library = SoundLibrary::shared(); !library) GTEST_SKIP() << "SKIPPED: no libsndfile";
  const int64_t before = peak_of_process();
  for (const std::string& name : kSounds) {
    SCOPED_TRACE(name);
    const SoundBytes whole = sound_bytes(name);
    EXPECT_EQ(decode_some(whole), "");
    size_t errors = 0;
    for (size_t k = 0; k < 200; ++k) {
      const auto length = static_cast<ptrdiff_t>(whole.size() * k / 200);
      const std::string error = decode_some(SoundBytes(whole.begin(), whole.begin() + length));
      errors += error.empty() ? 0 : 1;
      if (!error.empty()) {
        EXPECT_TRUE(error.contains("hostile.sound")) << error;
      }
    }
    EXPECT_GT(errors, 0U);
  }
  EXPECT_LT(peak_of_process() - before, kMostGrowth);
}

TEST(HostileSound, ThatIsDamagedIsNamedOrHeard) {
  if (const auto library = SoundLibrary::shared(); !library) GTEST_SKIP() << "SKIPPED: no libsndfile";
  const int64_t before = peak_of_process();
  for (const std::string& name : kSounds) {
    SCOPED_TRACE(name);
    const SoundBytes whole = sound_bytes(name);
    size_t errors = 0;
    for (int64_t k = 0, count = testing::scaled(2000, 50); k < count; ++k) {
      SCOPED_TRACE(k);
      const std::string error = decode_some(testing::Damager(static_cast<uint32_t>(k)).damaged(whole));
      errors += error.empty() ? 0 : 1;
      if (!error.empty()) {
        EXPECT_TRUE(error.contains("hostile.sound")) << error;
      }
    }
    EXPECT_GT(errors, 0U);
  }
  EXPECT_LT(peak_of_process() - before, kMostGrowth);
}

}  // namespace
}  // namespace galatea::native
