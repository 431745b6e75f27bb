// What fails in an arm of which only the GPU knows whether a sample takes it: nobody waits while nothing
// fails, an error is the one that the CPU gives, and who goes the other way has none.
#include <array>

#include "tests/gpu/gpu_runs.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

/// Batches of four files, in the order of the folder; `options` of the pipeline.
std::string arms(const std::string& rest, const std::string& options = "") {
  return replaced(of_images(rest), "seed=42", "seed=42, enable_conditionals=True" + options);
}

class GpuArms : public GpuRuns {
 protected:
  static constexpr int kBatches = 8;

  PipelineOutcome on_cpu(const std::string& text) {
    return run_pipeline(text, 11, {"stages, unfused", judge_.get(), false, false, 1, {}, kBatches}, data());
  }
  PipelineOutcome on_gpu(const std::string& text, int threads, SelectorForm form) {
    device_.reset();
    return run_pipeline(
        text, 11,
        {"gpu", loops_.get(), true, true, threads, target(choice_, LaunchForm::kAuto, form), kBatches},
        data());
  }
  /// The same bits or the same words. `doubts`: batches that wait for a flag, beside the wait at the end that
  /// brings outputs to the host; -1: some do. An error ends a run.
  void expect_recorded(const std::string& text, size_t recorded, int64_t doubts) {
    SCOPED_TRACE(text);
    const PipelineOutcome wanted = on_cpu(text);
    ASSERT_EQ(wanted.staging, "");
    for (const int threads : {1, 3}) {
      const PipelineOutcome found = on_gpu(text, threads, SelectorForm::kAuto);
      EXPECT_EQ(difference(wanted, found), "");
      EXPECT_EQ(wanted.error, found.error);
      EXPECT_EQ(device_.errors(), "");
      ASSERT_TRUE(found.program);
      EXPECT_EQ(count_arms(*found.program), recorded) << plan::to_text(plan_for_gpu(text).report.device);
      // Other threads work ahead, and what a device has done by itself is not waited for.
      if (!wanted.error.empty() || threads > 1 || !device_.is_fake()) continue;
      if (doubts < 0) {
        EXPECT_GT(found.device.waits, kBatches);
      } else {
        EXPECT_EQ(found.device.waits, kBatches + doubts);
      }
    }
    const PipelineOutcome waiting = on_gpu(text, 2, SelectorForm::kWait);
    EXPECT_EQ(difference(wanted, waiting), "");
    EXPECT_EQ(wanted.error, waiting.error);
  }
};

const char* const kBlur = "        image = fn.gaussian_blur(image, sigma=sigma, window_size=5)\n";

TEST_F(GpuArms, NobodyWaitsForChecksThatHold) {
  // Nothing proves it: the CPU makes the sigma of pixels.
  expect_recorded(
      arms("    sigma = fn.reductions.mean(fn.decoders.image(encoded, output_type=types.GRAY)) / 64.0\n"
           "    if fn.reductions.mean(image) > 120.0:\n" +
           std::string(kBlur) + "    return image, sigma\n"),
      1, 0);
}

TEST_F(GpuArms, WhoGoesTheOtherWayHasNoError) {
  expect_recorded(arms("    sigma = fn.random.uniform(range=[-1.0, 3.0])\n"
                       "    if fn.reductions.max(image) < 3:\n" +
                       std::string(kBlur) +
                       "    else:\n"
                       "        image = fn.hue(image, hue=sigma)\n"
                       "    image = fn.equalize(image)\n"
                       "    return image, sigma\n"),
                  1, -1);
}

TEST_F(GpuArms, WhoTakesTheArmHasTheErrorOfTheCpu) {
  const std::string text = arms(
      "    sigma = fn.random.uniform(range=[-1.0, 3.0])\n"
      "    if fn.reductions.max(image) < 3:\n"
      "        image = fn.hue(image, hue=sigma)\n"
      "    else:\n" +
      std::string(kBlur) + "    return image, sigma\n");
  expect_recorded(text, 1, 0);
  EXPECT_NE(on_gpu(text, 1, SelectorForm::kAuto).error.find("sigma must not be negative"), std::string::npos);
}

