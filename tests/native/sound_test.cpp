// Sound: what files that the test writes itself decode to, ranges, damage; manifests.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>

#include <gtest/gtest.h>

#include "stdlib_ops/native/bytes.h"
#include "stdlib_ops/native/nemo_source.h"
#include "stdlib_ops/native/sound/sound_file.h"
#include "stdlib_ops/native/sound_functions.h"

namespace galatea::native {
namespace {

/// Whether this machine can decode sound: a test without the library says that it ran nothing.
#define NEEDS_LIBSNDFILE() \
  if (!SoundLibrary::shared()) GTEST_SKIP() << SoundLibrary::shared().error().message()

class WavWriter {
 public:
  template <typename T>
  WavWriter& number(T value) {
    for (size_t byte = 0; byte < sizeof value; ++byte)
      bytes_.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * byte)));
    return *this;
  }
  WavWriter& word(const char* text) {
    bytes_ += text;
    return *this;
  }
  std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A WAV file of 16 bits.
std::string wav(const std::vector<int16_t>& elements, uint16_t channels = 1, uint32_t rate = 16000) {
  const auto size = static_cast<uint32_t>(2 * elements.size());
  WavWriter out;
  out.word("RIFF").number(36 + size).word("WAVEfmt ").number(16U).number(uint16_t{1}).number(channels);
  out.number(rate)
      .number(rate * 2 * channels)
      .number(static_cast<uint16_t>(2 * channels))
      .number(uint16_t{16});
  out.word("data").number(size);
  for (const int16_t element : elements) out.number(element);
  return out.bytes();
}

std::vector<int16_t> ramp(int16_t count) {
  std::vector<int16_t> out;
  for (int16_t n = 0; n < count; ++n) out.push_back(static_cast<int16_t>(n * 257 - 4000));
  return out;
}

auto open_sound(std::string bytes) { return SoundFile::open(bytes_in_memory("the file", std::move(bytes))); }

std::string words_of(const Error& error) { return error.diagnostics.front().message; }

template <typename T>
std::vector<T> decode_frames(SoundFile& file, int64_t begin, int64_t end, DType dtype, bool mono = false) {
  std::vector<T> out(static_cast<size_t>((end - begin) * (mono ? 1 : file.channels())));
  const Status status =
      mono ? file.read_mono(begin, end, dtype, out.data()) : file.read(begin, end, dtype, out.data());
  EXPECT_TRUE(status) << words_of(status.error());
  return out;
}

TEST(Sound, IsWhatTheFileHolds) {
  NEEDS_LIBSNDFILE();
  const std::vector<int16_t> elements = ramp(20);
  auto file = open_sound(wav(elements, 2, 22050));
  ASSERT_TRUE(file) << words_of(file.error());
  EXPECT_EQ((*file)->frames(), 10);
  EXPECT_EQ((*file)->channels(), 2);
  EXPECT_EQ((*file)->rate(), 22050);
  EXPECT_EQ(decode_frames<int16_t>(**file, 0, 10, DType::kI16), elements);
}

TEST(Sound, OfARangeIsPartOfTheWhole) {
  NEEDS_LIBSNDFILE();
  const std::vector<int16_t> elements = ramp(20);
  for (int64_t begin = 0; begin <= 10; ++begin)
    for (int64_t end = begin; end <= 10; ++end) {
      auto file = open_sound(wav(elements, 2));
      ASSERT_TRUE(file);
      const std::vector<int16_t> expected(elements.begin() + 2 * begin, elements.begin() + 2 * end);
      EXPECT_EQ(decode_frames<int16_t>(**file, begin, end, DType::kI16), expected) << begin << " to " << end;
    }
}

TEST(Sound, IsReadAgainFromAnyPlace) {
  NEEDS_LIBSNDFILE();
  const std::vector<int16_t> elements = ramp(20);
  auto file = open_sound(wav(elements));
  ASSERT_TRUE(file);
  for (const auto& [begin, end] : {std::pair{0, 5}, {0, 20}, {20, 20}, {3, 9}, {9, 12}, {0, 1}})
    EXPECT_EQ(decode_frames<int16_t>(**file, begin, end, DType::kI16),
              std::vector<int16_t>(elements.begin() + begin, elements.begin() + end))
        << begin << " to " << end;
}

TEST(Sound, HasFullScaleAtOne) {
  NEEDS_LIBSNDFILE();
  auto file = open_sound(wav({-32768, 0, 16384, 32767}));
  ASSERT_TRUE(file);
  EXPECT_EQ(decode_frames<float>(**file, 0, 4, DType::kF32),
            (std::vector<float>{-1, 0, 0.5F, 32767.0F / 32768}));
  EXPECT_EQ(decode_frames<int32_t>(**open_sound(wav({-32768, 1})), 0, 2, DType::kI32),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), 65536}));
}

