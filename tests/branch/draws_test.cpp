// A sample's random values are its own: whichever arms the others took, in whatever batches, on however many
// threads.
#include <gtest/gtest.h>

#include "tests/branch/harness.h"

namespace galatea::testing {
namespace {

constexpr int kNumDrawSamples = 24;

const char* const kText = R"(
from nvidia.dali import pipeline_def, fn, types


def noise(x, n):
    if n == 0:
        return x
    if fn.random.coin_flip(dtype=types.BOOL):
        return noise(x + fn.random.uniform(), n - 1)
    return noise(x - fn.random.normal(), n - 1)

@pipeline_def(batch_size=8, seed=7)
def draws():
    c = fn.external_source(name="c", dtype=types.BOOL, ndim=0)
    d = fn.external_source(name="d", dtype=types.BOOL, ndim=0)
    before = fn.random.uniform()
    if c:
        x = fn.random.uniform(range=[0, 10])
        if d:
            x = x + fn.random.normal()
        y = noise(x, 2)
    elif d:
        x = fn.random.normal(mean=5.0)
        y = x
    else:
        x = before
        y = noise(fn.random.uniform(range=[x, 3.0]), 2)
    for i in range(3):
        if c and fn.random.coin_flip(dtype=types.BOOL):
            continue
        y = y + fn.random.uniform()
        if d and fn.random.uniform() < 0.2:
            break
    either = c or fn.random.coin_flip(dtype=types.BOOL)
    after = fn.random.uniform() if either else fn.random.normal()
    return before, x, y, either, after, fn.random.uniform()
)";

std::vector<Input> choices(const std::vector<int>& path) {
  std::vector<Input> inputs = {{"c", DType::kBool, {}}, {"d", DType::kBool, {}}};
  for (int s = 0; s < kNumDrawSamples; ++s) {
    int taken = path[static_cast<size_t>(s) % path.size()];
    inputs[0].values.push_back(taken & 1);
    inputs[1].values.push_back(taken >> 1);
  }
  return inputs;
}

TEST(Draws, DoNotDependOnTheArmsThatOtherSamplesTook) {
  // By path, then by sample: every sample takes the same path.
  std::vector<std::vector<std::vector<double>>> alone;
  for (int path = 0; path < 4; ++path) {
    Outcome outcome = run_text(kText, choices({path}));
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.samples.size(), static_cast<size_t>(kNumDrawSamples));
    alone.push_back(outcome.samples);
  }
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_NE(alone[0][0], alone[0][1]) << "samples draw for themselves";
  for (const std::vector<int>& paths : {std::vector<int>{0, 1, 2, 3}, {3, 3, 0}, {1, 0, 0, 0, 2}, {2, 1}}) {
    Outcome mixed = run_text(kText, choices(paths));
    ASSERT_EQ(mixed.error, "");
    for (size_t s = 0; s < mixed.samples.size(); ++s)
      EXPECT_EQ(mixed.samples[s], alone[static_cast<size_t>(paths[s % paths.size()])][s]) << "sample " << s;
  }
}

TEST(Draws, DoNotDependOnBatchesThreadsOrBackends) {
  std::vector<Input> inputs = choices({0, 1, 2, 3, 1, 1});
  Outcome expected = run_text(kText, inputs);
  ASSERT_EQ(expected.error, "");
  for (int batch_size : {1, 5, 24}) {
    for (int threads : {1, 4}) {
      for (bool fuse : {true, false}) {
        Way way{.batch_size = batch_size,
                .threads = threads,
                .fuse = fuse,
                .executor = runtime::ExecutorKind::kCpu};
        if (batch_size == 5) way.backend = "llvm";
        Outcome outcome = run_text(kText, inputs, way);
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(outcome.samples, expected.samples) << batch_size << " " << threads << " " << fuse;
      }
    }
  }
}

}  // namespace
}  // namespace galatea::testing
