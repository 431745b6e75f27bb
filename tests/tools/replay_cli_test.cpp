// `galatea trace --replay`: the file that it prints makes the sample that was traced, bit for bit.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/native/sample_folder.h"
#include "tests/pipelines/pipeline_generator.h"
#include "tests/support/build_folder.h"
#include "tests/support/cases.h"
#include "tests/tools/program.h"

namespace {

namespace fs = std::filesystem;
using galatea::testing::build_folder;
using galatea::testing::contains;
using galatea::testing::Outcome;
using galatea::testing::read_file;

std::string photographs() { return build_folder() + "/samples"; }

class Replay : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) const {
    return galatea::testing::run_galatea(std::move(arguments), scratch_.path());
  }
  /// What --replay prints, as a file beside the traced one.
  std::string replay_of(const std::string& file, const std::string& sample,
                        std::vector<std::string> options) {
    options.insert(options.begin(), {"trace", file, "--sample", sample, "--replay"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    text_ = outcome.out;
    return scratch_.write("replay.dali-dsl", outcome.out);
  }
  /// All outputs of each sample of a run, in the order in which they come.
  std::vector<std::string> samples_of(const std::string& file, std::vector<std::string> options) {
    const fs::path saved = scratch_.path() / ("saved" + std::to_string(runs_++));
    options.insert(options.begin(), {"run", file, "--save", saved.string()});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 0) << outcome.err << text_;
    return saved_samples(saved);
  }
  static std::vector<std::string> saved_samples(const fs::path& saved) {
    std::vector<std::string> samples;
    for (int output = 0; fs::exists(saved / ("out" + std::to_string(output))); ++output) {
      std::set<fs::path> files;
      for (const auto& entry : fs::directory_iterator(saved / ("out" + std::to_string(output))))
        files.insert(entry.path());
      samples.resize(files.size());
      size_t k = 0;
      for (const fs::path& path : files) samples[k++] += read_file(path);
    }
    return samples;
  }

  const galatea::testing::ScratchFolder scratch_;
  std::string text_;
  int runs_ = 0;
};

constexpr const char* kEveryForm = R"(from galatea import auto_aug, fn, pipeline_def, types


def jitter(image):
    return fn.brightness(image, brightness=fn.random.uniform(range=(0.7, 1.3)))


@pipeline_def(batch_size=4)
def train(data: str, size=64):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    image = fn.resize(fn.decoders.image(encoded), size=[size, size])
    for _ in range(2):
        image = jitter(image)
    if fn.random.coin_flip(dtype=types.BOOL):
        image = fn.rotate(image, angle=fn.random.uniform(range=(-10.0, 10.0)), keep_size=True)
    else:
        image = fn.hue(image, hue=fn.random.normal(stddev=20.0))
    image = auto_aug.trivial_augment.trivial_augment_wide(image)
    return image, label, fn.random.uniform(range=(0, 1), shape=[2, 3]), fn.random.choice(9)
)";

TEST_F(Replay, DrawsOfLoopsFunctionsArmsAndTheLibraryAreWrittenIn) {
  const std::string file = scratch_.write("train.dali-dsl", kEveryForm);
  const std::vector<std::string> options = {"--set", "data=" + photographs(), "--set", "size=48"};
  std::vector<std::string> seeded = options;
  seeded.insert(seeded.end(), {"--seed", "5"});
  const std::vector<std::string> all = samples_of(file, seeded);
  for (const char* number : {"0", "7", "12"}) {
    const std::string replay = replay_of(file, number, seeded);
    const std::vector<std::string> one = samples_of(replay, {});
    ASSERT_EQ(one.size(), 1u) << text_;
    EXPECT_EQ(std::ranges::count(all, one[0]), 1) << number << "\n" << text_;
    // Nothing is drawn any more: another seed changes nothing.
    EXPECT_EQ(samples_of(replay, {"--seed", "6"}), one) << text_;
  }
}

