// Sound at other rates, and where it is not silent, against their formulas in double.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

std::vector<double> tones(int64_t frames) {
  std::vector<double> out;
  for (int64_t n = 0; n < frames; ++n)
    out.push_back(static_cast<float>(0.5 * std::sin(0.2 * static_cast<double>(n)) +
                                     0.2 * std::sin(1.3 * static_cast<double>(n))));
  return out;
}

/// The windowed sinc itself, without a table, at exact places.
std::vector<double> resampled(const std::vector<double>& x, double step, int64_t frames, int lobes) {
  std::vector<double> out;
  for (int64_t i = 0; i < frames; ++i) {
    const double place = static_cast<double>(i) * step;
    double sum = 0;
    for (int64_t k = 0; k < std::ssize(x); ++k) {
      const double d = static_cast<double>(k) - place;
      if (std::abs(d) >= lobes) continue;
      const double angle = std::numbers::pi * d;
      const double sinc = d == 0 ? 1 : std::sin(angle) / angle;
      sum += x[static_cast<size_t>(k)] * sinc * 0.5 * (1 + std::cos(angle / lobes));
    }
    out.push_back(sum);
  }
  return out;
}

OpRun resample(const std::vector<double>& x, double scale) {
  OpRun run("audio_resample");
  run.input(tensor(DType::kF32, {std::ssize(x)}, x)).arg("scale", scale);
  return run;
}

TEST(AudioResample, IsAWindowedSinc) {
  const std::vector<double> x = tones(300);
  for (const auto& [quality, lobes] : {std::pair{0.0, 3}, std::pair{50.0, 16}, std::pair{100.0, 64}})
    for (const double scale : {0.5, 0.75, 2.0}) {
      const auto frames = static_cast<int64_t>(std::ceil(300 * scale));
      // Straight lines between 32 entries a frame: an eighth of (pi / 32)^2 / 3 of what the window weighs.
      expect_near(resample(x, scale).arg("quality", quality).result(), resampled(x, 1 / scale, frames, lobes),
                  1.5e-3);
    }
}

TEST(AudioResample, AtTheSameRateChangesNothing) {
  const std::vector<double> x = tones(600);
  expect_near(resample(x, 1).result(), x, 0);
}

TEST(AudioResample, TreatsEachChannelAlone) {
  const std::vector<double> left = tones(50);
  std::vector<double> both;
  for (const double x : left) both.insert(both.end(), {x, -x / 2});
  const Tensor stereo =
      OpRun("audio_resample").input(tensor(DType::kF32, {50, 2}, both)).arg("scale", 1.5).result();
  const Tensor mono = resample(left, 1.5).result();
  ASSERT_EQ(stereo.extents, (std::vector<int64_t>{75, 2}));
  for (size_t n = 0; n < mono.size(); ++n) {
    EXPECT_EQ(stereo[2 * n], mono[n]);
    EXPECT_EQ(stereo[2 * n + 1], -mono[n] / 2);
  }
}

TEST(AudioResample, HasTheLengthThatIsAskedFor) {
  const auto length = [](OpRun run) { return run.result().extents[0]; };
  const Tensor x = tensor(DType::kF32, {1000}, tones(1000));
  EXPECT_EQ(length(OpRun("audio_resample").input(x).arg("in_rate", 44100.0).arg("out_rate", 16000.0)), 363);
  EXPECT_EQ(length(OpRun("audio_resample").input(x).arg("scale", scalar(DType::kF32, 0.25))), 250);
  EXPECT_EQ(length(OpRun("audio_resample").input(x).arg("out_length", int64_t{7})), 7);
  EXPECT_EQ(length(OpRun("audio_resample").input(x).arg("out_length", int64_t{0})), 0);
  EXPECT_EQ(length(OpRun("audio_resample").input(tensor(DType::kF32, {0}, {})).arg("scale", 2.0)), 0);
}

TEST(AudioResample, IntegersStandForPartsOfTheirLargest) {
  const Tensor half = tensor(DType::kI16, {3}, {0, 32767, -32767});
  const auto as = [&](DType dtype) {
    return OpRun("audio_resample").input(half).arg("scale", 1.0).arg("dtype", dtype).result().numbers();
  };
  EXPECT_EQ(as(DType::kF32), (std::vector<double>{0, 1, -1}));
  EXPECT_EQ(as(DType::kI8), (std::vector<double>{0, 127, -127}));
  EXPECT_EQ(as(DType::kU8), (std::vector<double>{128, 255, 0}));
}

