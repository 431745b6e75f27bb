// Operators on sound against their formulas in double: transforms of every kind of length, mel bands from the
// triangles' own definition, signals shorter than a window, what is refused.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Doubles = std::vector<double>;

constexpr double kPi = std::numbers::pi;

Tensor signal(int64_t samples, uint32_t seed = 1) { return random_tensor(DType::kF32, {samples}, "t", seed); }

double largest(const Doubles& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// |X[k]|^2 of the first `points` numbers from `at` on, which may lie outside of the signal.
double power_at(const std::function<double(int64_t)>& at, int64_t points, int64_t k) {
  std::complex<double> sum = 0;
  for (int64_t n = 0; n < points; ++n)
    sum +=
        at(n) * std::polar(1.0, -2 * kPi * static_cast<double>(k * n % points) / static_cast<double>(points));
  return std::norm(sum);
}

double hann(int64_t n, int64_t length) {
  return 0.5 - 0.5 * std::cos(2 * kPi * (static_cast<double>(n) + 0.5) / static_cast<double>(length));
}

/// An index mirrored at the first and the last of n, one step at a time.
int64_t mirrored(int64_t index, int64_t n) {
  if (n == 1) return 0;
  while (index < 0 || index >= n) index = index < 0 ? -index : 2 * (n - 1) - index;
  return index;
}

Doubles spectrogram(const Tensor& in, int64_t points, int64_t length, int64_t step) {
  const auto samples = static_cast<int64_t>(in.size());
  Doubles out;
  for (int64_t k = 0; k <= points / 2; ++k)
    for (int64_t w = 0; w <= samples / step; ++w)
      out.push_back(power_at(
          [&](int64_t n) {
            if (n >= length) return 0.0;
            return hann(n, length) * in[static_cast<size_t>(mirrored(w * step - length / 2 + n, samples))];
          },
          points, k));
  return out;
}

OpRun spectrogram_of(const Tensor& in, int64_t points, int64_t length, int64_t step) {
  OpRun run("spectrogram");
  run.input(in).arg("nfft", points).arg("window_length", length).arg("window_step", step);
  return run;
}

TEST(Spectrogram, OfAnyNumberOfPointsIsTheSum) {
  const Tensor in = signal(70);
  for (const int64_t points : {1, 2, 3, 4, 6, 7, 8, 13, 16, 17, 23, 26, 32, 34, 45, 64, 74, 100, 128}) {
    SCOPED_TRACE(points);
    const int64_t length = std::max<int64_t>(points * 3 / 4, 1);
    const Doubles expected = spectrogram(in, points, length, 29);
    expect_near(spectrogram_of(in, points, length, 29).result(), expected, 1e-6 * largest(expected));
  }
}

TEST(Spectrogram, OfShortSignalsMirrorsThemOftenEnough) {
  for (const int64_t samples : {1, 2, 3, 16, 17}) {
    SCOPED_TRACE(samples);
    const Tensor in = signal(samples, 5);
    const Doubles expected = spectrogram(in, 32, 32, 4);
    const Tensor out = spectrogram_of(in, 32, 32, 4).result();
    EXPECT_EQ(out.extents, (std::vector<int64_t>{17, samples / 4 + 1}));
    expect_near(out, expected, 2e-6 * largest(expected));
  }
}

// A step past the signal leaves one window; room is taken for no others.
TEST(Spectrogram, OfStepsPastTheSignal) {
  const Tensor in = signal(70);
  const Doubles one = spectrogram_of(in, 32, 32, 71).result().numbers();
  for (const int64_t step : {int64_t{1} << 16, (int64_t{1} << 16) + 1, int64_t{1} << 32}) {
    const Tensor out = spectrogram_of(in, 32, 32, step).result();
    EXPECT_EQ(out.extents, (std::vector<int64_t>{17, 1})) << step;
    EXPECT_EQ(out.numbers(), one) << step;
  }
}

TEST(Spectrogram, OfASineHasItAtItsFrequency) {
  Doubles samples;
  for (int n = 0; n < 256; ++n) samples.push_back(std::sin(2 * kPi * n / 16.0));
  OpRun run("spectrogram");
  run.input(tensor(DType::kF32, {256}, samples, "t"))
      .arg("window_length", int64_t{64})
      .arg("window_step", int64_t{64});
  const Tensor out = run.arg("layout", std::string("tf")).arg("power", int64_t{1}).result();
  ASSERT_EQ(out.extents, (std::vector<int64_t>{5, 33}));
  EXPECT_EQ(out.layout.str(), "tf");
  for (size_t k = 0; k < 33; ++k) EXPECT_LE(out[2 * 33 + k], out[2 * 33 + 4]);
  EXPECT_NEAR(out[2 * 33 + 4], 64 / 4.0, 1e-4);  // half of the window's sum, 32
}

TEST(Spectrogram, TakesOneSignalThatHasAWindow) {
  EXPECT_TRUE(says(spectrogram_of(tensor(DType::kF32, {0}, {}), 8, 8, 4).failure(), "has no samples"));
  EXPECT_TRUE(says(spectrogram_of(random_tensor(DType::kF32, {9, 2}, "", 1), 8, 8, 4).failure(),
                   "more than one channel"));
  EXPECT_TRUE(says(OpRun("spectrogram").fixed(random_tensor(DType::kF32, {9, 2}, "", 1)).failure(),
                   "takes one signal"));
  EXPECT_TRUE(says(spectrogram_of(signal(5), 8, 8, 4).arg("center_windows", false).failure(),
                   "fewer than a window of 8"));
  EXPECT_TRUE(says(spectrogram_of(signal(50), 8, 9, 4).failure(), "longer than nfft=8"));
  EXPECT_TRUE(says(spectrogram_of(signal(50), 8, 8, 0).failure(), "window_step must be at least 1"));
  EXPECT_TRUE(
      says(spectrogram_of(signal(50), 8, 8, 4).arg("power", int64_t{3}).failure(), "power must be 1 or 2"));
  EXPECT_TRUE(
      says(spectrogram_of(signal(50), 8, 8, 4).arg("layout", std::string("ff")).failure(), "layout \"ff\""));
  EXPECT_TRUE(
      says(spectrogram_of(signal(50), 8, 8, 4).arg("window_fn", Doubles{1, 2}).failure(), "2 weights"));
}

TEST(PowerSpectrum, IsTheSumAlongAnAxisWhetherItsLengthIsKnownOrNot) {
  const Tensor in = random_tensor(DType::kF32, {3, 20, 2}, "", 3);
  Doubles expected;
  for (size_t a = 0; a < 3; ++a)
    for (int64_t k = 0; k <= 10; ++k)
      for (size_t c = 0; c < 2; ++c)
        expected.push_back(
            power_at([&](int64_t n) { return in[(a * 20 + static_cast<size_t>(n)) * 2 + c]; }, 20, k));
  const double tolerance = 1e-6 * largest(expected);
  expect_near(OpRun("power_spectrum").fixed(in).arg("axis", int64_t{1}).result(), expected, tolerance);
  expect_near(OpRun("power_spectrum").input(in).arg("axis", int64_t{1}).result(), expected, tolerance);
  expect_near(OpRun("power_spectrum").input(in).arg("axis", int64_t{1}).arg("nfft", int64_t{20}).result(),
              expected, tolerance);
  EXPECT_TRUE(says(OpRun("power_spectrum").input(in).arg("axis", int64_t{3}).failure(), "out of range"));
  EXPECT_TRUE(says(OpRun("power_spectrum").input(tensor(DType::kF32, {0}, {})).failure(), "no samples"));
}

double mel_of(double hz) { return hz < 1000 ? 3 * hz / 200 : 15 + 27 * std::log(hz / 1000) / std::log(6.4); }
double hz_of(double mel) { return mel < 15 ? mel * 200 / 3 : 1000 * std::pow(6.4, (mel - 15) / 27); }

// So few numbers are taken for scalars where they can be written out; a transform's passes would double with each.
TEST(PowerSpectrum, OfFewFrequenciesIsTheSum) {
  for (const int64_t points : {31, 37, 62}) {
    const Tensor in = signal(points, static_cast<uint32_t>(points));
    Doubles expected;
    for (int64_t k = 0; k <= points / 2; ++k)
      expected.push_back(power_at([&](int64_t n) { return in[static_cast<size_t>(n)]; }, points, k));
    const double tolerance = 1e-5 * largest(expected);
    for (OpRun run : {OpRun("power_spectrum").input(in), OpRun("power_spectrum").fixed(in)})
      expect_near(run.arg("nfft", points).result(), expected, tolerance);
  }
}

TEST(MelFilterBank, SumsWhatLiesUnderTriangles) {
  for (const int64_t bins : {2, 9, 40}) {
    SCOPED_TRACE(bins);
    const Tensor in = random_tensor(DType::kF32, {bins, 3}, "ft", 2);
    Doubles expected;
    for (int m = 0; m < 7; ++m) {
      const auto point = [&](int i) {
        return hz_of(mel_of(100) + (mel_of(3500) - mel_of(100)) * (m + i) / 8.0);
      };
      for (size_t t = 0; t < 3; ++t) {
        double sum = 0;
        for (int64_t k = 0; k < bins; ++k) {
          const double hz = 4000.0 * static_cast<double>(k) / static_cast<double>(bins - 1);
          if (hz <= point(0) || hz >= point(2)) continue;
          const double height = hz < point(1) ? (hz - point(0)) / (point(1) - point(0))
                                              : (point(2) - hz) / (point(2) - point(1));
          sum += height * 2 / (point(2) - point(0)) * in[static_cast<size_t>(k) * 3 + t];
        }
        expected.push_back(sum);
      }
    }
    OpRun run("mel_filter_bank");
    run.input(in)
        .arg("nfilter", int64_t{7})
        .arg("sample_rate", 8000.0)
        .arg("freq_low", 100.0)
        .arg("freq_high", 3500.0);
    expect_near(run.result(), expected, 1e-6 * std::max(largest(expected), 1e-3));
  }
}

TEST(MelFilterBank, RefusesWhatHasNoFrequencies) {
  const Tensor in = random_tensor(DType::kF32, {9, 3}, "ft", 2);
  const auto with = [&](const char* name, double value) {
    return OpRun("mel_filter_bank").input(in).arg(name, value).failure();
  };
  EXPECT_TRUE(says(OpRun("mel_filter_bank").input(tensor(DType::kF32, {0, 2}, {}, "ft")).failure(),
                   "no frequencies"));
  EXPECT_TRUE(says(OpRun("mel_filter_bank").input(random_tensor(DType::kF32, {9, 3}, "HW", 2)).failure(),
                   "no axis of frequencies"));
  EXPECT_TRUE(says(with("sample_rate", 0), "above 0"));
  EXPECT_TRUE(says(with("freq_low", -1), "must not be negative"));
  EXPECT_TRUE(says(with("freq_low", 30000), "not above freq_low"));
  EXPECT_TRUE(says(OpRun("mel_filter_bank").input(in).arg("nfilter", int64_t{0}).failure(), "nfilter"));
  EXPECT_TRUE(
      says(OpRun("mel_filter_bank").input(in).arg("mel_formula", std::string("bark")).failure(), "bark"));
}

TEST(ToDecibels, AgainstTheLargestOrAReference) {
  const Tensor in = tensor(DType::kF32, {2, 3}, {1, 10, 100, 0, -1, std::nan("")}, "ft");
  expect_near(OpRun("to_decibels").input(in).result(), {-20, -10, 0, -200, -200, -200}, 1e-4);
  expect_near(OpRun("to_decibels")
                  .input(in)
                  .arg("reference", 10.0)
                  .arg("multiplier", 20.0)
                  .arg("cutoff_db", -15.0)
                  .result(),
              {-15, 0, 20, -15, -15, -15}, 1e-4);
  expect_near(OpRun("to_decibels").input(tensor(DType::kF32, {2}, {0, 0})).result(), {-200, -200}, 1e-4);
  EXPECT_EQ(OpRun("to_decibels").input(tensor(DType::kF32, {0, 3}, {})).result().size(), 0U);
  EXPECT_TRUE(says(OpRun("to_decibels").input(in).arg("reference", 0.0).failure(), "must not be 0"));
}

TEST(Mfcc, OrthonormalTransformsKeepLengths) {
  const Tensor in = random_tensor(DType::kF32, {12, 2}, "ft", 6);
  for (const int64_t type : {2, 3, 4}) {
    SCOPED_TRACE(type);
    const Tensor out = OpRun("mfcc").input(in).arg("dct_type", type).arg("normalize", true).result();
    ASSERT_EQ(out.size(), in.size());
    double before = 0, after = 0;
    for (size_t i = 0; i < in.size(); ++i) before += in[i] * in[i], after += out[i] * out[i];
    EXPECT_NEAR(after, before, 1e-5 * before);
  }
}

TEST(Mfcc, IsTheSumOfCosines) {
  const Tensor in = random_tensor(DType::kF32, {3, 9}, "tf", 8);
  for (const int64_t type : {1, 2, 3, 4}) {
    SCOPED_TRACE(type);
    Doubles expected;
    for (size_t t = 0; t < 3; ++t)
      for (int k = 0; k < 5; ++k) {
        double sum = 0;
        for (int n = 0; n < 9; ++n) {
          const double place =
              type == 1 ? n * k / 8.0 : (n + (type == 3 ? 0 : 0.5)) * (k + (type == 2 ? 0 : 0.5)) / 9.0;
          const bool half = (type == 1 && (n == 0 || n == 8)) || (type == 3 && n == 0);
          sum += (half ? 0.5 : 1.0) * in[t * 9 + static_cast<size_t>(n)] * std::cos(kPi * place);
        }
        expected.push_back(sum * (1 + 5 * std::sin(kPi * (k + 1) / 10)));
      }
    OpRun run("mfcc");
    run.input(in).arg("dct_type", type).arg("axis", int64_t{1}).arg("n_mfcc", int64_t{5}).arg("lifter", 10.0);
    expect_near(run.result(), expected, 2e-5 * largest(expected));
  }
  EXPECT_TRUE(says(OpRun("mfcc").input(in).arg("axis", int64_t{2}).failure(), "out of range"));
  EXPECT_TRUE(says(OpRun("mfcc").input(in).arg("dct_type", int64_t{5}).failure(), "dct_type 5 is unknown"));
  EXPECT_TRUE(says(
      OpRun("mfcc").input(random_tensor(DType::kF32, {1, 2}, "ft", 1)).arg("dct_type", int64_t{1}).failure(),
      "two bands"));
}

TEST(Preemphasis, TakesAShareOfTheSampleBefore) {
  const Tensor in = tensor(DType::kF32, {2, 2}, {4, 8, -2, 6});
  const auto of = [&](const char* border) {
    return OpRun("preemphasis_filter")
        .input(in)
        .arg("preemph_coeff", 0.5)
        .arg("border", std::string(border))
        .result();
  };
  expect_near(of("clamp"), {2, 6, -6, 7}, 0);
  expect_near(of("reflect"), {0, 6, -6, 7}, 0);
  expect_near(of("zero"), {4, 6, -6, 7}, 0);
  const Tensor bytes = tensor(DType::kU8, {3}, {10, 200, 255});
  const Tensor out = OpRun("preemphasis_filter")
                         .input(bytes)
                         .arg("preemph_coeff", scalar(DType::kF32, -1))
                         .arg("dtype", DType::kU8)
                         .result();
  EXPECT_EQ(out.numbers(), (Doubles{20, 210, 255}));
  EXPECT_EQ(OpRun("preemphasis_filter").input(tensor(DType::kF32, {0}, {})).result().size(), 0U);
}

/// Samples of several axes are counted row-major, whichever axes have one element.
TEST(Preemphasis, GoesThroughAllAxes) {
  for (const std::vector<int64_t>& extents : std::vector<std::vector<int64_t>>{
           {5, 3}, {7, 1}, {1, 7}, {3, 2, 4}, {2, 1, 3}, {1, 1}, {1, 2, 1}, {0, 2}, {2, 0}}) {
    const Tensor in = random_tensor(DType::kF32, extents, "", 5);
    for (const char* border : {"clamp", "reflect", "zero"}) {
      Doubles expected;
      for (size_t i = 0; i < in.size(); ++i) {
        const bool is_clamped = border == std::string("clamp");
        const double before_first = is_clamped                                          ? in[0]
                                    : border == std::string("reflect") && in.size() > 1 ? in[1]
                                                                                        : 0.0;
        expected.push_back(in[i] - 0.5 * (i == 0 ? before_first : in[i - 1]));
      }
      const Tensor out = OpRun("preemphasis_filter")
                             .input(in)
                             .arg("preemph_coeff", 0.5)
                             .arg("border", std::string(border))
                             .result();
      expect_near(out, expected, 1e-6);
    }
  }
}

TEST(SpecAugment, MasksRowsAndColumnsAndNothingElse) {
  const Tensor in = tensor(DType::kF32, {20, 30}, Doubles(600, 1.0), "ft");
  OpRun run("galatea.spec_augment");
  run.input(in)
      .arg("freq_masks", int64_t{1})
      .arg("freq_mask_width", int64_t{5})
      .arg("time_masks", int64_t{1});
  run.arg("time_mask_width", int64_t{7}).arg("mask_value", 3.0);
  size_t widest_f = 0, widest_t = 0;
  for (uint64_t sample = 0; sample < 200; ++sample) {
    const Tensor out = run.sample(sample).result();
    size_t rows = 0, columns = 0;
    for (size_t f = 0; f < 20; ++f) {
      bool all = true;
      for (size_t t = 0; t < 30; ++t) all &= out[f * 30 + t] == 3;
      rows += all ? 1 : 0;
    }
    for (size_t t = 0; t < 30; ++t) {
      bool all = true;
      for (size_t f = 0; f < 20; ++f) all &= out[f * 30 + t] == 3;
      columns += all ? 1 : 0;
    }
    const auto masked = static_cast<size_t>(std::ranges::count(out.numbers(), 3.0));
    EXPECT_EQ(masked, rows * 30 + columns * 20 - rows * columns);
    widest_f = std::max(widest_f, rows), widest_t = std::max(widest_t, columns);
  }
  EXPECT_EQ(widest_f, 5U);
  EXPECT_EQ(widest_t, 7U);
}

TEST(SpecAugment, BendsTimeInOrderBetweenItsEnds) {
  Doubles ramp;
  for (int t = 0; t < 40; ++t) ramp.push_back(t);
  OpRun run("galatea.spec_augment");
  run.input(tensor(DType::kF32, {1, 40}, ramp, "ft"))
      .arg("freq_masks", int64_t{0})
      .arg("time_masks", int64_t{0});
  run.arg("time_warp", int64_t{8});
  double farthest = 0;
  for (uint64_t sample = 0; sample < 200; ++sample) {
    const Doubles out = run.sample(sample).result().numbers();
    EXPECT_EQ(out.front(), 0);
    EXPECT_NEAR(out.back(), 39, 1e-4);
    EXPECT_TRUE(std::ranges::is_sorted(out));
    for (size_t t = 0; t < 40; ++t) farthest = std::max(farthest, std::abs(out[t] - ramp[t]));
  }
  EXPECT_GT(farthest, 5);
  EXPECT_LT(farthest, 8);
  EXPECT_TRUE(
      says(OpRun("galatea.spec_augment").input(signal(9)).failure(), "no axes of frequencies and time"));
}

}  // namespace
}  // namespace galatea::ops_test