TEST(Sound, OfSeveralChannelsBecomesTheirMean) {
  NEEDS_LIBSNDFILE();
  const std::vector<int16_t> elements = {100, 201, -7, 8, 32767, 32767, 0, -32768};
  auto file = open_sound(wav(elements, 2));
  ASSERT_TRUE(file);
  const auto means = decode_frames<float>(**file, 0, 4, DType::kF32, true);
  const auto rounded = decode_frames<int16_t>(**open_sound(wav(elements, 2)), 0, 4, DType::kI16, true);
  for (size_t n = 0; n < 4; ++n) {
    const double mean = (elements[2 * n] + elements[2 * n + 1]) / 65536.0;
    EXPECT_FLOAT_EQ(means[n], static_cast<float>(mean));
    EXPECT_EQ(rounded[n], std::lround(mean * 32767));
  }
}

TEST(Sound, OfALongFileIsDecodedInBlocks) {
  NEEDS_LIBSNDFILE();
  std::vector<int16_t> elements;
  for (int n = 0; n < 100'000; ++n) elements.push_back(static_cast<int16_t>(n * 31));
  auto file = open_sound(wav(elements, 2));
  ASSERT_TRUE(file);
  const auto means = decode_frames<float>(**file, 3, 49'999, DType::kF32, true);
  for (size_t n = 0; n < means.size(); ++n)
    ASSERT_FLOAT_EQ(means[n], (elements[2 * n + 6] + elements[2 * n + 7]) / 65536.0F) << n;
}

// ---- what is no sound, or no longer

TEST(Sound, OfNoFormatIsAnError) {
  NEEDS_LIBSNDFILE();
  for (const std::string bytes : {"", "RI", "hello, world", "GIF89a", "NIST_1A\n   1024\n"}) {
    const auto file = open_sound(bytes);
    ASSERT_FALSE(file) << bytes;
    EXPECT_EQ(words_of(file.error()), "the file is no sound of a known format");
  }
}

TEST(Sound, OfACodecThatNobodyAskedForIsAnError) {
  NEEDS_LIBSNDFILE();
  std::string bytes = wav(ramp(20));
  bytes[20] = 2;  // Microsoft's ADPCM
  EXPECT_FALSE(open_sound(bytes));
}

/// Opens and decodes; what fails must say why.
void try_to_decode(const std::string& bytes) {
  const auto file = open_sound(bytes);
  if (!file) {
    EXPECT_FALSE(words_of(file.error()).empty());
    return;
  }
  ASSERT_LE((*file)->frames() * (*file)->channels(), int64_t{1} << 31);
  if ((*file)->frames() * (*file)->channels() > 1'000'000) return;
  std::vector<float> out(static_cast<size_t>((*file)->frames() * (*file)->channels()));
  const Status status = (*file)->read(0, (*file)->frames(), DType::kF32, out.data());
  EXPECT_TRUE(status || !words_of(status.error()).empty());
}

std::string kept_sound(const std::string& name) {
  std::ifstream in(std::string(GALATEA_SOURCE_DIR) + "/tests/fuzz/corpus/sound/" + name, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_GT(bytes.size(), 2U) << name;
  return bytes.substr(std::min<size_t>(bytes.size(), 2));  // the fuzz target's choice goes first
}

TEST(Sound, DamagedIsAnErrorOrSound) {
  NEEDS_LIBSNDFILE();
  for (const char* name :
       {"tone.wav", "tone.flac", "tone.ogg", "tone.mp3", "tone.aiff", "tone.caf", "tone.w64"}) {
    const std::string whole = kept_sound(name);
    // MP3's library says on stderr what it thinks of each.
    const size_t step = whole.size() > 1000 ? 61 : 1;
    for (size_t size = 0; size < whole.size(); size += step) try_to_decode(whole.substr(0, size));
    for (size_t at = 0; at < whole.size(); at += step)
      for (const int flip : {1, 0x80, 0xFF}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        try_to_decode(changed);
      }
  }
}

TEST(Sound, CutOffFlacIsAnErrorThatSaysSo) {
  NEEDS_LIBSNDFILE();
  const std::string whole = kept_sound("tone.flac");
  auto file = open_sound(whole.substr(0, whole.size() * 2 / 3));
  ASSERT_TRUE(file);
  std::vector<float> out(static_cast<size_t>((*file)->frames()));
  const Status status = (*file)->read(0, (*file)->frames(), DType::kF32, out.data());
  ASSERT_FALSE(status);
  EXPECT_TRUE(words_of(status.error()).contains("frames, but it ends or is damaged before"))
      << words_of(status.error());
}

TEST(Sound, HeadersThatClaimTooMuchAreErrors) {
  NEEDS_LIBSNDFILE();
  std::string flac = kept_sound("tone.flac");
  // STREAMINFO: 36 bits of the number of frames end at byte 26.
  for (size_t at = 22; at < 26; ++at) flac[at] = static_cast<char>(0xFF);
  const auto file = open_sound(flac);
  ASSERT_FALSE(file);
  EXPECT_TRUE(words_of(file.error()).contains("it claims")) << words_of(file.error());
}

TEST(Sound, OfAVariableRateWithoutATagIsAnError) {
  NEEDS_LIBSNDFILE();
  const auto file = open_sound(kept_sound("untagged.mp3"));
  ASSERT_FALSE(file);
  EXPECT_TRUE(words_of(file.error()).starts_with("the file does not say how long it is"))
      << words_of(file.error());
}

TEST(SoundLibrary, SaysWhatToInstallWhereItIsMissing) {
  const auto library = SoundLibrary::open("libsndfile_of_nowhere.so.1");
  if (library) GTEST_SKIP() << "a Python wheel of soundfile is on this machine";
  EXPECT_TRUE(words_of(library.error()).contains("libsndfile_of_nowhere.so.1"));
  EXPECT_TRUE(library.error().diagnostics.front().help.contains("libsndfile1"));
}

// ---- manifests of NeMo

TEST(Manifest, LinesThatNameNoRecordingAreLeftOut) {
  const auto lines = parse_manifest(
      "{\"audio_filepath\": \"a.wav\", \"duration\": 1.5, \"offset\": 0.25, \"text\": \"h\xC3\xA4llo\", \"x\": [1]}\r\n"
      "\nnot json\n[1]\n{\"text\": \"x\"}\n{\"audio_filepath\": 7}\n{\"audio_filepath\": \"b.wav\"}",
      0, 0);
  const std::vector<Utterance> expected = {
      {.path = "a.wav", .offset = 0.25, .duration = 1.5, .text = "h\xC3\xA4llo", .index = 0},
      {.path = "b.wav", .index = 1}};
  EXPECT_EQ(lines, expected);
}

TEST(Manifest, DurationsOutsideTheBoundsAreLeftOut) {
  const std::string text =
      "{\"audio_filepath\": \"a\", \"duration\": 0.7}\n{\"audio_filepath\": \"b\", \"duration\": 2}\n"
      "{\"audio_filepath\": \"c\"}\n";
  EXPECT_EQ(parse_manifest(text, 0, 0).size(), 3U);
  EXPECT_EQ(parse_manifest(text, 1, 0).front().path, "b");
  EXPECT_EQ(parse_manifest(text, 1, 0).front().index, 0);
  EXPECT_EQ(parse_manifest(text, 0, 1).size(), 2U);
  // DALI's bounds are f32: 0.7 is more than 0.7f.
  EXPECT_EQ(parse_manifest(text, 0.1F, 0.7F).size(), 0U);
}

TEST(Manifest, PartsAreRoundedDown) {
  const auto range = [](double offset, double duration) {
    return frames_of({.path = {}, .offset = offset, .duration = duration}, 22050, 22050);
  };
  EXPECT_EQ(range(0, 0.7), (FrameRange{0, 15434}));  // 15434.999…
  EXPECT_EQ(range(0.11111, 0.33333), (FrameRange{2449, 2449 + 7349}));
  EXPECT_EQ(range(0.9, 5), (FrameRange{19845, 22050}));
  EXPECT_EQ(range(0.5, -1), (FrameRange{11025, 22050}));
  EXPECT_EQ(range(-0.5, 0), (FrameRange{0, 0}));
  EXPECT_EQ(range(1e300, 1e300), (FrameRange{22050, 22050}));
}

/// An hour's bytes are claimed twice only where they are copied.
TEST(Sound, ClaimsACopyOfBytesWithGapsAlone) {
  std::vector<uint8_t> bytes(2000);
  const int64_t size = 1000;
  runtime::Tensor tensor;
  tensor.data = bytes.data();
  tensor.set_dense(DType::kU8, {&size, 1});
  for (const runtime::NativeFunction& function : sound_functions()) {
    const int64_t dense = function.working_bytes({&tensor, 1}, {}, nullptr);
    EXPECT_EQ(dense, sound_working_bytes(size)) << function.name;
    runtime::Tensor every_second = tensor;
    every_second.strides[0] = 2;
    EXPECT_EQ(function.working_bytes({&every_second, 1}, {}, nullptr), dense + size) << function.name;
  }
}

}  // namespace
}  // namespace galatea::native
