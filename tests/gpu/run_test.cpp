// Pipelines on the fake device (or a real one: test_device.h): the bits of the interpreter, launches merged
// or not, calls in an order that nothing but streams and events gives.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/gpu/gpu_runs.h"
#include "tests/pipelines/each_operator.h"
#include "tests/pipelines/pipeline_generator.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

namespace fs = std::filesystem;

TEST_F(GpuRuns, EveryExample) {
  const char* const given = std::getenv("GALATEA_TEST_EXAMPLES");
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(given ? given : GALATEA_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".dali-dsl") files.insert(entry.path());
  int64_t number = 0;
  for (const fs::path& file : files) {
    ++number;
    if (kSanitized && device_.is_fake() && !takes(file.filename().string())) continue;
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    if (data_of(text.str(), data()).empty()) continue;  // examples_test says so
    SCOPED_TRACE(file.string());
    const int batch_size = batch_size_of_example(text.str());
    // The text as it is, placed by cost, or the same with its images on the GPU in words: one of the two in turn,
    // but for the full scale and a device. Where they are changes nothing: the interpreter runs once for both.
    const PipelineOutcome wanted = expected(text.str(), 11, 1, batch_size);
    const std::string stated =
        replaced(text.str(), "output_type=types.RGB", "output_type=types.RGB, device=\"mixed\"");
    const bool has_both = stated != text.str() && stated.find("blur_by_brightness") == std::string::npos;
    if (!has_both || !device_.is_fake() || takes_turn(number, 0, 2))
      expect_outcome(text.str(), wanted, 1, {LaunchForm::kAuto}, batch_size);
    if (has_both && (!device_.is_fake() || takes_turn(number, 1, 2)))
      expect_outcome(stated, wanted, 1, {LaunchForm::kAuto}, batch_size);
  }
}

std::string policy(const std::string& call) {
  return "from nvidia.dali import pipeline_def, fn, types\n"
         "from nvidia.dali.auto_aug.auto_augment import auto_augment\n"
         "from nvidia.dali.auto_aug.rand_augment import rand_augment\n"
         "from nvidia.dali.auto_aug.trivial_augment import trivial_augment_wide\n\n"
         "@pipeline_def(batch_size=4, num_threads=2, seed=42, enable_conditionals=True)\n"
         "def p(data: str = '.'):\n"
         "    encoded, label = fn.readers.file(file_root=data, random_shuffle=True, name='Reader')\n"
         "    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB, device='mixed')\n"
         "    image = fn.resize(image, size=[24, 24])\n"
         "    image = " +
         call +
         "\n"
         "    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout='CHW',\n"
         "                                     mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375],\n"
         "                                     mirror=fn.random.coin_flip())\n"
         "    return image, label\n";
}

TEST_F(GpuRuns, AutoAugment) { expect_same(policy("auto_augment(image, shape=[24, 24])"), 4); }
TEST_F(GpuRuns, RandAugment) {
  expect_same(policy("rand_augment(image, n=2, m=9)"), 4, {LaunchForm::kMerged, LaunchForm::kSeparate});
}
TEST_F(GpuRuns, TrivialAugment) { expect_same(policy("trivial_augment_wide(image)"), 4); }

/// Photographs of other sizes in each batch, launches of equal grids: those come again, as one call. How soon
/// depends on who works when, but for one thread.
TEST_F(GpuRuns, GraphsOfAPolicy) {
  const std::string text = policy("rand_augment(image, n=2, m=9)");
  constexpr int kBatches = 16;
  PipelineWay way{"stages, unfused", judge_.get(), false, false, 1, {}, kBatches};
  const PipelineOutcome wanted = run_pipeline(text, 11, way, data());
  ASSERT_EQ(wanted.staging + wanted.error, "") << text;
  for (const auto& [threads, graphs] : {std::pair{1, true}, {2, true}, {2, false}}) {
    device_.reset();
    const PipelineOutcome found = run_pipeline(
        text, 11,
        {"gpu", loops_.get(), true, true, threads, target(choice_, LaunchForm::kMerged), kBatches, graphs},
        data());
    EXPECT_EQ(difference(wanted, found), "");
    EXPECT_EQ(device_.errors(), "");
    EXPECT_EQ(found.device.graphs_off, graphs ? "" : "the session's options");
    EXPECT_GE(found.device.graph_commands, 3 * found.device.graph_launches);
    if (threads == 1) {
      EXPECT_GT(found.device.graph_launches, 0);
      EXPECT_GT(found.device.graphs_made, 0);
    }
    if (!graphs) {
      EXPECT_EQ(found.device.graph_launches, 0);
    }
  }
}

