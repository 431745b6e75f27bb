// What a batch costs between decoded bytes on the GPU and the batch there, counted in the plan: launches,
// uploads of parameters, waits. No time is measured.
#include <algorithm>

#include "tests/gpu/planned.h"

namespace galatea {
namespace {

using plan::LaunchForm;
using testing::plan_for_gpu;
using testing::Planned;

const char* const kImports =
    "from nvidia.dali import pipeline_def, fn, types\n"
    "from nvidia.dali.auto_aug.auto_augment import auto_augment\n"
    "from nvidia.dali.auto_aug.rand_augment import rand_augment\n"
    "from nvidia.dali.auto_aug.trivial_augment import trivial_augment_wide\n\n";

/// Photographs decoded for the GPU and resized there; `body` is what else happens to `image`.
std::string training(const std::string& body, const std::string& end = "    return image, label\n") {
  return std::string(kImports) +
         "@pipeline_def(batch_size=16, num_threads=2, seed=42, enable_conditionals=True)\n"
         "def p():\n"
         "    encoded, label = fn.readers.file(file_root='photos', random_shuffle=True, name='Reader')\n"
         "    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB, device='mixed')\n"
         "    image = fn.resize(image, size=[224, 224])\n" +
         body + end;
}

const char* const kNormalize =
    "    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout='CHW',\n"
    "                                     mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375],\n"
    "                                     mirror=fn.random.coin_flip())\n";

/// One upload of parameters, no wait inside of the batch, none at its end.
void expect_launches(const std::string& text, size_t most, LaunchForm form = LaunchForm::kAuto) {
  const Planned planned = plan_for_gpu(text, form);
  ASSERT_TRUE(planned.program) << planned.error << text;
  const plan::DeviceReport& report = planned.report.device;
  ASSERT_TRUE(report.used);
  EXPECT_GE(report.launches.size(), 1U);
  EXPECT_LE(report.launches.size(), most) << plan::to_text(report);
  EXPECT_EQ(report.parameter_uploads, 1U);
  EXPECT_TRUE(report.waits.empty()) << plan::to_text(report);
  EXPECT_TRUE(report.downloads.empty()) << plan::to_text(report);
  EXPECT_FALSE(report.last_waits);
  EXPECT_TRUE(planned.program->outputs[0].on_device);
}

TEST(GpuCounts, ImagenetTrain) { expect_launches(training(kNormalize), 2); }

TEST(GpuCounts, Conditional) {
  expect_launches(training("    if fn.random.coin_flip(dtype=types.BOOL):\n"
                           "        image = fn.saturation(image, saturation=2.0)\n"
                           "    else:\n"
                           "        edges = fn.laplacian(image, window_size=5)\n"
                           "        image = fn.cast_like(0.5 * image + 0.5 * edges, image)\n"),
                  3);
}

TEST(GpuCounts, AutoAugment) {
  expect_launches(training(std::string("    image = auto_augment(image, shape=[224, 224])\n") + kNormalize),
                  3);
}

TEST(GpuCounts, RandAugmentOfTwo) {
  expect_launches(training(std::string("    image = rand_augment(image, n=2, m=9)\n") + kNormalize), 3);
}

/// The centre of a contrast is made of single elements of a mean, whose number only the data tells.
TEST(GpuCounts, RandAugmentOfPicturesOfAnyChannels) {
  std::string text = training(std::string("    image = rand_augment(image, n=2, m=9)\n") + kNormalize);
  const std::string rgb = "types.RGB";
  text.replace(text.find(rgb), rgb.size(), "types.ANY_DATA");
  expect_launches(text, 3);
}

TEST(GpuCounts, RandAugmentOfThree) {
  expect_launches(training(std::string("    image = rand_augment(image, n=3, m=15)\n") + kNormalize), 4);
}

TEST(GpuCounts, TrivialAugment) {
  expect_launches(training(std::string("    image = trivial_augment_wide(image)\n") + kNormalize), 3);
}

TEST(GpuCounts, FormsOfLaunchesCanBeForced) {
  const std::string text = training(std::string("    image = rand_augment(image, n=2, m=9)\n") + kNormalize);
  const Planned merged = plan_for_gpu(text, LaunchForm::kMerged);
  const Planned separate = plan_for_gpu(text, LaunchForm::kSeparate);
  ASSERT_TRUE(merged.program && separate.program) << merged.error << separate.error;
  EXPECT_LE(merged.report.device.launches.size(), 3U);
  EXPECT_GT(separate.report.device.launches.size(), 10U);
  for (const auto& launch : separate.report.device.launches) EXPECT_EQ(launch.kernels.size(), 1U);
  // The same calls, however they are launched.
  const auto calls = [](const Planned& planned) {
    size_t count = 0;
    for (const auto& launch : planned.report.device.launches) count += launch.sites;
    return count;
  };
  EXPECT_EQ(calls(merged), calls(separate));
  EXPECT_TRUE(runtime::verify(*merged.program));
  EXPECT_TRUE(runtime::verify(*separate.program));
}

/// The dynamic example of the field: a statistic of the GPU decides a filter of the GPU.
TEST(GpuCounts, AStatisticThatTheHostNeedsIsWaitedFor) {
  const Planned planned =
      plan_for_gpu(training("    mean = fn.reductions.mean(image)\n"
                            "    image = fn.gaussian_blur(image, sigma=mean.cpu() / 64.0 + 0.5)\n"));
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  ASSERT_EQ(report.waits.size(), 1U) << plan::to_text(report);
  ASSERT_EQ(report.downloads.size(), 1U) << plan::to_text(report);
  EXPECT_NE(report.waits[0].what.find("reductions.mean"), std::string::npos) << plan::to_text(report);
  EXPECT_NE(report.waits[0].why.find("gaussian_blur"), std::string::npos) << plan::to_text(report);
  EXPECT_FALSE(report.last_waits);
}

/// Where the text names no device, the cost decides, and outputs stay where they are.
TEST(GpuCounts, PlacedByCost) {
  const Planned planned = plan_for_gpu(
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size=16, num_threads=2, seed=42)\n"
      "def p():\n"
      "    encoded, label = fn.readers.file(file_root='photos', random_shuffle=True, name='Reader')\n"
      "    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB)\n"
      "    image = fn.resize(image, size=[224, 224])\n" +
      std::string(kNormalize) + "    return image, fn.cast(label, dtype=types.INT64)\n");
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  ASSERT_TRUE(report.used);
  EXPECT_LE(report.launches.size(), 2U) << plan::to_text(report);
  EXPECT_TRUE(report.waits.empty()) << plan::to_text(report);
  EXPECT_EQ(report.downloads.size(), 1U) << plan::to_text(report);
  EXPECT_TRUE(report.last_waits);
  for (const runtime::OutputSpec& output : planned.program->outputs) EXPECT_FALSE(output.on_device);
}

/// What is not worth its way stays.
TEST(GpuCounts, LittleWorkStaysOnTheCpu) {
  const Planned planned = plan_for_gpu(
      "from nvidia.dali import pipeline_def, fn, types\n\n"
      "@pipeline_def(batch_size=16, seed=42)\n"
      "def p():\n"
      "    x = fn.external_source(name='x', dtype=types.FLOAT, ndim=1)\n"
      "    return x * 2.0\n");
  ASSERT_TRUE(planned.program) << planned.error;
  EXPECT_FALSE(planned.report.device.used);
  EXPECT_EQ(planned.program->device, -1);
}

}  // namespace
}  // namespace galatea
