// What a batch costs between decoded bytes on the GPU and the batch there, counted in the plan: launches,
// uploads of parameters, waits. No time is measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/gpu/planned.h"

namespace galatea {
namespace {

using plan::LaunchForm;
using plan::SelectorForm;
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

/// Also where the bounds of the part are the sample's own, so that a node of its own reads it.
TEST(GpuCounts, ArraysThatAreReadForTheGpu) {
  for (const char* start :
       {"roi_start=[1, 2]", "rel_roi_start=fn.random.uniform(range=[0.0, 0.5], shape=[2])"})
    expect_launches(
        std::string(kImports) +
            "@pipeline_def(batch_size=16, num_threads=2, seed=42)\ndef p():\n"
            "    x = fn.readers.numpy(file_root='arrays', dtype=types.FLOAT, ndim=2, device='gpu', " +
            start + ")\n    return x * 2, x\n",
        1);
}

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

/// A branch on what the GPU computes: in `body`, with and without waiting.
void expect_no_wait(const std::string& body, size_t branches, size_t most_launches) {
  SCOPED_TRACE(body);
  const Planned planned = plan_for_gpu(training(body));
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  EXPECT_TRUE(report.waits.empty()) << plan::to_text(report);
  EXPECT_TRUE(report.downloads.empty()) << plan::to_text(report);
  EXPECT_EQ(report.parameter_uploads, 1U) << plan::to_text(report);
  EXPECT_FALSE(report.last_waits);
  EXPECT_LE(report.launches.size(), most_launches) << plan::to_text(report);
  ASSERT_EQ(report.branches.size(), branches) << plan::to_text(report);
  for (const auto& branch : report.branches) EXPECT_FALSE(branch.waits) << plan::to_text(report);
  EXPECT_TRUE(std::any_of(report.launches.begin(), report.launches.end(),
                          [](const auto& launch) { return launch.guarded; }));
  EXPECT_TRUE(runtime::verify(*planned.program));

  const Planned waiting = plan_for_gpu(training(body), LaunchForm::kAuto, nullptr, SelectorForm::kWait);
  ASSERT_TRUE(waiting.program) << waiting.error;
  EXPECT_GE(waiting.report.device.waits.size(), 1U) << plan::to_text(waiting.report.device);
  for (const auto& launch : waiting.report.device.launches) EXPECT_FALSE(launch.guarded);
  for (const auto& branch : waiting.report.device.branches)
    EXPECT_NE(branch.why.find("--selectors wait"), std::string::npos) << branch.why;
}

TEST(GpuCounts, BranchesOnWhatTheGpuComputesAreNotWaitedFor) {
  // The resize; its mean with the comparison; the arms, each with the end of the pipeline.
  expect_no_wait(std::string("    if fn.reductions.mean(image) > 100:\n"
                             "        image = fn.brightness(image, brightness=0.5)\n"
                             "    else:\n"
                             "        image = fn.saturation(image, saturation=2.0)\n") +
                     kNormalize,
                 1, 4);
  // An arm that hands on what it was given; a condition that the host asks for in vain.
  expect_no_wait(
      "    if fn.reductions.mean(image).cpu() > 100:\n"
      "        image = fn.gaussian_blur(image, window_size=5)\n",
      1, 4);
  // Nested, with what the host knows in between.
  expect_no_wait(
      "    if fn.reductions.mean(image) > 100:\n"
      "        if fn.random.coin_flip(dtype=types.BOOL):\n"
      "            image = fn.brightness(image, brightness=0.5)\n"
      "            if fn.reductions.max(image) > 100:\n"
      "                image = fn.saturation(image, saturation=2.0)\n"
      "    else:\n"
      "        image = fn.hue(image, hue=30.0)\n",
      2, 8);
  // Lazy operators are branches; what they give is the next one's condition.
  expect_no_wait(
      "    if fn.reductions.mean(image) > 100 and fn.reductions.max(image) < 250:\n"
      "        image = fn.hue(image, hue=30.0)\n",
      2, 8);
  // A number of the arms that kernels read.
  expect_no_wait(
      "    factor = 1.0\n"
      "    if fn.reductions.mean(image) > 100:\n"
      "        factor = 0.5\n"
      "    image = fn.brightness(image, brightness=factor)\n",
      1, 5);
}

TEST(GpuCounts, WhyABranchIsWaitedFor) {
  const auto expect_why = [](const std::string& body, const std::string& why,
                             SelectorForm form = SelectorForm::kAuto) {
    SCOPED_TRACE(body);
    const Planned planned = plan_for_gpu(training(body), LaunchForm::kAuto, nullptr, form);
    ASSERT_TRUE(planned.program) << planned.error;
    const plan::DeviceReport& report = planned.report.device;
    ASSERT_GE(report.branches.size(), 1U) << plan::to_text(report);
    EXPECT_TRUE(report.branches[0].waits) << plan::to_text(report);
    EXPECT_NE(report.branches[0].why.find(why), std::string::npos) << plan::to_text(report);
    EXPECT_GE(report.waits.size(), 1U) << plan::to_text(report);
    EXPECT_TRUE(runtime::verify(*planned.program));
  };
  const std::string branch = "    if fn.reductions.mean(image) > 100:\n";
  expect_why(branch + "        image = fn.resize(image, size=[200, 200])\n", "different sizes");
  expect_why(branch +
                 "        image = fn.decoders.image(encoded, output_type=types.RGB, device='mixed')\n"
                 "        image = fn.resize(image, size=[224, 224])\n",
             "decoders.image in its arms runs on the CPU");
  expect_why(branch +
                 "        image = fn.gaussian_blur(image, sigma=fn.reductions.max(image).cpu() / 64.0 + "
                 "0.5)\n",
             "gaussian_blur in its arms needs the host: it depends on a value of the GPU");
  expect_why(branch +
                 "        if fn.reductions.max(image) > 10:\n"
                 "            image = fn.resize(image, size=[200, 200])\n"
                 "        image = fn.resize(image, size=[224, 224])\n",
             "a branch within its arms is waited for");
  // A sigma that both arms choose is the host's to know.
  const std::string sigma = "    sigma = 1.0\n" + branch +
                            "        sigma = 2.0\n"
                            "    image = fn.gaussian_blur(image, sigma=sigma)\n";
  expect_why(sigma, "the host needs a number that its arms give");
  // The host has the mean already.
  const std::string known =
      "    mean = fn.reductions.mean(image)\n"
      "    image = fn.gaussian_blur(image, sigma=mean.cpu() / 64.0 + 0.5)\n"
      "    if mean > 100:\n"
      "        image = fn.hue(image, hue=30.0)\n";
  expect_why(known, "the host has what it depends on anyway");
  const Planned forced = plan_for_gpu(training(known), LaunchForm::kAuto, nullptr, SelectorForm::kDevice);
  ASSERT_TRUE(forced.program) << forced.error;
  ASSERT_EQ(forced.report.device.branches.size(), 1U);
  EXPECT_FALSE(forced.report.device.branches[0].waits) << plan::to_text(forced.report.device);
}

/// Which of several functions: one branch of as many arms, each with launches of its own or shared ones.
TEST(GpuCounts, AnIndexOfTheGpuIsNotWaitedFor) {
  const std::string text =
      "from galatea import select\n" +
      training(
          "    index = fn.cast(fn.reductions.mean(image) / 100.0, dtype=types.UINT8)\n"
          "    image = select([fn.flip, lambda x: fn.hue(x, hue=30.0), fn.equalize], index, image)\n");
  const Planned planned = plan_for_gpu(text);
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  ASSERT_EQ(report.branches.size(), 1U) << plan::to_text(report);
  EXPECT_FALSE(report.branches[0].waits) << plan::to_text(report);
  EXPECT_EQ(report.branches[0].arms, 3U);
  EXPECT_TRUE(report.waits.empty()) << plan::to_text(report);
  // Resize, the index, the arms with what follows.
  EXPECT_EQ(report.launches.size(), 3U) << plan::to_text(report);
  EXPECT_NE(plan::to_text(report).find(": all 3 arms are launched, and the GPU leaves all but one out\n"),
            std::string::npos)
      << plan::to_text(report);
  EXPECT_NE(plan::to_json(report).find("\"arms\":3"), std::string::npos) << plan::to_json(report);
  EXPECT_TRUE(runtime::verify(*planned.program));
  EXPECT_NE(runtime::to_text(*planned.program).find(" is 2"), std::string::npos)
      << runtime::to_text(*planned.program);
  const plan::DeviceReport waiting =
      plan_for_gpu(text, LaunchForm::kAuto, nullptr, SelectorForm::kWait).report.device;
  ASSERT_EQ(waiting.branches.size(), 1U);
  EXPECT_TRUE(waiting.branches[0].waits);
  EXPECT_EQ(waiting.waits.size(), 1U) << plan::to_text(waiting);
}

/// One draft names every branch that has to wait.
TEST(GpuCounts, BranchesThatWaitAreFoundAtOnce) {
  std::string body;
  for (int k = 0; k < 64; ++k) {
    body += "    if fn.reductions.mean(image) > " + std::to_string(k) + ":\n";
    // Every fourth need not wait.
    body += k % 4 == 3 ? "        image = fn.hue(image, hue=30.0)\n"
                       : "        image = fn.gaussian_blur(image, window_size=3, sigma=0.5 + "
                         "fn.reductions.max(image).cpu() / 64.0)\n";
  }
  const Planned planned = plan_for_gpu(training(body));
  ASSERT_TRUE(planned.program) << planned.error;
  EXPECT_EQ(planned.report.num_plans, 2);
  const auto& branches = planned.report.device.branches;
  ASSERT_EQ(branches.size(), 64U);
  for (size_t k = 0; k < branches.size(); ++k) {
    EXPECT_EQ(branches[k].waits, k % 4 != 3) << k;
    const std::string why = "gaussian_blur in its arms needs the host: it depends on a value of the GPU";
    EXPECT_EQ(branches[k].why, branches[k].waits ? why : "") << k;
  }
  EXPECT_EQ(plan_for_gpu(training(kNormalize)).report.num_plans, 1);
}

/// A branch that would have to wait only for the number of another one that waits anyway.
TEST(GpuCounts, ABranchWaitsOnlyForWhatIsThenNotKnown) {
  const Planned planned =
      plan_for_gpu(training("    sigma = 1.0\n"
                            "    if fn.reductions.mean(image) > 100:\n"
                            "        sigma = 2.0\n"
                            "    if fn.reductions.max(image) > 100:\n"
                            "        image = fn.gaussian_blur(image, sigma=sigma)\n"));
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  ASSERT_EQ(report.branches.size(), 2U) << plan::to_text(report);
  EXPECT_EQ(report.branches[0].why, "the host needs a number that its arms give");
  EXPECT_FALSE(report.branches[1].waits) << plan::to_text(report);
  EXPECT_EQ(report.waits.size(), 1U) << plan::to_text(report);
}

/// What nothing proves may fail, and only then somebody waits; the report says so.
TEST(GpuCounts, ChecksThatMayFailInArms) {
  const std::string sigma = "    sigma = fn.random.uniform(range=[-1.0, 3.0])\n";
  const std::string branch = "    if fn.reductions.mean(image) > 100:\n";
  const std::string blur = "fn.gaussian_blur(image, sigma=sigma, window_size=5)\n";
  const Planned planned = plan_for_gpu(training(sigma + branch + "        image = " + blur));
  ASSERT_TRUE(planned.program) << planned.error;
  const plan::DeviceReport& report = planned.report.device;
  EXPECT_TRUE(report.waits.empty()) << plan::to_text(report);
  ASSERT_EQ(report.branches.size(), 1U);
  EXPECT_FALSE(report.branches[0].waits);
  EXPECT_EQ(report.branches[0].if_failed, std::vector<std::string>{"gaussian_blur"});
  EXPECT_NE(plan::to_text(report).find(
                "(line 12): both arms are launched, and the GPU leaves one out\n"
                "    a batch waits for it if a sample has values that gaussian_blur cannot take\n"),
            std::string::npos)
      << plan::to_text(report);
  EXPECT_NE(plan::to_json(report).find("\"waits_if_values_fail\":[\"gaussian_blur\"]"), std::string::npos);
  EXPECT_TRUE(runtime::verify(*planned.program));
  // What ranges prove, and what was checked on the way.
  const Planned proven =
      plan_for_gpu(training(branch + "        image = fn.gaussian_blur(image, window_size=5)\n"));
  ASSERT_EQ(proven.report.device.branches.size(), 1U) << proven.error;
  EXPECT_TRUE(proven.report.device.branches[0].if_failed.empty()) << plan::to_text(proven.report.device);
  const Planned checked =
      plan_for_gpu(training(sigma + "    image = " + blur + branch + "        image = " + blur));
  ASSERT_EQ(checked.report.device.branches.size(), 1U) << checked.error;
  EXPECT_TRUE(checked.report.device.branches[0].if_failed.empty()) << plan::to_text(checked.report.device);
}

TEST(GpuCounts, TheReportNamesEachBranch) {
  const std::string text = training(
      "    if fn.reductions.mean(image) > 100:\n"
      "        image = fn.hue(image, hue=30.0)\n"
      "    else:\n"
      "        image = fn.brightness(image, brightness=0.5)\n",
      "    return image\n");
  EXPECT_EQ(
      plan::to_text(plan_for_gpu(text).report.device),
      R"(a batch on the GPU: 4 launches, 1 upload of samples' bytes, 1 upload of descriptors and parameters, 0 downloads, 0 waits inside of the batch
  launch 0: resize (line 10)
    a sample takes as many blocks as its output is worth
  launch 1: reductions.mean+stored (line 11)
    a sample takes as many blocks as its output is worth
    where a phase needs all of another, blocks wait for those of their sample that began before them
  launch 2: hue (line 12)
    one of 2 kernels for different samples, each with blocks for its own
    a sample takes as many blocks as its output is worth
    blocks of an arm that a sample does not take leave at once
  launch 3: brightness (line 14)
    one of 2 kernels for different samples, each with blocks for its own
    a sample takes as many blocks as its output is worth
    blocks of an arm that a sample does not take leave at once
  decoded for the GPU:
    the results of decoders.image_random_crop: where nvJPEG is here it decodes those that suit it; the CPU the others, before they go up (line 9)
      JPEGs of 8 bits in grey or YCbCr, upright, of which enough is read
      by the JPEG engine, where the GPU has one: baseline files of one scan that are 4:4:4 or grey; not those whose chroma it would enlarge its own way, unless hw_decoder_load says so
  uploads (host to GPU), in few copies a batch:
    the result of decoders.image_random_crop: read by resize (line 9)
  branch on a condition of the GPU (line 11): both arms are launched, and the GPU leaves one out
  one call of the driver each, as a CUDA graph, once equal ones have come often: 4 launches
  placement: devices are as the text says
)");
  const std::string waiting =
      plan::to_text(plan_for_gpu(text, LaunchForm::kAuto, nullptr, SelectorForm::kWait).report.device);
  EXPECT_NE(
      waiting.find("branch on a condition of the GPU (line 11): waited for, since conditions of the GPU are "
                   "to be waited for (--selectors wait)\n"),
      std::string::npos)
      << waiting;
  EXPECT_NE(waiting.find("for reductions.mean: if needs the value on the host (line 11)"), std::string::npos);
  EXPECT_EQ(waiting.find("leave at once"), std::string::npos);
}

/// What is cut out behind arms that are launched together is cut out of whole images, and the report says so.
TEST(GpuCounts, WindowsBehindArmsThatAreLaunchedTogether) {
  const auto plan_it = [](const std::string& arm, const std::string& behind, SelectorForm form) {
    Planned planned =
        plan_for_gpu(std::string(kImports) +
                         "@pipeline_def(batch_size=16, num_threads=2, seed=42, enable_conditionals=True)\n"
                         "def p():\n"
                         "    encoded, label = fn.readers.file(file_root='photos', name='Reader')\n"
                         "    grey = fn.decoders.image(encoded, output_type=types.GRAY, device='mixed')\n"
                         "    image = fn.decoders.image(encoded, output_type=types.RGB, device='mixed')\n"
                         "    other = fn.crop(image, crop=[50, 60], crop_pos_x=0.75)\n"
                         "    if fn.reductions.mean(grey) > 100:\n" +
                         arm + "    return " + behind + ", label\n",
                     LaunchForm::kAuto, nullptr, form);
    EXPECT_TRUE(planned.program) << planned.error;
    return planned;
  };
  /// Of how many images windows are decoded: the call's first scalar is the first row.
  const auto windows = [](const Planned& planned) {
    size_t count = 0;
    for (const runtime::Instruction& i : planned.program->code) {
      if (i.op != runtime::Opcode::kCallNative) continue;
      const runtime::NativeCallSpec& call = planned.program->natives[static_cast<size_t>(i.a)];
      count += call.output >= 0 && call.scalars.size() == 4 && call.scalars[0] != call.scalars[1] ? 1 : 0;
    }
    return count;
  };
  const std::string turn = "        image = fn.flip(image)\n", crop = "fn.crop(image, crop=[50, 60])";
  const Planned recorded = plan_it(turn, crop, SelectorForm::kAuto);
  ASSERT_EQ(recorded.report.device.made_whole.size(), 1U) << plan::to_text(recorded.report.device);
  EXPECT_EQ(recorded.report.device.made_whole[0].what, "the result of decoders.image");
  EXPECT_EQ(recorded.report.device.made_whole[0].line, 10U);
  EXPECT_NE(plan::to_text(recorded.report.device).find("made whole:"), std::string::npos);
  EXPECT_NE(plan::to_json(recorded.report.device).find("\"made_whole\""), std::string::npos);
  EXPECT_EQ(windows(recorded), 0U);
  const Planned waiting = plan_it(turn, crop, SelectorForm::kWait);
  EXPECT_TRUE(waiting.report.device.made_whole.empty()) << plan::to_text(waiting.report.device);
  EXPECT_EQ(windows(waiting), 1U);
  // Cut out in the arms, or before them, it is windows as ever.
  const Planned within = plan_it("        other = fn.crop(image, crop=[50, 60], crop_pos_x=0.25)\n", "other",
                                 SelectorForm::kAuto);
  EXPECT_FALSE(within.report.device.branches.at(0).waits) << plan::to_text(within.report.device);
  EXPECT_TRUE(within.report.device.made_whole.empty()) << plan::to_text(within.report.device);
  EXPECT_EQ(windows(within), 1U);
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

/// A condition costs a wait only where the plan waits for it.
TEST(GpuCounts, ConditionsPlacedByCost) {
  const auto plan_it = [](const std::string& arm, SelectorForm form = SelectorForm::kAuto) {
    plan::CostFigures figures;
    figures.wait = 1e9;  // never worth it
    Planned planned = plan_for_gpu(
        "from nvidia.dali import pipeline_def, fn, types\n\n"
        "@pipeline_def(batch_size=16, num_threads=2, seed=42, enable_conditionals=True)\n"
        "def p():\n"
        "    encoded, label = fn.readers.file(file_root='photos', name='Reader')\n"
        "    image = fn.decoders.image(encoded, output_type=types.RGB)\n"
        "    image = fn.gaussian_blur(fn.resize(image, size=[500, 500]), window_size=5)\n"
        "    if fn.reductions.mean(image) > 100:\n"
        "        image = " +
            arm +
            "\n"
            "    return fn.hue(image, hue=40.0)\n",
        LaunchForm::kAuto, nullptr, form, figures);
    EXPECT_TRUE(planned.program) << planned.error;
    EXPECT_TRUE(planned.report.device.waits.empty()) << plan::to_text(planned.report.device);
    return planned;
  };
  const auto kernels_on_cpu = [](const Planned& planned) {
    return std::ranges::count(planned.report.kernels, false, &KernelReport::on_gpu);
  };
  const Planned recorded = plan_it("fn.gaussian_blur(image, window_size=7)");
  EXPECT_EQ(kernels_on_cpu(recorded), 0) << plan::to_text(recorded.report.device);
  ASSERT_EQ(recorded.report.device.branches.size(), 1U);
  EXPECT_FALSE(recorded.report.device.branches[0].waits);
  // Where the host has to ask, the mean is the CPU's, and what it reads.
  const Planned waiting = plan_it("fn.gaussian_blur(image, window_size=7)", SelectorForm::kWait);
  EXPECT_GT(kernels_on_cpu(waiting), 0) << plan::to_text(waiting.report.device);
  EXPECT_TRUE(waiting.report.device.branches.empty());
  // What a draft finds out is weighed as well.
  const Planned asking =
      plan_it("fn.gaussian_blur(image, sigma=0.5 + fn.reductions.max(image).cpu() / 64.0)");
  EXPECT_GT(kernels_on_cpu(asking), 0) << plan::to_text(asking.report.device);
}

/// Which images nvJPEG gets, which of them its engine does, and why no others.
TEST(GpuCounts, ExplainSaysWhatTheJpegEngineDecodes) {
  const auto suited = [](const std::string& args) {
    const Planned planned =
        plan_for_gpu(training("    label = fn.decoders.image(encoded, device='mixed'" + args + ")\n"));
    EXPECT_TRUE(planned.program) << planned.error;
    for (const auto& each : planned.report.device.decodes)
      if (each.what == "the results of decoders.image")
        return fmt::format("{}", fmt::join(each.suited, "; "));
    return std::string("nobody");
  };
  const auto expect = [&](const std::string& args, const std::string& words) {
    const std::string found = suited(args);
    EXPECT_NE(found.find(words), std::string::npos) << args << ": " << found;
  };
  expect("", "4:4:4 or grey; not those whose chroma it would enlarge its own way, unless hw_decoder_load");
  expect("", "in grey or YCbCr, upright, of which");
  expect(", adjust_orientation=False", "in grey or YCbCr, of which");
  expect(", hw_decoder_load=0.65", "but 4:1:1 and 4:1:0 ones, since hw_decoder_load is more than 0");
  expect(", hw_decoder_load=0.0", "none, since hw_decoder_load is 0");
  expect(", dtype=types.FLOAT", "none, since dtype is another than UINT8");
  expect(", output_type=types.YCbCr", "none, since output_type is YCBCR");
}

/// Images that only the GPU reads may be decoded there; the report says so, on any machine.
TEST(GpuCounts, DecodesThatAGpuMayDo) {
  const auto decodes = [](const std::string& body) {
    const Planned planned = plan_for_gpu(training(body));
    EXPECT_TRUE(planned.program) << planned.error;
    return planned.report.device.decodes.size();
  };
  EXPECT_EQ(decodes(""), 1U);
  EXPECT_EQ(decodes(kNormalize), 1U);
  EXPECT_EQ(decodes("    label = fn.reductions.max(fn.decoders.image(encoded, device='mixed').cpu())\n"), 1U);
  const Planned planned = plan_for_gpu(training(kNormalize));
  const plan::DeviceReport& report = planned.report.device;
  EXPECT_EQ(report.decodes[0].what, "the results of decoders.image_random_crop");
  EXPECT_GT(report.decodes[0].line, 0U);
  EXPECT_NE(plan::to_text(report).find("decoded for the GPU:\n    the results of"), std::string::npos)
      << plan::to_text(report);
  ASSERT_EQ(report.decodes[0].suited.size(), 2U);
  EXPECT_NE(plan::to_text(report).find("\n      " + report.decodes[0].suited[1] + "\n"), std::string::npos)
      << plan::to_text(report);
  EXPECT_TRUE(runtime::may_decode_on_device(*planned.program));
  EXPECT_TRUE(runtime::verify(*planned.program));
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