/// Sequences made on the GPU, with an argument per frame that the host draws.
TEST_F(GpuRuns, FramesAndArgumentsPerFrame) {
  expect_same(of_images("    small = fn.resize(image, size=[20, 22])\n"
                        "    frames = fn.stack(small, fn.flip(small), axis_name=\"F\")\n"
                        "    angles = fn.random.uniform(range=[-30, 30], shape=[2])\n"
                        "    turned = fn.rotate(frames, angle=fn.per_frame(angles), keep_size=True)\n"
                        "    return fn.crop_mirror_normalize(fn.equalize(turned)), "
                        "fn.gaussian_blur(frames, sigma=1.5), label.gpu()\n"),
              2);
}

TEST_F(GpuRuns, AStatisticOfTheGpuDecidesAFilterThere) {
  expect_same(of_images("    mean = fn.reductions.mean(image)\n"
                        "    blurred = fn.gaussian_blur(image, sigma=mean.cpu() / 64.0 + 0.5)\n"
                        "    return blurred, mean, fn.flip(blurred.cpu()), label.gpu()\n"),
              2);
}

/// Branches on what the GPU computes, of which `recorded` need not wait: the same bits in both forms.
class GpuSelectors : public GpuRuns {
 protected:
  void expect_both(const std::string& rest, size_t recorded) {
    const std::string text =
        with_select(replaced(of_images(rest), "seed=42", "seed=42, enable_conditionals=True"));
    SCOPED_TRACE(text);
    const PipelineOutcome wanted = expected(text);
    ASSERT_EQ(wanted.staging + wanted.error, "");
    for (const SelectorForm form : {SelectorForm::kDevice, SelectorForm::kWait}) {
      const bool waits = form == SelectorForm::kWait;
      device_.reset();
      const GpuTarget gpu = target(choice_, waits ? LaunchForm::kAuto : LaunchForm::kMerged, form);
      const PipelineOutcome found =
          run_pipeline(text, 11, {"gpu", loops_.get(), true, true, waits ? 1 : 2, gpu}, data());
      EXPECT_EQ(difference(wanted, found), "") << (waits ? "waiting" : "not waiting");
      EXPECT_EQ(device_.errors(), "");
      ASSERT_TRUE(found.program);
      EXPECT_EQ(count_arms(*found.program), waits ? 0 : recorded)
          << plan::to_text(plan_for_gpu(text, LaunchForm::kAuto, nullptr, form).report.device);
    }
  }
};

TEST_F(GpuSelectors, NestedArms) {
  expect_both(
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        image = fn.brightness(image, brightness=0.5)\n"
      "        if fn.reductions.max(image) > 100:\n"
      "            image = fn.saturation(image, saturation=0.25)\n"
      "    else:\n"
      "        image = fn.contrast(image, contrast=2.0)\n"
      "    return image, label\n",
      2);
}

TEST_F(GpuSelectors, ArmsOfSeveralCallsThatReuseMemory) {
  // What an arm that is not taken would write must not matter to the other.
  expect_both(
      "    bright = fn.reductions.mean(image) > 120.0\n"
      "    before = fn.gaussian_blur(image, window_size=5)\n"
      "    if bright:\n"
      "        other = fn.equalize(fn.gaussian_blur(before, window_size=3))\n"
      "        both = fn.equalize(fn.gaussian_blur(other, window_size=7))\n"
      "        out = fn.cast(0.5 * both + 0.5 * other, dtype=types.UINT8)\n"
      "    else:\n"
      "        one = fn.equalize(fn.gaussian_blur(image, window_size=9))\n"
      "        two = fn.equalize(fn.gaussian_blur(one, window_size=3))\n"
      "        three = fn.equalize(fn.laplacian(two, window_size=3, dtype=types.UINT8))\n"
      "        out = fn.cast(0.25 * three + 0.5 * one, dtype=types.UINT8)\n"
      "    after = fn.equalize(fn.gaussian_blur(out, window_size=3))\n"
      "    return after, out, before\n",
      1);
}

TEST_F(GpuSelectors, ArmsThatHandOn) {
  expect_both(
      "    before = fn.gaussian_blur(image, window_size=3)\n"
      "    out = before\n"
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        out = fn.flip(before)\n"
      "    late = out\n"
      "    if fn.reductions.max(out) > 200:\n"
      "        late = fn.gaussian_blur(out, window_size=5)\n"
      "    return out, late, before\n",
      2);
}

TEST_F(GpuSelectors, NumbersOfArms) {
  expect_both(
      "    factor, shift = 1.0, 0\n"
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        factor, shift = fn.random.uniform(range=[0.25, 0.5]), 7\n"
      "    elif fn.reductions.max(image) > 250:\n"
      "        factor = fn.reductions.min(image).cpu() / 64.0\n"
      "    image = fn.brightness(image, brightness=factor)\n"
      "    return image, factor + shift, shift\n",
      2);
}

