// Flags of kernels on a GPU: a batch is waited for and looked at only where a division may be by zero.
#include <fmt/format.h>

#include "tests/gpu/gpu_runs.h"

namespace galatea::testing {
namespace {

class GpuFlags : public GpuOneBatch {
 protected:
  /// One batch of four samples, the first of label 0, whose output stays on the GPU.
  Outcome batch_of(const std::string& value) {
    SCOPED_TRACE(value);
    make(of_images("    image = fn.resize(image, size=[20, 24])\n    return " + value + "\n"), false);
    device_.reset();
    return program_ ? run() : Outcome();
  }
  /// Nothing comes back, and nobody waits longer than for a batch that cannot fail.
  void expect_not_looked_at(const std::string& value) {
    SCOPED_TRACE(value);
    const Outcome plain = batch_of("image + 3"), found = batch_of(value);
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.waits, plain.waits);
    EXPECT_EQ(found.synchronizations, plain.synchronizations);
    EXPECT_EQ(found.downloads, 0);
  }
  void expect_looked_at(const std::string& value) {
    SCOPED_TRACE(value);
    const Outcome plain = batch_of("image + 3"), found = batch_of(value);
    EXPECT_EQ(found.error, "");
    if (!device_.is_fake()) return;
    EXPECT_EQ(found.synchronizations, plain.synchronizations + 1);
    EXPECT_EQ(found.downloads, 1);
  }
};

/// A factor that is no number is told where the host has it; what the GPU computes nobody asks about.
TEST_F(GpuFlags, FactorsAreAskedAboutWhereTheyAreAtHand) {
  const std::string drawn = "fn.random.uniform(range=[0.5, 1.5])",
                    of_gpu = "fn.reductions.mean(image) / 100.0";
  const std::string none = " * float(\"nan\")";
  for (const char* call : {"fn.contrast(image, contrast={})", "fn.contrast(image, contrast_center={})",
                           "fn.brightness(image, brightness={})"}) {
    const auto with = [&](const std::string& number) { return fmt::format(fmt::runtime(call), number); };
    EXPECT_NE(batch_of(with(drawn + none)).error.find("must be finite, not nan"), std::string::npos) << call;
    EXPECT_EQ(batch_of(with(drawn)).error, "") << call;
    expect_not_looked_at(with(of_gpu));
    expect_not_looked_at(with(of_gpu + none));
  }
}

TEST_F(GpuFlags, DivisorsThatAreNotZeroAreNoReasonToWait) {
  // A constant, which is a parameter of the kernel; one that the host draws or reads.
  expect_not_looked_at("image // 3");
  expect_not_looked_at("(image // 16) * 16 + image % 7");
  expect_not_looked_at("image // (label[0] + 5)");
  expect_not_looked_at("image // fn.random.uniform(range=[1, 9], dtype=types.INT32)");
}

TEST_F(GpuFlags, DivisorsThatMayBeZeroAreLookedAt) {
  // Nothing shows that it is not; what fails is found.
  expect_looked_at("image // (fn.cast(image, dtype=types.INT32) * 2 - 1)");
  for (const char* const value : {"image // label", "image // (image - image)"})
    EXPECT_NE(batch_of(value).error.find("zero"), std::string::npos) << value;
}

/// A divisor is looked up among a call's parameters before it runs: one that is not there is the program's
/// fault.
TEST_F(GpuFlags, DivisorsAreParametersOfTheCall) {
  batch_of("image // (label[0] + 5)");
  ASSERT_TRUE(program_);
  ASSERT_TRUE(runtime::verify(*program_));
  size_t tried = 0;
  for (size_t c = 0; c < program_->kernel_calls.size(); ++c) {
    const runtime::KernelCallSpec& call = program_->kernel_calls[c];
    const auto& device = program_->kernels[static_cast<size_t>(call.kernel)].device;
    if (!device || device->divisors.empty()) continue;
    for (const int32_t wrong : {static_cast<int32_t>(call.params.size()), -1}) {
      runtime::Program other = *program_;
      auto changed = std::make_shared<runtime::DeviceKernel>(*device);
      changed->divisors.back() = wrong;
      other.kernels[static_cast<size_t>(call.kernel)].device = changed;
      const Status found = runtime::verify(other);
      ASSERT_FALSE(found) << wrong;
      EXPECT_NE(found.error().message().find("kernel call " + std::to_string(c)), std::string::npos)
          << found.error().message();
      EXPECT_NE(found.error().message().find("divisor " + std::to_string(wrong)), std::string::npos)
          << found.error().message();
      ++tried;
    }
  }
  EXPECT_EQ(tried, 2U);
}

/// The same words and samples as on a CPU, whichever sample divides by zero.
TEST_F(GpuFlags, ErrorsAreThoseOfTheCpu) {
  for (const char* const policy : {"raise", "skip", "replace"})
    for (const char* const value : {"image // label", "image % (label - 1)", "image // 3"}) {
      const std::string text = replaced(of_images("    image = fn.resize(image, size=[20, 24])\n    return " +
                                                  std::string(value) + ", label\n"),
                                        "seed=42", std::string("seed=42, on_error=\"") + policy + "\"");
      SCOPED_TRACE(text);
      const PipelineOutcome wanted = expected(text);
      ASSERT_EQ(wanted.staging, "");
      device_.reset();
      const PipelineOutcome found = run_pipeline(
          text, 11, {"gpu", loops_.get(), true, true, 2, target(choice_, LaunchForm::kAuto)}, data());
      EXPECT_EQ(difference(wanted, found), "");
      EXPECT_EQ(wanted.error, found.error);
      EXPECT_EQ(device_.errors(), "");
    }
}

/// Where failing samples are left out, the host has to know them before it hands a batch out.
TEST(GpuFlagsInThePlan, TheEndWaitsOnlyWhereACallMayFail) {
  const auto last_waits = [](const std::string& value) {
    const std::string text =
        replaced(of_images("    return " + value + ", label\n"), "seed=42", "seed=42, on_error=\"skip\"");
    const Planned planned = plan_for_gpu(text);
    EXPECT_TRUE(planned.program) << planned.error;
    return planned.report.device.last_waits;
  };
  EXPECT_FALSE(last_waits("image + 3"));
  EXPECT_FALSE(last_waits("image // 3"));
  EXPECT_FALSE(last_waits("image % 7 + image // 16"));
  // What the plan does not know, the host may know when it enqueues a batch: too late for this.
  EXPECT_TRUE(last_waits("image // fn.random.uniform(range=[1, 9], dtype=types.INT32)"));
  EXPECT_TRUE(last_waits("image // label"));
  EXPECT_TRUE(last_waits("image // (image * 2 - 1)"));
}

}  // namespace
}  // namespace galatea::testing
