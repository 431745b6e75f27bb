// Recordings of manifests: what DALI reads of them (recorded/, by make_speech.py), at another rate, and what is wrong
// with a manifest.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "stdlib_ops/native/sound/sound_library.h"
#include "tests/readers/recorded_cases.h"
#include "tests/readers/run_text.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

class Speech : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto library = native::SoundLibrary::shared(); !library)
      GTEST_SKIP() << library.error().message();
  }
};

std::string speech(const std::string& arguments) {
  return in_folder("fn.readers.nemo_asr(manifest_filepaths=\"@/speech/mixed.json\"" + arguments + ")");
}

TEST_F(Speech, IsReadAsDaliReadsIt) { expect_as_recorded("speech.json", 10); }

/// The reader at another rate is the decoder at that rate; the rate it tells stays the file's.
TEST_F(Speech, AtAnotherRateIsThatOfTheDecoder) {
  const TextRun read = run_text(
      "sound, rate, text = " + speech(", sample_rate=900") + "\nreturn sound, rate, text", "batch_size=1");
  const TextRun decoded =
      run_text(in_folder("data, _ = fn.readers.file(files=[\"@/speech/mono.wav\"])\n"
                         "sound, rate = fn.decoders.audio(data, downmix=True, sample_rate=900)\n"
                         "return fn.slice(sound, start=[0], shape=[162], axes=[0]), rate"),
               "batch_size=1");
  ASSERT_EQ(read.errors, std::vector<std::string>());
  ASSERT_EQ(decoded.errors, std::vector<std::string>());
  const runtime::Tensor &ours = read.batch->outputs[0].samples[0],
                        &theirs = decoded.batch->outputs[0].samples[0];
  // 0.18 s are 396 frames, of which the decoder knows 4 more: the last outputs of the reader see less.
  ASSERT_EQ(ours.extents[0], 162);
  EXPECT_EQ(std::memcmp(ours.data, theirs.data, 150 * sizeof(float)), 0);
  EXPECT_EQ(*reinterpret_cast<const float*>(read.batch->outputs[1].samples[0].data), 2205);
  EXPECT_EQ(*reinterpret_cast<const float*>(decoded.batch->outputs[1].samples[0].data), 900);
  EXPECT_EQ(read.batch->outputs[2].samples[0].extents[0], 6);
}

TEST_F(Speech, AtAnotherRateHasTheOutputsThatAreAskedFor) {
  const TextRun run =
      run_text("sound, index = " +
                   speech(", sample_rate=900, dtype=types.INT16, read_sample_rate=False, read_text=False, "
                          "read_idxs=True") +
                   "\nreturn sound, index",
               "batch_size=2");
  ASSERT_EQ(run.errors, std::vector<std::string>());
  EXPECT_EQ(run.batch->outputs[0].samples[1].dtype, DType::kI16);
  EXPECT_EQ(*reinterpret_cast<const int64_t*>(run.batch->outputs[1].samples[1].data), 1);
}

TEST_F(Speech, SaysWhatIsWrong) {
  const auto error = [](const std::string& arguments) {
    return first_error("sound, _, _ = fn.readers.nemo_asr(" + arguments + ")\nreturn sound");
  };
  EXPECT_EQ(error("manifest_filepaths=[]"), "G0460 fn.readers.nemo_asr: manifest_filepaths names no file");
  EXPECT_EQ(error("manifest_filepaths=\"@/speech/mixed.json\", dtype=types.UINT8"),
            "G0460 fn.readers.nemo_asr: sound cannot be decoded to UINT8");
  EXPECT_EQ(error("manifest_filepaths=\"@/speech/mixed.json\", quality=101"),
            "G0460 fn.readers.nemo_asr: quality is 101");
  EXPECT_EQ(error("manifest_filepaths=\"@/speech/mono.wav\""),
            in_folder("G0801 no recordings in @/speech/mono.wav"));
  EXPECT_TRUE(
      error("manifest_filepaths=\"@/speech/nowhere.json\"").starts_with("G0801 cannot open the manifest"));
}

TEST_F(Speech, OfAManifestThatDoesNotFitFails) {
  const fs::path folder = own_path("speech");
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "noise.wav") << "no sound";
  const auto error = [&](const std::string& line) {
    std::ofstream(folder / "m.json") << line << "\n";
    return first_error("sound, _, _ = fn.readers.nemo_asr(manifest_filepaths=\"" +
                       (folder / "m.json").string() + "\")\nreturn sound");
  };
  EXPECT_EQ(error(R"({"audio_filepath": "noise.wav"})"),
            "G0802 " + (folder / "noise.wav").string() + " is no sound of a known format");
  EXPECT_TRUE(error(in_folder(R"({"audio_filepath": "@/speech/mono.wav", "offset": 2})"))
                  .ends_with("has 400 frames at 2205 Hz, and the manifest's offset is 2 s"));
  EXPECT_TRUE(error(R"({"audio_filepath": "nowhere.wav"})").starts_with("G080"));
  fs::remove_all(folder);
}

/// A recording of 16 bits at 16 kHz.
void write_recording(const fs::path& path, uint32_t samples) {
  std::ofstream out(path, std::ios::binary);
  const auto number = [&](uint32_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) out.put(static_cast<char>(value >> 8 * b));
  };
  out << "RIFF";
  number(36 + samples * 2, 4);
  out << "WAVEfmt ";
  number(16, 4);
  number(1, 2), number(1, 2), number(16000, 4), number(32000, 4), number(2, 2), number(16, 2);
  out << "data";
  number(samples * 2, 4);
  for (uint32_t n = 0; n < samples; ++n) number(n * 37 % 30000, 2);
}

/// Fifteen seconds are 0.48 MB of bytes, 0.96 MB of sound, and 0.48 MB each of logarithms and of output; a copy of the
/// signal or of the bands beside them does not fit. 1.3 MB are as large for any length.
TEST_F(Speech, ToLogMelKeepsTheLogarithmsAlone) {
  if (leaves_single_threads()) GTEST_SKIP() << kSingleThread;
  const fs::path folder = own_path("long_speech");
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_recording(folder / "sound.wav", 15 * 16000);
  const auto errors_within = [&](const std::string& limit) {
    return run_text("data, _ = fn.readers.file(files=[\"" + (folder / "sound.wav").string() +
                        "\"])\nsound, _ = fn.decoders.audio(data, downmix=True)\n"
                        "power = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)\n"
                        "bands = fn.mel_filter_bank(power, sample_rate=16000, nfilter=80)\n"
                        "logs = fn.to_decibels(bands, multiplier=2.302585, reference=1.0, cutoff_db=-80.0)\n"
                        "return fn.normalize(logs, axes=[1])",
                    "batch_size=1, memory_limit=" + limit)
        .errors;
  };
  EXPECT_EQ(errors_within("4250000"), std::vector<std::string>());
  const std::vector<std::string> errors = errors_within("2000000");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(errors[0].starts_with("G0920 ")) << errors[0];
  fs::remove_all(folder);
}

}  // namespace
}  // namespace galatea::testing