/// A number of the GPU that the host may choose is the host's to know.
TEST_F(GpuSelectors, LazyOperatorsAndChoicesOfTheHost) {
  expect_both(
      "    if fn.reductions.mean(image) > 110.0 and fn.reductions.max(image) > 200:\n"
      "        if fn.random.coin_flip(dtype=types.BOOL):\n"
      "            image = fn.hue(image, hue=30.0)\n"
      "        else:\n"
      "            image = fn.gaussian_blur(image, window_size=3)\n"
      "    if fn.random.coin_flip(dtype=types.BOOL) or not fn.reductions.min(image).cpu() > 3:\n"
      "        image = fn.saturation(image, saturation=3.0)\n"
      "    return image\n",
      3);
}

TEST_F(GpuSelectors, SizesThatTheHostKnows) {
  expect_both(
      "    if fn.random.coin_flip(dtype=types.BOOL):\n"
      "        image = fn.resize(image, size=[20, 30])\n"
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        if fn.random.coin_flip(dtype=types.BOOL):\n"
      "            image = fn.flip(fn.gaussian_blur(image, window_size=3))\n"
      "        image = fn.brightness(image, brightness=0.5)\n"
      "    return fn.crop(image, crop=[8, 8])\n",
      1);
}

/// One branch of as many arms as there are functions: some hand on, some have branches within, one is a
/// number's.
TEST_F(GpuSelectors, ChoicesByAnIndexOfTheGpu) {
  const std::string index =
      "    corner = fn.crop(image, crop=[4, 4], crop_pos_x=0.0, crop_pos_y=0.0)\n"
      "    index = fn.cast(fn.reductions.mean(corner) / 30.0, dtype=types.INT32)\n";
  expect_both(
      index +
          "    out = select([fn.flip, lambda x: x, fn.equalize, lambda x: fn.hue(x, hue=45.0),\n"
          "                  lambda x: fn.gaussian_blur(x, window_size=5), fn.equalize], index, image)\n"
          "    return fn.gaussian_blur(out, window_size=3), index, label\n",
      1);
  expect_both(
      index +
          "    def within(x):\n"
          "        if fn.reductions.max(x) > 250:\n"
          "            return fn.brightness(x, brightness=0.5)\n"
          "        return select([fn.equalize, lambda y: fn.contrast(y, contrast=2.0)],\n"
          "                      fn.cast(fn.reductions.mean(x) > 120, dtype=types.UINT8), x)\n"
          "    def late(x):\n"
          "        return fn.saturation(fn.equalize(x), saturation=0.5)\n"
          "    out = select([within, late, within, late, within, late], index, image)\n"
          "    scale = select([lambda: 1, lambda: 2, lambda: 3, lambda: 4, lambda: 5, lambda: 6], index)\n"
          "    return out, scale, label\n",
      8);
}

TEST_F(GpuSelectors, EarlyReturns) {
  expect_both(
      "    def lighten(image):\n"
      "        if fn.reductions.mean(image) > 130.0:\n"
      "            return image\n"
      "        image = fn.brightness(image, brightness=1.5)\n"
      "        if fn.reductions.mean(image) > 130.0:\n"
      "            return image\n"
      "        return fn.hue(fn.brightness(image, brightness=1.5), hue=45.0)\n"
      "    return lighten(image)\n",
      2);
}

/// Of the image a window is decoded; an arm turns it over in place, however its branch is decided. A copy of
/// all of it would read what was never decoded.
TEST_F(GpuSelectors, ViewsOfWindowsAreNotCopied) {
  const std::string before =
      "    grey = fn.decoders.image(encoded, output_type=types.GRAY, device='mixed')\n";
  const std::string after =
      "        image = fn.flip(image)\n"
      "    out = fn.gaussian_blur(fn.crop(image, crop=[12, 16], crop_pos_x=0.125), window_size=3)\n"
      "    return out, label\n";
  expect_both(before + "    if fn.reductions.mean(grey) > 120.0:\n" + after, 1);
  expect_both(before + "    if fn.random.coin_flip(dtype=types.BOOL):\n" + after, 0);
  // Both: what an arm was given, seen in two ways.
  expect_both(
      before +
          "    if fn.reductions.mean(grey) > 120.0:\n"
          "        turned = fn.flip(image, vertical=1)\n"
          "        if fn.random.coin_flip(dtype=types.BOOL):\n"
          "            turned = fn.slice(turned, 2, 40, axes=[0])\n"
          "        else:\n"
          "            turned = fn.slice(turned, 1, 40, axes=[0])\n"
          "        image = fn.brightness(turned, brightness=0.5)\n"
          "    else:\n"
          "        image = fn.slice(image, 3, 40, axes=[0])\n"
          "    out = fn.gaussian_blur(fn.crop(image, crop=[12, 16], crop_pos_x=0.125), window_size=3)\n"
          "    return out, label\n",
      1);
}

