// noise.shot against Poisson's distribution: each draw against the quantile of the uniform number that it is made
// of, all of them by chi-square.
#include <algorithm>
#include <cmath>

#include "tests/ops/op_tester.h"
#include "tests/support/cases.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

/// Element n of the node's stream: counter (n / 4, sample), 24 bits.
double unit_draw(uint64_t key, uint64_t sample, uint64_t n) {
  return static_cast<double>(philox(key, n / 4, sample, static_cast<int>(n % 4)) >> 8) * 0x1p-24;
}

double probability(double mean, int64_t k) {
  if (k < 0) return 0;
  const auto n = static_cast<double>(k);
  return mean == 0 ? (k == 0 ? 1 : 0) : std::exp(n * std::log(mean) - mean - std::lgamma(n + 1));
}

/// P(X <= k).
double cumulated(double mean, int64_t k) {
  double sum = 0;
  for (int64_t n = k; n >= 0; --n) {
    const double p = probability(mean, n);
    sum += p;
    if (p < 1e-14 && static_cast<double>(n) < mean) break;
  }
  return sum;
}

TEST(ShotNoise, EachDrawIsAQuantile) {
  const int64_t kDraws = testing::scaled(8000, 400);
  for (const double mean : {0.0, 0.01, 1.0, 7.3, 15.99, 16.0, 17.5, 40.0, 250.0, 2000.0}) {
    const double factor = 2.5;
    const Tensor in = tensor(DType::kF32, {kDraws}, Numbers(static_cast<size_t>(kDraws), mean * factor));
    const Tensor out = OpRun("noise.shot").input(in).arg("factor", factor).key(7).sample(3).result();
    const double drawn_mean = in[0] / factor;
    for (uint64_t n = 0; n < out.size(); ++n) {
      const auto k = static_cast<int64_t>(std::lround(out[n] / factor));
      EXPECT_NEAR(out[n], factor * static_cast<double>(k), 1e-6 * out[n]);
      double u = unit_draw(7, 3, 2 * n);
      if (mean >= 16) {
        const double z = std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * M_PI * unit_draw(7, 3, 2 * n + 1));
        u = 0.5 * std::erfc(-z / std::sqrt(2.0));
      }
      // What the sums round, and what the expansion is off by.
      const double tolerance = mean < 16 ? 5e-7 : 4e-6;
      EXPECT_GE(u, cumulated(drawn_mean, k - 1) - tolerance) << mean << ", draw " << n;
      EXPECT_LE(u, cumulated(drawn_mean, k) + tolerance) << mean << ", draw " << n;
    }
  }
}

/// At a level of 0.001, by the approximation of Wilson and Hilferty.
TEST(ShotNoise, ChiSquare) {
  const int64_t kDraws = testing::scaled(40000, 4000);
  for (const double mean : {0.7, 6.0, 15.0, 16.5, 60.0}) {
    const Tensor in = tensor(DType::kF64, {kDraws}, Numbers(static_cast<size_t>(kDraws), mean));
    const Tensor out = OpRun("noise.shot").input(in).arg("factor", 1.0).key(41).result();
    std::vector<int> counts(200);
    for (const double v : out.numbers()) ++counts.at(static_cast<size_t>(v));
    double chi = 0, expected = 0, found = 0, bins = 0, left = static_cast<double>(kDraws), left_found = left;
    for (size_t k = 0; k < counts.size() && left >= 16; ++k) {
      expected += probability(mean, static_cast<int64_t>(k)) * static_cast<double>(kDraws);
      found += counts[k];
      if (expected < 8 || left - expected < 8) continue;
      chi += (found - expected) * (found - expected) / expected;
      left -= expected, left_found -= found, ++bins;
      expected = found = 0;
    }
    chi += (left_found - left) * (left_found - left) / left;
    ASSERT_GE(bins, 3);
    const double limit = bins * std::pow(1 - 2 / (9 * bins) + 3.09 * std::sqrt(2 / (9 * bins)), 3);
    EXPECT_LT(chi, limit) << mean << ", " << bins << " bins";
  }
}

TEST(ShotNoise, TypesAndEnds) {
  for (const DType type : {DType::kU8, DType::kU16, DType::kI8, DType::kI32, DType::kU64, DType::kF16,
                           DType::kF32, DType::kF64}) {
    constexpr size_t kElements = 2500;
    const Tensor in = tensor(type, {50, 50}, Numbers(kElements, 80), "HW");
    const Tensor out = OpRun("noise.shot").input(in).arg("factor", scalar(DType::kF32, 2)).result();
    EXPECT_EQ(out.dtype, type);
    EXPECT_EQ(out.layout.str(), "HW");
    double mean = 0, variance = 0;
    for (const double v : out.numbers()) mean += v / kElements;
    for (const double v : out.numbers()) variance += (v - mean) * (v - mean) / kElements;
    // A variance of factor * in; five standard errors. What i8 clamps lies beyond three of its deviations.
    EXPECT_NEAR(mean, 80, 5 * std::sqrt(160.0 / kElements)) << short_name(type);
    EXPECT_NEAR(variance, 160, 5 * 160 * std::sqrt(2.05 / kElements)) << short_name(type);
    expect_near(OpRun("noise.shot").input(in).arg("factor", 0.0).result(), in.numbers(), 0);
  }
  // Nothing is drawn of what is not positive, and what is no number stays.
  const Tensor odd = tensor(DType::kF32, {4}, {-3, 0, std::nan(""), INFINITY});
  const Tensor out = OpRun("noise.shot").input(odd).result();
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], INFINITY);
  EXPECT_TRUE(std::isnan(OpRun("noise.shot").input(odd).arg("factor", 0.0).result()[2]));
  // Large ones keep their deviation.
  const Tensor large = tensor(DType::kF64, {400}, Numbers(400, 1e12));
  double variance = 0;
  for (const double v : OpRun("noise.shot").input(large).arg("factor", 1.0).result().numbers())
    variance += (v - 1e12) * (v - 1e12) / 400;
  EXPECT_NEAR(variance, 1e12, 5 * 1e12 * std::sqrt(2.0 / 400));
}

TEST(ShotNoise, SaysWhatIsWrong) {
  const Tensor in = tensor(DType::kU8, {2}, {1, 2});
  EXPECT_TRUE(says(OpRun("noise.shot").input(in).arg("factor", -1.0).failure(), "not negative"));
  EXPECT_TRUE(
      says(OpRun("noise.shot").input(in).arg("factor", scalar(DType::kF32, -1)).failure(), "not negative"));
  EXPECT_TRUE(says(OpRun("noise.shot").input(in).arg("factor", scalar(DType::kF32, INFINITY)).failure(),
                   "not negative"));
}

}  // namespace
}  // namespace galatea::ops_test