TEST(AudioResample, SaysWhatIsWrong) {
  const Tensor x = tensor(DType::kF32, {4}, {1, 2, 3, 4});
  const auto run = [&] { return OpRun("audio_resample").input(x); };
  EXPECT_TRUE(says(run().failure(), "nothing says to what"));
  EXPECT_TRUE(says(run().arg("in_rate", 8000.0).failure(), "belong together"));
  EXPECT_TRUE(says(run().arg("scale", 2.0).arg("out_length", int64_t{3}).failure(), "exclude each other"));
  EXPECT_TRUE(says(run().arg("scale", scalar(DType::kF32, 0)).failure(), "is not positive"));
  EXPECT_TRUE(says(run().arg("out_length", int64_t{-1}).failure(), "out_length is -1"));
  EXPECT_TRUE(says(run().arg("scale", 2.0).arg("quality", 101.0).failure(), "quality is 101"));
  EXPECT_TRUE(says(OpRun("audio_resample").input(tensor(DType::kF64, {1}, {1})).arg("scale", 2.0).failure(),
                   "does not take FLOAT64"));
}

// ---- where it is not silent

struct Region {
  int64_t begin = 0, length = 0;
  friend bool operator==(const Region&, const Region&) = default;
};
Region region(OpRun run) {
  const OpRun::Outcome outcome = run.run();
  EXPECT_TRUE(outcome.ok()) << outcome.error << outcome.failed_check;
  return {outcome.outputs.at(0).integer(0), outcome.outputs.at(1).integer(0)};
}

/// Every window by itself.
Region searched(const std::vector<double>& x, int64_t window, double cutoff, double reference) {
  window = std::min(window, std::ssize(x));
  std::vector<double> power;
  for (int64_t i = 0; i + window <= std::ssize(x); ++i) {
    double sum = 0;
    for (int64_t k = i; k < i + window; ++k) sum += x[static_cast<size_t>(k)] * x[static_cast<size_t>(k)];
    power.push_back(sum / static_cast<double>(window));
  }
  if (reference == 0) reference = *std::ranges::max_element(power);
  const auto is_loud = [&](double p) { return p >= reference * std::pow(10, cutoff / 10); };
  const auto first = std::ranges::find_if(power, is_loud);
  if (first == power.end()) return {};
  const auto last = std::find_if(power.rbegin(), power.rend(), is_loud).base();
  return {first - power.begin(), last - first + window - 1};
}

TEST(NonsilentRegion, IsFromTheFirstLoudWindowToTheLast) {
  std::vector<double> x(500);
  for (size_t n = 120; n < 210; ++n) x[n] = static_cast<float>(0.3 * std::sin(static_cast<double>(n * n)));
  x[50] = 0.0009765625;
  const Tensor sound = tensor(DType::kF32, {500}, x);
  for (const int64_t window : {1, 7, 64, 500, 2048})
    for (const double cutoff : {-60.0, -20.0, -3.0})
      EXPECT_EQ(
          region(
              OpRun("nonsilent_region").input(sound).arg("window_length", window).arg("cutoff_db", cutoff)),
          searched(x, window, cutoff, 0))
          << window << ", " << cutoff;
  EXPECT_EQ(region(OpRun("nonsilent_region")
                       .input(sound)
                       .arg("window_length", int64_t{16})
                       .arg("reference_power", 1.0)
                       .arg("cutoff_db", -15.0)),
            searched(x, 16, -15, 1));
}

TEST(NonsilentRegion, OfSilenceIsAllOfItOrNothing) {
  const Tensor silence = tensor(DType::kF32, {90}, std::vector<double>(90));
  EXPECT_EQ(region(OpRun("nonsilent_region").input(silence)), (Region{0, 90}));
  EXPECT_EQ(region(OpRun("nonsilent_region").input(silence).arg("reference_power", 1.0)), Region{});
  EXPECT_EQ(region(OpRun("nonsilent_region").input(tensor(DType::kF32, {0}, {}))), Region{});
}

TEST(NonsilentRegion, SaysWhatIsWrong) {
  const auto run = [](DType dtype) { return OpRun("nonsilent_region").input(tensor(dtype, {2}, {1, 1})); };
  EXPECT_TRUE(says(run(DType::kF64).failure(), "does not take FLOAT64"));
  EXPECT_TRUE(says(run(DType::kF32).arg("window_length", int64_t{0}).failure(), "window_length is 0"));
  EXPECT_TRUE(says(run(DType::kF32).arg("reference_power", 0.0).failure(), "reference_power is 0"));
  EXPECT_TRUE(
      says(run(DType::kF32).arg("window_length", int64_t{32}).arg("reset_interval", int64_t{40}).failure(),
           "reset_interval is 40, and window_length 32"));
}

}  // namespace
}  // namespace galatea::ops_test
