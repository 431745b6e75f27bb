// Loops compute what stages mean, bit for bit, under every schedule.
#include <gtest/gtest.h>

#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

class Equivalence : public ::testing::TestWithParam<size_t> {
 protected:
  static const std::vector<std::pair<std::string, SampleKernel>>& samples() {
    static const auto kSamples = sample_kernels();
    return kSamples;
  }
  const SampleKernel& sample() const { return samples()[GetParam()].second; }

  void check(const kernel::ScheduleOptions& options, const std::string& what) {
    const LoopKernel loops = lower_verified(sample().kernel, options);
    for (size_t p = 0; p < sample().params.size(); ++p)
      for (const bool permuted : {false, true}) {
        if (expected_.size() <= p)
          expected_.push_back(run_stages(sample().kernel, sample().params[p], p + 1));
        ASSERT_EQ(run_loops(sample().kernel, loops, sample().params[p], p + 1, permuted), expected_[p])
            << samples()[GetParam()].first << ", parameters " << p << ", " << what
            << (permuted ? ", permuted\n" : "\n")
            << to_text(sample().kernel, make_schedule(sample().kernel, options)) << to_text(loops);
      }
  }
  std::vector<std::vector<uint8_t>> expected_;
};

TEST_P(Equivalence, Fused) { check({}, "fused"); }
TEST_P(Equivalence, Unfused) { check({.fuse = false}, "not fused"); }
TEST_P(Equivalence, NarrowVectors) { check({.vector_bits = 128}, "128-bit vectors"); }
TEST_P(Equivalence, Gpu) { check({.gpu = true}, "gpu"); }
TEST_P(Equivalence, GpuUnfused) { check({.gpu = true, .fuse = false}, "gpu, not fused"); }
TEST_P(Equivalence, AnySchedule) {
  const auto schedules = static_cast<uint64_t>(cases(20, kSanitized ? 2 : 5));
  for (uint64_t seed = 1; seed <= schedules && !HasFatalFailure(); ++seed)
    check({.gpu = seed % 5 == 0, .random_seed = seed}, "schedule " + std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(Samples, Equivalence, ::testing::Range(size_t{0}, sample_kernels().size()),
                         [](const auto& suite) { return sample_kernels()[suite.param].first; });

}  // namespace
}  // namespace galatea::testing