/// The flag of an inner arm is never written where the outer one is not taken.
TEST_F(GpuArms, FlagsWithinArms) {
  for (const char* const outer : {"<", ">"})
    for (const char* const inner : {"<", ">"})
      expect_recorded(arms("    sigma = fn.random.uniform(range=[-1.0, 3.0])\n"
                           "    before = fn.equalize(image)\n"
                           "    if fn.reductions.max(image) " +
                           std::string(outer) +
                           " 3:\n"
                           "        image = fn.brightness(image, brightness=1.25)\n"
                           "        if fn.reductions.max(image) " +
                           inner +
                           " 3:\n"
                           "            image = fn.gaussian_blur(image, sigma=sigma, window_size=5)\n"
                           "            image = fn.equalize(image)\n"
                           "        else:\n"
                           "            image = fn.contrast(image, contrast=1.5)\n"
                           "    return image, before, sigma\n"),
                      2, *outer == '>' && *inner == '>' ? 0 : -1);
}

/// Both arms fail for some samples, of which each takes one.
TEST_F(GpuArms, BothArmsMayFail) {
  expect_recorded(arms("    sigma = fn.random.uniform(range=[-1.0, 3.0])\n"
                       "    if fn.reductions.mean(image) > 1000.0:\n" +
                       std::string(kBlur) +
                       "    elif fn.reductions.mean(image) > 2000.0:\n"
                       "        image = fn.gaussian_blur(image, sigma=1.0 - sigma, window_size=3)\n"
                       "    return image, sigma\n"),
                  2, -1);
}

TEST_F(GpuArms, DivisionsAndChoicesOfTheHost) {
  expect_recorded(arms("    if fn.reductions.max(image) < 3:\n"
                       "        image = fn.brightness(image, brightness=7 // label[0])\n"
                       "    return image, label\n"),
                  1, -1);
  const std::string failing = arms(
      "    if fn.reductions.max(image) > 3:\n"
      "        image = fn.brightness(image, brightness=7 // label[0])\n"
      "    return image, label\n");
  expect_recorded(failing, 1, 0);
  EXPECT_NE(on_gpu(failing, 1, SelectorForm::kAuto).error.find("zero"), std::string::npos);
  const std::string choice =
      with_select(arms("    def dark(x):\n"
                       "        return fn.brightness(x, brightness=0.5)\n"
                       "    if fn.reductions.max(image) < 3:\n"
                       "        image = select([dark, fn.equalize], 5 * label[0], image)\n"
                       "    return image, label\n"));
  expect_recorded(choice, 1, -1);
}

/// An index that the GPU makes, and that is none of an arm: nobody waits for it, and the sample's error comes
/// behind its batch, at the place where the CPU has it.
TEST_F(GpuArms, AnIndexOutOfRange) {
  const auto text = [](const std::string& index, const std::string& options) {
    return with_select(
        arms("    corner = fn.crop(image, crop=[4, 4], crop_pos_x=0.0, crop_pos_y=0.0)\n"
             "    mean = fn.reductions.mean(corner)\n"
             "    index = " +
                 index +
                 "\n"
                 "    image = select([fn.equalize, lambda x: fn.hue(x, hue=45.0)], index, image)\n"
                 "    return image, label\n",
             options));
  };
  for (const std::string index :
       {"fn.cast(mean / 60.0, dtype=types.INT32) - 1", "fn.cast(mean / 20.0, dtype=types.UINT8)",
        "(fn.cast(mean / 60.0, dtype=types.INT64) - 1) * 65536 * 65536"}) {
    const std::string raising = text(index, "");
    const PipelineOutcome wanted = on_cpu(raising);
    SCOPED_TRACE(raising);
    ASSERT_NE(wanted.error.find("but there are 2 arms"), std::string::npos) << wanted.error;
    for (const int threads : {1, 3}) {
      const PipelineOutcome found = on_gpu(raising, threads, SelectorForm::kAuto);
      EXPECT_NE(found.error.find("the selector is negative or too large, but there are 2 arms"),
                std::string::npos)
          << found.error;
      // All but the number, which stays there.
      EXPECT_EQ(found.error.substr(found.error.find('\n')), wanted.error.substr(wanted.error.find('\n')));
      EXPECT_EQ(device_.errors(), "");
      ASSERT_TRUE(found.program);
      EXPECT_EQ(count_arms(*found.program), 1U);
    }
    for (const std::string policy : {"skip", "replace"}) {
      const std::string going_on = text(index, ", on_error=\"" + policy + "\"");
      const PipelineOutcome expected = on_cpu(going_on), found = on_gpu(going_on, 2, SelectorForm::kAuto);
      EXPECT_EQ(difference(expected, found), "") << expected.error << found.error;
      EXPECT_EQ(device_.errors(), "");
    }
  }
}