/// What cannot be recorded is waited for, and gives the same bits whatever is asked.
TEST_F(GpuSelectors, ArmsThatNeedTheHost) {
  expect_both(
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        image = fn.resize(image, size=[20, 30])\n"
      "    return image\n",
      0);
  expect_both(
      "    out = image\n"
      "    if fn.reductions.mean(image) > 120.0:\n"
      "        out = fn.gaussian_blur(image, sigma=fn.reductions.max(image).cpu() / 100.0)\n"
      "    if fn.reductions.mean(out) > 100.0:\n"
      "        out = fn.hue(out, hue=45.0)\n"
      "    return out\n",
      1);
}

/// A number of the environment, by which more and other random pipelines are drawn.
uint64_t given(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_F(GpuSelectors, RandomPipelines) {
  const uint64_t count = given("GALATEA_FUZZ_GPU_PIPELINES", static_cast<uint64_t>(cases(30, 3))),
                 first = given("GALATEA_FUZZ_SEED", 1);
  size_t recorded = 0;
  // The first has found a copy of all of an image of which a window was decoded.
  std::vector<uint64_t> seeds = {72};
  for (uint64_t seed = first; seed < first + count; ++seed) seeds.push_back(seed);
  for (const uint64_t seed : seeds) {
    const std::string text = PipelineGenerator({seed, seed + 2000}).with_conditions_of_images().make().text();
    // Behind a window of a small image the rest of it would still be within the memory of the batch.
    const int scale = seed % 2 == 0 ? 12 : 1;
    const PipelineOutcome wanted = expected(text, seed, scale);
    ASSERT_EQ(wanted.staging, "") << text;
    if (!wanted.error.empty()) continue;
    for (const SelectorForm form : {SelectorForm::kDevice, SelectorForm::kAuto, SelectorForm::kWait}) {
      if (form == (seed % 2 == 0 ? SelectorForm::kAuto : SelectorForm::kWait)) continue;
      SCOPED_TRACE(text);
      device_.reset();
      const LaunchForm launches = seed % 3 == 0 ? LaunchForm::kMerged : LaunchForm::kAuto;
      PipelineWay way{"gpu",
                      loops_.get(),
                      seed % 5 != 0,
                      true,
                      1 + static_cast<int>(seed % 3),
                      target(choice_, launches, form)};
      way.scale = scale;
      const PipelineOutcome found = run_pipeline(text, seed, way, {});
      ASSERT_EQ(difference(wanted, found), "") << seed << "\n" << text;
      ASSERT_EQ(device_.errors(), "") << seed << "\n" << text;
      if (found.program && form != SelectorForm::kWait) recorded += count_arms(*found.program);
    }
  }
  EXPECT_GT(recorded, count / 2);
}

TEST_F(GpuRuns, RandomPipelines) {
  const uint64_t count = given("GALATEA_FUZZ_GPU_PIPELINES", static_cast<uint64_t>(cases(60, 4))),
                 first = given("GALATEA_FUZZ_SEED", 1);
  size_t on_gpu = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = PipelineGenerator({seed, seed + 1000}).make().text();
    const PipelineOutcome wanted = expected(text, seed);
    if (!wanted.staging.empty() || !wanted.error.empty()) continue;
    device_.reset();
    const PipelineOutcome found = run_pipeline(
        text, seed,
        {"gpu", loops_.get(), true, true, 1 + static_cast<int>(seed % 3), target(choice_, LaunchForm::kAuto)},
        {});
    ASSERT_EQ(difference(wanted, found), "") << seed << "\n" << text;
    ASSERT_EQ(device_.errors(), "") << seed << "\n" << text;
    on_gpu += found.program && found.program->device >= 0 ? 1 : 0;
  }
  EXPECT_GT(on_gpu, count / 3);
}

/// Every operator on images by itself: what it accepts, degenerate extents, an arm that samples skip.
TEST_F(GpuRuns, EachOperator) {
  const auto count = static_cast<uint64_t>(cases(200, 8));
  constexpr uint64_t kStep = 31;
  size_t on_gpu = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = i * kStep + 7;
    const EachOperator each = each_operator(seed);
    const PipelineOutcome wanted = expected(each.text, seed);
    if (!wanted.staging.empty()) continue;
    device_.reset();
    const PipelineOutcome found = run_pipeline(
        each.text, seed, {"gpu", loops_.get(), true, true, 1, target(choice_, LaunchForm::kAuto)}, {});
    ASSERT_EQ(difference(wanted, found), "") << seed << "\n" << each.text;
    ASSERT_EQ(device_.errors(), "") << seed << "\n" << each.text;
    on_gpu += found.program && found.program->device >= 0 ? 1 : 0;
  }
  EXPECT_GT(on_gpu, count / 3);
}

}  // namespace
}  // namespace galatea::testing
