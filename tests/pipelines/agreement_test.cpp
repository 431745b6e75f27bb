// Random pipelines give the same bits fused and not, compiled and interpreted, with any number of threads.
//
// GALATEA_FUZZ_PIPELINES sets their number and GALATEA_FUZZ_SEED the first seed (./dev fuzz pipelines). What
// fails is made smaller and left in the folder that GALATEA_FUZZ_FOUND names, from where it goes to kept/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "tests/pipelines/pipeline_generator.h"
#include "tests/pipelines/shrink.h"
#include "tests/pipelines/ways.h"
#include "tests/support/cases.h"
#include "tests/support/product.h"

namespace galatea::testing {
namespace {
namespace fs = std::filesystem;

int number_setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

void keep(const std::string& text, uint64_t seed, const std::string& words) {
  const char* folder = std::getenv("GALATEA_FUZZ_FOUND");
  if (folder == nullptr) return;
  fs::create_directories(folder);
  std::string note = words.substr(0, words.find('\n'));
  std::ofstream(fs::path(folder) / fmt::format("{}.dali-dsl", seed))
      << "# seed " << seed << ": " << note << "\n"
      << text;
}

void check_seed(uint64_t seed, int* ran) {
  PipelineGenerator generator({seed, seed});
  GeneratedPipeline pipeline = generator.make();
  const auto [words, all_ran] = look_at(pipeline.text(), seed);
  *ran += all_ran ? 1 : 0;
  if (words.empty()) return;
  // A text that is no pipeline is the generator's fault: shrinking it would only find other ones.
  if (!words.starts_with("refused"))
    pipeline = shrink(std::move(pipeline), [&](const std::string& text) {
      const std::string now = look_at(text, seed).fault;
      return !now.empty() && !now.starts_with("refused");
    });
  keep(pipeline.text(), seed, words);
  ADD_FAILURE() << "seed " << seed << ": " << words << "\n" << pipeline.text();
}

class RandomPipelines : public ::testing::TestWithParam<int> {};

// In parts, so that they run side by side.
constexpr int kParts = 4;

TEST_P(RandomPipelines, GiveTheSameBitsInEveryWay) {
  const int number =
      number_setting("GALATEA_FUZZ_PIPELINES", static_cast<int>(cases(520 / kParts, 4)) * kParts);
  const auto first = static_cast<uint64_t>(number_setting("GALATEA_FUZZ_SEED", 1));
  int ran = 0, made = 0;
  for (int i = GetParam(); i < number; i += kParts, ++made)
    check_seed(first + static_cast<uint64_t>(i), &ran);
  // A pipeline in which some sample fails shows little.
  EXPECT_GE(ran * 10, made * 9);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomPipelines, ::testing::Range(0, kParts));

TEST(KeptPipelines, GiveTheSameBitsInEveryWay) {
  const auto seeds = static_cast<uint64_t>(scaled(4));
  int number = 0;
  for (const auto& entry : fs::directory_iterator(GALATEA_KEPT_PIPELINES)) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const uint64_t seed = std::strtoull(entry.path().stem().c_str(), nullptr, 10);
    for (uint64_t s = 0; s < seeds; ++s) EXPECT_EQ(look_at(text.str(), seed + s).fault, "") << entry.path();
    ++number;
  }
  EXPECT_GT(number, 0);
}

/// A new operator on images must be among those that pipelines are made of.
TEST(PipelineGenerator, KnowsEveryOperatorOnImages) {
  const std::map<std::string, std::set<std::string>> left_out = {
      {"a part of an operator that is called, which stands for it in texts",
       {"batch.count",
        "batch.mean",
        "batch.total",
        "normalize.batch",
        "normalize.given",
        "normalize.squares",
        "random.choice.weighted",
        "erase.boxes",
        "sequence_rearrange.given",
        "mixup.blend",
        "cutmix.paste",
        "mosaic.partners",
        "mosaic.tiles",
        "multi_paste.counted",
        "multi_paste.source",
        "roi_align.reach",
        "roi_align.bins",
        "roi_align.samples",
        "segmentation.object_of_lists",
        "ssd_random_crop.cut",
        "ssd_random_crop.window"}},
      {"made by passes, of resizes and of warps", {"composed_resize", "composed_warp"}},
      {"written by the language, not called: x[…], galatea.pixel, an input, a choice, a move",
       {"external_source", "index", "pixel", "bundle", "select", "stored", "to_cpu", "to_gpu"}},
      {"gives names of files or layouts as bytes: sample_arguments_test", {"get_property"}},
      {"works on encoded bytes, which the generator has none of: arrays_test, orientation_test",
       {"decoders.numpy", "decoders.inflate", "inflate_chunks", "numpy_part",
        "galatea.peek_image_orientation"}},
      {"works on vertices and their polygons, no image: boxes_test", {"segmentation.select_masks"}},
      {"reads files: readers_test",
       {"experimental.readers.fits", "io.file.read", "readers.caffe", "readers.caffe2", "readers.coco",
        "readers.file", "readers.mxnet", "readers.nemo_asr", "readers.numpy", "readers.numpy_names",
        "readers.sequence", "readers.tfrecord", "readers.webdataset"}},
      {"reads films: video_test",
       {"decoders.video", "experimental.readers.video", "readers.video", "readers.video_clips",
        "readers.video_resize", "video_clip", "video_sample", "inputs.video", "inputs.video.film",
        "inputs.video.sequence"}},
      {"works on files of sound: dali_test",
       {"decoders.audio", "decoded_sound", "rate_of_sound", "sound_at_rate"}},
      {"works on waveforms, and gives other lengths: waveform_test", {"audio_resample", "nonsilent_region"}},
      {"works on waveforms and spectra: kept/sound.dali-dsl",
       {"galatea.spec_augment", "mel_filter_bank", "mfcc", "power_spectrum", "preemphasis_filter",
        "spectrogram", "to_decibels"}},
  };
  std::set<std::string> without;
  for (const auto& [reason, names] : left_out) {
    for (const std::string& name : names) {
      EXPECT_NE(product().registry.find(name), nullptr) << name << " is no operator (" << reason << ")";
      EXPECT_TRUE(without.insert(name).second) << name << " has two reasons";
    }
  }
  const std::vector<std::string> used = PipelineGenerator::operators();
  std::map<std::string, int> in_texts;
  int pixel_functions = 0;
  std::map<std::string, int> presets;
  for (uint64_t seed = 1; seed <= 1600; ++seed) {
    const std::string text = PipelineGenerator({seed, seed}).make().text();
    for (const std::string& name : used)
      if (text.find("fn." + name + "(") != std::string::npos) ++in_texts[name];
    pixel_functions += text.find("galatea.pixel(") != std::string::npos ? 1 : 0;
    for (const char* peer : {"pil", "torchvision", "opencv"})
      presets[peer] += text.find(fmt::format("compat=\"{}\"", peer)) != std::string::npos ? 1 : 0;
  }
  for (const auto& op : product().registry.all()) {
    if (op->name.starts_with("arith.") || op->name.starts_with("math.") || without.contains(op->name) ||
        op->name.starts_with("together.") || op->name.ends_with(".places") ||  // together_test
        op->name == "cuda_kernel")                                             // own_kernels_test
      continue;
    EXPECT_NE(std::find(used.begin(), used.end(), op->name), used.end())
        << op->name << ": let tests/pipelines/pipeline_generator.cpp call it";
  }
  for (const std::string& name : used) EXPECT_GT(in_texts[name], 2) << name;
  EXPECT_GT(pixel_functions, 20);
  for (const auto& [peer, number] : presets) EXPECT_GT(number, 20) << peer;
}

}  // namespace
}  // namespace galatea::testing