/// An index is looked at, however few functions there are and however little they do, unless all it can be is
/// one of them.
TEST_F(GpuArms, AChoiceOfOneLooksAtItsIndex) {
  const auto text = [](const std::string& functions, const std::string& index) {
    return with_select(
        arms("    return select([" + functions + "], " + index + ", fn.equalize(image)), label\n"));
  };
  const PipelineWay cpu{"loops", loops_.get(), true, true, 1, {}, kBatches};
  for (const std::string functions : {"fn.equalize", "lambda x: x", "lambda x: x, lambda x: x"}) {
    const std::string outside = text(functions, "label[0] + 2");
    for (const PipelineOutcome& found :
         {run_pipeline(outside, 11, cpu, data()), on_gpu(outside, 2, SelectorForm::kAuto)})
      EXPECT_NE(found.error.find("the selector is 2, but there are "), std::string::npos)
          << outside << found.error;
  }
  const PipelineOutcome drawn =
      run_pipeline(text("lambda x: x, lambda x: x", "fn.random.choice(2)"), 11, cpu, data());
  EXPECT_EQ(drawn.error, "");
  ASSERT_TRUE(drawn.program);
  EXPECT_EQ(std::ranges::count(drawn.program->code, runtime::Opcode::kSwitch, &runtime::Instruction::op), 0);
}

TEST_F(GpuArms, OnErrorSkipAndReplace) {
  for (const std::string policy : {"skip", "replace"}) {
    const auto text = [&](const char* comparison) {
      return arms(
          "    sigma = fn.random.uniform(range=[-1.0, 3.0])\n"
          "    if fn.reductions.max(image) " +
              std::string(comparison) + " 3:\n" + kBlur + "    return image, sigma\n",
          ", on_error=\"" + policy + "\"");
    };
    // A sample that is skipped does not go on, so that none waits again.
    expect_recorded(text(">"), 1, policy == "skip" ? 0 : -1);
    expect_recorded(text("<"), 1, -1);
  }
}

/// One batch of a program that is compiled once, with one branch.
class GpuArmsOfOneBatch : public GpuOneBatch {
 protected:
  void make(const std::string& rest, bool outputs_on_cpu) {
    GpuOneBatch::make(arms(rest), outputs_on_cpu);
    ASSERT_TRUE(program_);
    ASSERT_EQ(count_arms(*program_), 1U);
  }
};

std::string blur_of_dark(const std::string& least) {
  return "    sigma = fn.random.uniform(range=[" + least +
         ", 3.0])\n"
         "    if fn.reductions.max(image) < 3:\n" +
         kBlur + "    return image\n";
}

/// Outputs that stay on the GPU: the host waits for nothing at all while checks hold.
TEST_F(GpuArmsOfOneBatch, SynchronisationsAreCounted) {
  // The bound is drawn, too, so that nothing proves that the first never fails.
  make(replaced(blur_of_dark("0.0"), "sigma=sigma", "sigma=sigma * fn.random.uniform(range=[-1e-9, 1.0])"),
       false);
  device_.reset();
  const Outcome holds = run();
  EXPECT_EQ(holds.error, "");
  make(blur_of_dark("-40.0"), false);
  device_.reset();
  const Outcome fails = run();
  EXPECT_EQ(fails.error, "");
  EXPECT_EQ(holds.waits, 0);
  EXPECT_EQ(fails.waits, 1);
  if (!device_.is_fake()) return;
  EXPECT_EQ(fails.synchronizations, holds.synchronizations + 1);
}

/// The right bits or an error, whatever fails on the way; nothing is left behind.
TEST_F(GpuArmsOfOneBatch, EveryCallFailsOnce) {
  if (!device_.is_fake()) GTEST_SKIP() << "a device does not fail when told to";
  make(blur_of_dark("-40.0"), true);
  device_.reset();
  const Outcome right = run();
  ASSERT_EQ(right.error, "");
  ASSERT_EQ(right.waits, 2);
  const int64_t calls = device_.counters().calls;
  int64_t tried = 0, errors = 0;
  const std::array codes = {runtime::cuda::code::kOutOfMemory, runtime::cuda::code::kIllegalAddress};
  for (size_t c = 0; c < codes.size(); ++c)
    for (int64_t call = 1; call <= calls; ++call) {
      if (!takes_turn(call, c, codes.size())) continue;
      ++tried;
      SCOPED_TRACE(call);
      device_.fail(call, codes[c]);
      const Outcome found = run();
      device_.fail(0, 0);
      if (found.error.empty()) {
        EXPECT_EQ(found.bytes, right.bytes);
      }
      errors += found.error.empty() ? 0 : 1;
      ASSERT_EQ(device_.errors(), "");
      expect_nothing_lives(device_.counters(), "");
    }
  // What is done behind the result has no error to give.
  EXPECT_GT(errors * 4 * calls, right.calls * tried);
}

}  // namespace
}  // namespace galatea::testing
