// Sequences of images: which frames they consist of, and what becomes of frames that do not fit.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/fault.h"
#include "stdlib_ops/native/image_sequence.h"
#include "tests/readers/run_text.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;
using native::SequencePlace;

const fs::path kFrames = fs::path(GALATEA_SOURCE_DIR) / "tests/readers/recorded/frames";

TEST(Sequences, AreWholeAndWithinAFolder) {
  EXPECT_EQ(native::sequences_in({3, 0, 2}, 2, 1, 1), (std::vector<SequencePlace>{{0, 0}, {0, 1}, {2, 0}}));
  EXPECT_EQ(native::sequences_in({7}, 3, 2, 2), (std::vector<SequencePlace>{{0, 0}, {0, 2}}));
  EXPECT_EQ(native::sequences_in({2, 1}, 1, 5, 9), (std::vector<SequencePlace>{{0, 0}, {1, 0}}));
  EXPECT_EQ(native::sequences_in({5}, 1'000'000, 1, 1'000'000), std::vector<SequencePlace>());
}

/// Frames in grey are what decoders.image makes of the files; DALI truncates where that rounds.
TEST(Sequences, FramesAreThoseOfTheDecoder) {
  const std::string root = kFrames.string();
  const TextRun whole = run_text(
      "return fn.readers.sequence(file_root=\"" + root + "\", sequence_length=2, image_type=types.GRAY)",
      "batch_size=1");
  const TextRun single = run_text("x, _ = fn.readers.file(file_root=\"" + root +
                                      "\", files=[\"a/000.png\", \"a/001.png\"])\n"
                                      "return fn.decoders.image(x, output_type=types.GRAY)",
                                  "batch_size=2");
  ASSERT_EQ(whole.errors, std::vector<std::string>());
  ASSERT_EQ(single.errors, std::vector<std::string>());
  const runtime::Tensor& frames = whole.batch->outputs[0].samples[0];
  ASSERT_EQ(std::vector<int64_t>(frames.extents, frames.extents + frames.ndim),
            (std::vector<int64_t>{2, 2, 3, 1}));
  for (size_t k = 0; k < 2; ++k)
    EXPECT_EQ(std::memcmp(frames.data + 6 * k, single.batch->outputs[0].samples[k].data, 6), 0) << k;
}

std::string sequence_error(const std::string& arguments, const std::string& options = "batch_size=1") {
  const TextRun run = run_text("return fn.readers.sequence(" + arguments + ")", options);
  return run.errors.empty() ? "" : run.errors.front();
}

TEST(Sequences, SayWhatIsWrongWithACall) {
  const std::string root = "file_root=\"" + kFrames.string() + "\"";
  EXPECT_EQ(sequence_error(root + ", sequence_length=0"), "G0460 fn.readers.sequence: sequence_length is 0");
  EXPECT_EQ(sequence_error(root + ", sequence_length=2, step=-1"), "G0460 fn.readers.sequence: step is -1");
  EXPECT_EQ(sequence_error(root + ", sequence_length=2, stride=0"), "G0460 fn.readers.sequence: stride is 0");
  EXPECT_EQ(sequence_error("file_root=\"\", sequence_length=2"),
            "G0460 fn.readers.sequence: file_root is an empty string");
  EXPECT_EQ(
      sequence_error(root + ", sequence_length=7"),
      "G0801 no sequence of 7 frames in the folders of " + kFrames.string() + ", the longest of which has 6");
  EXPECT_EQ(sequence_error("file_root=\"nowhere\", sequence_length=2"),
            "G0801 cannot read the folder nowhere: No such file or directory");
}

TEST(Sequences, AFrameThatDoesNotFitFailsItsSequence) {
  const fs::path root = own_path("sequences");
  fs::remove_all(root);
  fs::create_directories(root / "a");
  for (int k = 0; k < 3; ++k)
    fs::copy_file(kFrames / "a" / "000.png", root / "a" / (std::to_string(k) + ".png"));
  fs::copy_file(kFrames / "b" / "0.bmp", root / "a" / "3.bmp");
  std::ofstream(root / "a" / "4.jpg") << "no image";
  const std::string all = "file_root=\"" + root.string() + "\", sequence_length=2";
  EXPECT_EQ(sequence_error(all + ", step=2"), "");
  const std::string a = (root / "a").string();
  EXPECT_EQ(sequence_error(all + ", step=2", "batch_size=2"),
            "G0802 " + a + "/3.bmp is 3 x 2 x 3, but the first frame of its sequence, " + a +
                "/2.png, is 2 x 3 x 3");
  const std::string damaged = sequence_error(all + ", step=3", "batch_size=2");
  EXPECT_TRUE(damaged.starts_with("G0810 " + a + "/4.jpg: ")) << damaged;
  const TextRun skipped =
      run_text("return fn.readers.sequence(" + all + ")", "batch_size=4, on_error=\"skip\"");
  ASSERT_EQ(skipped.errors, std::vector<std::string>());
  EXPECT_EQ(skipped.batch->outputs[0].samples.size(), 2U);
  fs::remove_all(root);
}

}  // namespace
}  // namespace galatea::testing
