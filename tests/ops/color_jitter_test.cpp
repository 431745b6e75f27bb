// galatea.color_jitter: how amounts are distributed (Kolmogorov-Smirnov at the level 0.001), degenerate images, what is
// refused. Its numbers and orders are torchvision's: tests/oracle/jitter_test.cpp.
#include <cmath>

#include "tests/ops/op_tester.h"
#include "tests/support/statistics.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

constexpr int kJitterDraws = 250;

/// Of each sample the one number of the image that `value` takes.
template <typename Prepare, typename Value>
Numbers numbers_drawn(const Tensor& in, const Prepare& prepare, const Value& value) {
  Numbers numbers;
  for (uint64_t sample = 0; sample < kJitterDraws; ++sample) {
    OpRun run("galatea.color_jitter");
    run.fixed(in).sample(sample);
    prepare(run);
    numbers.push_back(value(run.result()));
  }
  return numbers;
}

TEST(ColorJitter, AmountsAreUniform) {
  // A step alone shows its amount.
  const Tensor grey = tensor(DType::kF32, {1, 1, 1}, {0.25}, "HWC");
  const auto brightness = [](const Tensor& out) { return out[0] / 0.25; };
  EXPECT_LT(
      testing::distance_from_uniform(numbers_drawn(
                                         grey, [](OpRun& run) { run.arg("brightness", 0.5); }, brightness),
                                     0.5, 1.5),
      1.95);
  // 1 - x is not negative.
  EXPECT_LT(
      testing::distance_from_uniform(numbers_drawn(
                                         grey, [](OpRun& run) { run.arg("brightness", 2.0); }, brightness),
                                     0, 3),
      1.95);
  EXPECT_LT(testing::distance_from_uniform(
                numbers_drawn(
                    grey, [](OpRun& run) { run.arg("brightness", tensor(DType::kF32, {2}, {1.25, 2})); },
                    brightness),
                1.25, 2),
            1.95);
  // The mean of both is 0.5, from which they are 0.125.
  const Tensor two = tensor(DType::kF32, {1, 2, 1}, {0.375, 0.625}, "HWC");
  EXPECT_LT(testing::distance_from_uniform(numbers_drawn(
                                               two, [](OpRun& run) { run.arg("contrast", 0.75); },
                                               [](const Tensor& out) { return (out[1] - out[0]) / 0.25; }),
                                           0.25, 1.75),
            1.95);
  const Tensor red = tensor(DType::kF32, {1, 1, 3}, {0.625, 0.375, 0.375}, "HWC");
  EXPECT_LT(
      testing::distance_from_uniform(numbers_drawn(
                                         red, [](OpRun& run) { run.arg("saturation", Numbers{0.25, 1.5}); },
                                         [](const Tensor& out) { return (out[0] - out[1]) / 0.25; }),
                                     0.25, 1.5),
      1.95);
  // Within a sixth of a turn from red, green or blue rises alone.
  EXPECT_LT(
      testing::distance_from_uniform(numbers_drawn(
                                         red, [](OpRun& run) { run.arg("hue", 0.125); },
                                         [](const Tensor& out) { return (out[1] - out[2]) / 0.25 / 6; }),
                                     -0.125, 0.125),
      1.95);
}

TEST(ColorJitter, DrawsAreIndependent) {
  // The red of one sample tells brightness, its distance from green the product with saturation.
  const Tensor red = tensor(DType::kF32, {1, 1, 3}, {0.25, 0.125, 0.125}, "HWC");
  double correlation = 0;
  for (uint64_t sample = 0; sample < kJitterDraws; ++sample) {
    const Tensor out = OpRun("galatea.color_jitter")
                           .fixed(red)
                           .arg("brightness", 0.5)
                           .arg("saturation", 0.5)
                           .sample(sample)
                           .result();
    const double grey = 0.2989 * out[0] + 0.701 * out[1];
    const double brightness = grey / (0.2989 * 0.25 + 0.701 * 0.125),
                 saturation = (out[0] - out[1]) / 0.125 / brightness;
    correlation += (brightness - 1) * (saturation - 1) * 12;
  }
  // Of a mean of products, each with variance 1: five deviations.
  EXPECT_LT(std::abs(correlation / kJitterDraws), 5 / std::sqrt(kJitterDraws));
}

TEST(ColorJitter, WithoutChanges) {
  for (const DType type : {DType::kU8, DType::kF32}) {
    Tensor in = random_tensor(DType::kU8, {3, 4, 3}, "HWC", 7);
    if (type == DType::kF32) {
      Numbers unit = in.numbers();
      for (double& number : unit) number /= 255;
      in = tensor(type, {3, 4, 3}, unit, "HWC");
    }
    EXPECT_EQ(OpRun("galatea.color_jitter").input(in).result().numbers(), in.numbers());
    OpRun nothing("galatea.color_jitter");
    nothing.input(in).arg("hue", 0.0);
    for (const char* name : {"brightness", "contrast", "saturation"}) nothing.arg(name, Numbers{1, 1});
    expect_near(nothing.result(), in.numbers(), type == DType::kU8 ? 0 : 1e-6);
  }
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{1, 1, 3}, {0, 4, 3}, {1, 300, 3}}) {
    const Tensor in = random_tensor(DType::kU8, extents, "HWC", 8);
    const Tensor out = OpRun("galatea.color_jitter").input(in).arg("contrast", 0.5).arg("hue", 0.1).result();
    EXPECT_EQ(out.extents, extents);
  }
  // Floats are from 0 to 1; what is no number does not spread.
  const Tensor wild = tensor(DType::kF32, {1, 2, 3}, {HUGE_VAL, -3, 7, NAN, 0.5, 0.5}, "HWC");
  const Tensor out = OpRun("galatea.color_jitter").input(wild).arg("brightness", 0.5).result();
  for (size_t n = 0; n < 3; ++n) EXPECT_TRUE(out[n] >= 0 && out[n] <= 1) << out[n];
}

TEST(ColorJitter, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 9);
  const auto run = [&] { return OpRun("galatea.color_jitter").input(in); };
  EXPECT_TRUE(says(run().arg("brightness", -0.5).failure(), "brightness is -0.5"));
  EXPECT_TRUE(says(run().arg("contrast", Numbers{1.5, 0.5}).failure(), "contrast is (1.5, 0.5)"));
  EXPECT_TRUE(says(run().arg("saturation", Numbers{0.5, 1, 2}).failure(), "saturation has 3 numbers"));
  EXPECT_TRUE(says(run().arg("hue", 0.75).failure(), "hue is 0.75"));
  EXPECT_TRUE(says(run().arg("hue", Numbers{-0.75, 0}).failure(), "hue is (-0.75, 0)"));
  EXPECT_TRUE(says(run().arg("brightness", scalar(DType::kF32, -1)).failure(), "brightness is -1"));
  EXPECT_TRUE(says(run().arg("hue", tensor(DType::kF32, {2}, {0.25, 0})).failure(), "hue is (0.25, 0)"));
  EXPECT_TRUE(
      says(run().fed_arg("hue", tensor(DType::kF32, {2}, {0, 0.25})).failure(), "known while compiling"));
  const Tensor four = random_tensor(DType::kU8, {4, 5, 4}, "HWC", 9);
  EXPECT_TRUE(says(OpRun("galatea.color_jitter").fixed(four).failure(), "4 channels"));
  EXPECT_TRUE(says(OpRun("galatea.color_jitter").input(four).arg("hue", 0.1).failure(), "4 channels"));
}

}  // namespace
}  // namespace galatea::ops_test