TEST_F(Replay, EveryExampleMakesTheTracedSample) {
  int number = 0;
  // In the order of their names, not of the folder: which sample is traced is the same on every machine.
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(GALATEA_SOURCE_DIR "/examples")) files.insert(entry.path());
  for (const fs::path& file : files)
    if (file.extension() == ".json") fs::copy(file, scratch_.path());
  for (const fs::path& file : files) {
    const std::string text = file.extension() == ".dali-dsl" ? read_file(file) : "";
    if (text.empty() || contains(text, "external_source")) continue;  // which a host feeds
    if (!galatea::testing::takes(file.filename().string())) continue;
    const std::string data = galatea::testing::data_of(text, photographs());
    if (data.empty()) continue;
    const std::vector<std::string> options = {"--set", "data=" + data};
    SCOPED_TRACE(file);
    const std::vector<std::string> all = samples_of(file, options);
    ASSERT_FALSE(all.empty());
    const std::string sample = std::to_string(static_cast<size_t>(++number) % all.size());
    const std::vector<std::string> one = samples_of(replay_of(file, sample, options), {});
    ASSERT_EQ(one.size(), 1u) << text_;
    EXPECT_EQ(std::ranges::count(all, one[0]), 1) << text_;
  }
}

/// A random pipeline whose pictures come from files. Empty: it sees its batch, of which a trace has one sample.
std::string random_pipeline(uint64_t seed) {
  std::string text = galatea::testing::PipelineGenerator({seed, seed}).make().text();
  for (const char* sees_batch :
       {"permute_batch", "batch_permutation", "mixup", "cutmix", "mosaic", "batch=True", "in_ids", "fn.pad("})
    if (contains(text, sees_batch)) return {};
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("def pipe():", "def pipe(data: str):");
  replace("encoded = fn.external_source(name=\"encoded\", dtype=types.UINT8, ndim=1)",
          "encoded, _ = fn.readers.file(file_root=data)");
  replace("image = fn.external_source(name=\"image\", dtype=types.UINT8, ndim=3, layout=\"HWC\")",
          "image = fn.decoders.image(fn.readers.file(file_root=data)[0])");
  return text;
}

TEST_F(Replay, RandomPipelinesMakeTheTracedSample) {
  const int64_t wanted = galatea::testing::cases(30, 2);
  // Small ones: a pipeline computes and saves all of them.
  const fs::path data = scratch_.path() / "data/objects";
  fs::create_directories(data);
  for (const char* name : {"03_tiny.jpg", "04_plain.bmp", "05_grey_odd.jpg"})
    fs::copy(photographs() + "/objects/" + name, data / name);
  const std::vector<std::string> options = {"--set", "data=" + data.parent_path().string()};
  int64_t replayed = 0;
  for (uint64_t seed = 1; replayed < wanted; ++seed) {
    ASSERT_LT(seed, 20 * static_cast<uint64_t>(wanted)) << "hardly any of them can be run";
    const std::string text = random_pipeline(seed);
    if (text.empty()) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const std::string file = scratch_.write("random.dali-dsl", text);
    // Some refuse photographs, such as those whose windows lie outside.
    const fs::path tried = scratch_.path() / ("tried" + std::to_string(seed));
    std::vector<std::string> run_options = {"run", file, "--save", tried.string()};
    run_options.insert(run_options.end(), options.begin(), options.end());
    if (run(run_options).status != 0) continue;
    const std::vector<std::string> all = saved_samples(tried);
    ASSERT_FALSE(all.empty());
    const size_t sample = seed % all.size();
    const std::vector<std::string> one = samples_of(replay_of(file, std::to_string(sample), options), {});
    ASSERT_EQ(one.size(), 1u) << text_;
    EXPECT_EQ(one[0], all[sample]) << "sample " << sample << "\n" << text_;
    ++replayed;
  }
}

TEST_F(Replay, SaysWhatIsWrongWithNumbersThatAreNotTheDraws) {
  const char* head =
      "from galatea import fn, pipeline_def, replay\n\n\n@pipeline_def(batch_size=1)\ndef p():\n";
  for (const char* body : {"    return replay.with_draws(fn.random.uniform(), [1.0, 2.0])\n",
                           "    return replay.with_draws(fn.random.coin_flip(), 0.5)\n",
                           "    return replay.with_draws()\n", "    return replay.only_sample(1)\n"}) {
    const Outcome outcome = run({"check", scratch_.write("p.dali-dsl", std::string(head) + body)});
    EXPECT_EQ(outcome.status, 1) << body;
    EXPECT_TRUE(contains(outcome.err, "p.dali-dsl:6")) << outcome.err;
  }
}

}  // namespace
