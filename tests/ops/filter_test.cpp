// Correlations, Gaussian blur, Laplacian and reductions against direct sums in double.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Ints = std::vector<int64_t>;

int64_t mirror(int64_t i, int64_t n) {
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  i = ((i % period) + period) % period;
  return i < n ? i : period - i;
}

/// HWC image filtered by a window along rows (axis 0) or columns (axis 1).
std::vector<double> filtered(const std::vector<double>& in, const std::vector<int64_t>& e, int axis,
                             const std::vector<double>& window) {
  std::vector<double> out(in.size());
  const auto radius = static_cast<int64_t>(window.size() / 2);
  for (int64_t y = 0; y < e[0]; ++y)
    for (int64_t x = 0; x < e[1]; ++x)
      for (int64_t c = 0; c < e[2]; ++c) {
        double sum = 0;
        for (int64_t k = -radius; k <= radius; ++k) {
          const int64_t sy = axis == 0 ? mirror(y + k, e[0]) : y, sx = axis == 1 ? mirror(x + k, e[1]) : x;
          sum +=
              window[static_cast<size_t>(k + radius)] * in[static_cast<size_t>((sy * e[1] + sx) * e[2] + c)];
        }
        out[static_cast<size_t>((y * e[1] + x) * e[2] + c)] = sum;
      }
  return out;
}

std::vector<double> gaussian(double sigma, int64_t size) {
  std::vector<double> w;
  double sum = 0;
  for (int64_t i = -(size / 2); i <= size / 2; ++i)
    w.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma))), sum += w.back();
  for (double& v : w) v /= sum;
  return w;
}

void expect_rounded(const Tensor& out, std::vector<double> expected, double relative = 1e-6) {
  double largest = 1;
  for (double& e : expected) {
    largest = std::max(largest, std::abs(e));
    if (!is_float(out.dtype))
      e = std::clamp(e, static_cast<double>(min_int(out.dtype)), static_cast<double>(max_int(out.dtype)));
  }
  expect_near(out, expected, is_float(out.dtype) ? relative * largest : 0.51);
}

/// What stands at index i of n under a border; nothing where a constant does.
std::optional<int64_t> bordered(const std::string& border, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (border == "constant") return std::nullopt;
  if (border == "clamp") return std::clamp<int64_t>(i, 0, n - 1);
  if (border == "wrap") return ((i % n) + n) % n;
  if (border == "reflect_101") return mirror(i, n);
  const int64_t folded = ((i % (2 * n)) + 2 * n) % (2 * n);  // reflect_1001: the edge stands twice
  return folded < n ? folded : 2 * n - 1 - folded;
}

/// sum over j, i of window(j, i) * in(y + j - anchor, x + i - anchor) for `rows` x `columns` from (top,
/// left).
std::vector<double> correlated(const Tensor& in, const Tensor& window, const std::array<int64_t, 2>& anchor,
                               const std::string& border, double fill, const std::array<int64_t, 4>& box) {
  std::vector<double> out;
  const auto [top, left, rows, columns] = box;
  for (int64_t y = top; y < top + rows; ++y)
    for (int64_t x = left; x < left + columns; ++x)
      for (int64_t c = 0; c < in.extents[2]; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < window.extents[0]; ++j)
          for (int64_t i = 0; i < window.extents[1]; ++i) {
            const auto sy = bordered(border, y + j - anchor[0], in.extents[0]);
            const auto sx = bordered(border, x + i - anchor[1], in.extents[1]);
            const double pixel =
                sy && sx ? in[static_cast<size_t>((*sy * in.extents[1] + *sx) * in.extents[2] + c)] : fill;
            sum += window[static_cast<size_t>(j * window.extents[1] + i)] * pixel;
          }
        out.push_back(sum);
      }
  return out;
}

TEST(Filter, IsACorrelation) {
  const Tensor window = tensor(DType::kF32, {3, 2}, {0.5, -0.25, 1, 0.125, -0.75, 0.375});
  for (const char* border : {"reflect_101", "reflect_1001", "wrap", "clamp", "constant"})
    for (DType type : {DType::kU8, DType::kF32}) {
      SCOPED_TRACE(std::string(border) + (type == DType::kU8 ? " u8" : " f32"));
      const Tensor in = random_tensor(type, {6, 9, 3}, "HWC", 41);
      const Tensor out = OpRun("filter")
                             .input(in)
                             .fixed(window)
                             .fixed(scalar(type, 7))
                             .arg("border", std::string(border))
                             .arg("anchor", tensor(DType::kI32, {2}, {2, 0}))
                             .result();
      EXPECT_EQ(out.dtype, type);
      expect_rounded(out, correlated(in, window, {2, 0}, border, 7, {0, 0, 6, 9}));
    }
}

TEST(Filter, ValidOutputsLieUnderTheWholeWindow) {
  const Tensor in = random_tensor(DType::kU8, {6, 9, 3}, "HWC", 42);
  const Tensor window = random_tensor(DType::kF32, {3, 5}, {}, 43);
  const Tensor out = OpRun("filter")
                         .input(in)
                         .fixed(window)
                         .arg("mode", std::string("valid"))
                         .arg("dtype", DType::kF32)
                         .result();
  EXPECT_EQ(out.extents, (std::vector<int64_t>{4, 5, 3}));
  expect_rounded(out, correlated(in, window, {1, 2}, "clamp", 0, {1, 2, 4, 5}));
}

/// A window whose extents only the sample tells, and one of more taps than are written out.
TEST(Filter, WindowsOfAnyExtents) {
  const Tensor in = random_tensor(DType::kU8, {6, 9, 3}, "HWC", 45);
  for (const char* border : {"reflect_101", "reflect_1001", "wrap", "clamp", "constant"}) {
    SCOPED_TRACE(border);
    const Tensor window = random_tensor(DType::kF32, {4, 3}, {}, 46);
    const Tensor out = OpRun("filter")
                           .input(in)
                           .input(window)
                           .fixed(scalar(DType::kU8, 9))
                           .arg("border", std::string(border))
                           .arg("dtype", DType::kF32)
                           .result();
    expect_rounded(out, correlated(in, window, {2, 1}, border, 9, {0, 0, 6, 9}));
  }
  const Tensor small = random_tensor(DType::kU8, {3, 4, 1}, "HWC", 45),
               large = random_tensor(DType::kF32, {25, 41}, {}, 47);
  expect_rounded(OpRun("filter").input(small).fixed(large).arg("dtype", DType::kF32).result(),
                 correlated(small, large, {12, 20}, "reflect_101", 0, {0, 0, 3, 4}));
  const Tensor window = random_tensor(DType::kF32, {3, 5}, {}, 48);
  const Tensor valid = OpRun("filter")
                           .input(in)
                           .input(window)
                           .arg("mode", std::string("valid"))
                           .arg("dtype", DType::kF32)
                           .result();
  EXPECT_EQ(valid.extents, (Ints{4, 5, 3}));
  expect_rounded(valid, correlated(in, window, {1, 2}, "clamp", 0, {1, 2, 4, 5}));
  const Tensor tall = random_tensor(DType::kF32, {7, 1}, {}, 49);
  EXPECT_NE(
      OpRun("filter").input(in).input(tall).arg("mode", std::string("valid")).failure().find("no place"),
      std::string::npos);
}

/// Slices of a volume under a window with slices are the sum over its slices of those under one of two axes.
TEST(Filter, Volumes) {
  const Tensor in = random_tensor(DType::kF32, {4, 5, 6, 2}, "DHWC", 50);
  const Tensor window = random_tensor(DType::kF32, {3, 2, 3}, {}, 51);
  const auto slice = [](const Tensor& volume, int64_t d, std::vector<int64_t> extents, const char* layout) {
    const auto size = static_cast<int64_t>(volume.size()) / volume.extents[0];
    const std::vector<double> all = volume.numbers();
    return tensor(DType::kF32, std::move(extents), {all.begin() + d * size, all.begin() + (d + 1) * size},
                  layout);
  };
  for (const char* border : {"reflect_101", "reflect_1001", "wrap", "clamp", "constant"})
    for (const bool known : {false, true}) {
      SCOPED_TRACE(border);
      OpRun run("filter");
      run.input(in).arg("anchor", Ints{0, 1, 2}).arg("border", std::string(border));
      const Tensor out =
          (known ? run.fixed(window) : run.input(window)).fixed(scalar(DType::kF32, 5)).result();
      std::vector<double> expected;
      for (int64_t d = 0; d < 4; ++d) {
        std::vector<double> sum(5 * 6 * 2);
        for (int64_t k = 0; k < 3; ++k) {
          const auto from = bordered(border, d + k, 4);
          const Tensor plane = from ? slice(in, *from, {5, 6, 2}, "HWC")
                                    : tensor(DType::kF32, {5, 6, 2}, std::vector<double>(60, 5), "HWC");
          const auto part = correlated(plane, slice(window, k, {2, 3}, ""), {1, 2}, border, 5, {0, 0, 5, 6});
          for (size_t n = 0; n < sum.size(); ++n) sum[n] += part[n];
        }
        expected.insert(expected.end(), sum.begin(), sum.end());
      }
      expect_rounded(out, expected, 1e-5);
    }
}

TEST(Filter, RefusesWhatIsNoWindow) {
  const Tensor in = random_tensor(DType::kU8, {6, 9, 3}, "HWC", 44);
  const Tensor window = tensor(DType::kF32, {1, 1}, {1});
  const Tensor none = tensor(DType::kF32, {0, 3}, {});
  EXPECT_NE(OpRun("filter").input(in).input(none).failure().find("no elements"), std::string::npos);
  EXPECT_NE(OpRun("filter").input(in).fixed(none).failure().find("no elements"), std::string::npos);
  EXPECT_NE(
      OpRun("filter").input(in).fixed(tensor(DType::kF32, {1, 1, 1}, {1})).failure().find("3 dimensions"),
      std::string::npos);
  EXPECT_NE(OpRun("filter").input(in).input(window).arg("anchor", Ints{1}).failure().find("outside"),
            std::string::npos);
  EXPECT_NE(
      OpRun("filter").input(in).fixed(tensor(DType::kF32, {3}, {1, 2, 3})).failure().find("1 dimension"),
      std::string::npos);
  EXPECT_NE(
      OpRun("filter").input(in).fixed(window).arg("border", std::string("mirror")).failure().find("mirror"),
      std::string::npos);
  EXPECT_NE(OpRun("filter")
                .input(in)
                .fixed(window)
                .arg("anchor", std::vector<int64_t>{1})
                .failure()
                .find("outside"),
            std::string::npos);
}

TEST(GaussianBlur, IsSeparable) {
  for (DType type : {DType::kU8, DType::kI16, DType::kF32}) {
    const Tensor in = random_tensor(type, {7, 11, 3}, "HWC", 31);
    const Tensor out = OpRun("gaussian_blur").input(in).arg("sigma", 1.2).result();
    const auto window = gaussian(static_cast<double>(1.2f), 2 * 4 + 1);
    expect_rounded(out, filtered(filtered(in.numbers(), in.extents, 1, window), in.extents, 0, window));
    EXPECT_EQ(out.dtype, type);
  }
  const Tensor in = random_tensor(DType::kU8, {7, 11, 3}, "HWC", 32);
  // Window only: sigma = ((5 - 1) / 2 - 1) 0.3 + 0.8; per axis, rows first.
  const Tensor axes = OpRun("gaussian_blur")
                          .input(in)
                          .arg("window_size", tensor(DType::kI32, {2}, {5, 3}))
                          .arg("dtype", DType::kF32)
                          .result();
  expect_rounded(axes, filtered(filtered(in.numbers(), in.extents, 1, gaussian(0.8, 3)), in.extents, 0,
                                gaussian(1.1, 5)));
  const Tensor both = OpRun("gaussian_blur")
                          .input(in)
                          .arg("sigma", tensor(DType::kF32, {2}, {0.5, 3}))
                          .arg("window_size", int64_t{25})
                          .arg("dtype", DType::kF32)
                          .result();
  expect_rounded(both, filtered(filtered(in.numbers(), in.extents, 1, gaussian(3, 25)), in.extents, 0,
                                gaussian(0.5, 25)));
}

/// The square of such a sigma is no number of f32.
TEST(GaussianBlur, ASigmaNextToNothingLeavesTheCentreAlone) {
  const Tensor in = random_tensor(DType::kF32, {4, 5, 2}, "HWC", 3);
  const auto window = std::vector<int64_t>{3, 3};
  expect_near(OpRun("gaussian_blur").input(in).arg("sigma", 1e-23).arg("window_size", window).result(),
              in.numbers(), 0);
}

TEST(GaussianBlur, SumsDoublesInSingle) {
  const Tensor in = random_tensor(DType::kF32, {7, 11, 3}, "HWC", 33);
  const Tensor wide = tensor(DType::kF64, in.extents, in.numbers(), "HWC");
  const Tensor out = OpRun("gaussian_blur").input(wide).arg("sigma", 1.2).result();
  EXPECT_EQ(out.dtype, DType::kF64);
  EXPECT_EQ(out.numbers(), OpRun("gaussian_blur").input(in).arg("sigma", 1.2).result().numbers());
  EXPECT_NE(OpRun("laplacian").input(wide).failure().find("FLOAT64"), std::string::npos) << "as in DALI";
}

TEST(GaussianBlur, ChannelsFirstAndOneAxis) {
  const Tensor in = random_tensor(DType::kF32, {2, 5, 6}, "CHW", 33);
  const Tensor out = OpRun("gaussian_blur").input(in).arg("sigma", 0.8).result();
  for (size_t c = 0; c < 2; ++c) {
    std::vector<double> plane(30);
    for (size_t p = 0; p < 30; ++p) plane[p] = in[c * 30 + p];
    const auto window = gaussian(static_cast<double>(0.8f), 7);
    const auto expected = filtered(filtered(plane, {5, 6, 1}, 1, window), {5, 6, 1}, 0, window);
    for (size_t p = 0; p < 30; ++p) EXPECT_NEAR(out[c * 30 + p], expected[p], 1e-5);
  }
  const Tensor line = random_tensor(DType::kF32, {9}, {}, 34);
  expect_near(OpRun("gaussian_blur").input(line).arg("window_size", int64_t{3}).result(),
              filtered(line.numbers(), {9, 1, 1}, 0, gaussian(0.8, 3)), 1e-5);
}

TEST(GaussianBlur, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {7, 11, 3}, "HWC", 35);
  EXPECT_NE(OpRun("gaussian_blur").input(in).failure().find("neither"), std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur").input(in).arg("sigma", -1.0).failure().find("negative"),
            std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur").input(in).arg("sigma", scalar(DType::kF32, -1)).failure().find("negative"),
            std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur").input(in).arg("sigma", scalar(DType::kF32, 0)).failure().find("both 0"),
            std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur").input(in).arg("window_size", int64_t{4}).failure().find("odd"),
            std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur").input(in).arg("window_size", scalar(DType::kI32, 4)).failure().find("odd"),
            std::string::npos);
  EXPECT_NE(OpRun("gaussian_blur")
                .input(random_tensor(DType::kU8, {2, 2, 7, 11, 3}, "NDHWC", 1))
                .arg("sigma", 1.0)
                .failure()
                .find("one to three axes"),
            std::string::npos);
}

std::vector<double> convolve(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size() + b.size() - 1, 0.0);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) out[i + j] += a[i] * b[j];
  return out;
}

std::vector<double> binomial(int64_t size) {
  std::vector<double> w = {1};
  for (int64_t n = 1; n < size; ++n) w = convolve(w, {1, 1});
  return w;
}

std::vector<double> laplacian(const Tensor& in, int64_t dy, int64_t dx, int64_t sy, int64_t sx,
                              double scale_y, double scale_x) {
  const auto derivative_y = convolve(binomial(dy - 2), {1, -2, 1}),
             derivative_x = convolve(binomial(dx - 2), {1, -2, 1});
  const auto along_y =
      filtered(filtered(in.numbers(), in.extents, 1, binomial(sx)), in.extents, 0, derivative_y);
  const auto along_x =
      filtered(filtered(in.numbers(), in.extents, 1, derivative_x), in.extents, 0, binomial(sy));
  std::vector<double> out;
  for (size_t n = 0; n < along_x.size(); ++n) out.push_back(scale_y * along_y[n] + scale_x * along_x[n]);
  return out;
}

TEST(Laplacian, SumsDerivatives) {
  const Tensor in = random_tensor(DType::kU8, {8, 9, 3}, "HWC", 36);
  expect_rounded(OpRun("laplacian").input(in).result(), laplacian(in, 3, 3, 3, 3, 1, 1));
  expect_rounded(OpRun("laplacian")
                     .input(in)
                     .arg("window_size", int64_t{5})
                     .arg("smoothing_size", int64_t{1})
                     .arg("dtype", DType::kF32)
                     .result(),
                 laplacian(in, 5, 5, 1, 1, 1, 1));
  expect_rounded(OpRun("laplacian")
                     .input(in)
                     .arg("window_size", tensor(DType::kI32, {2}, {3, 7}))
                     .arg("smoothing_size", scalar(DType::kI32, 9))
                     .arg("scale", std::vector<double>{0.5, 0.25})
                     .arg("dtype", DType::kF32)
                     .result(),
                 laplacian(in, 3, 7, 9, 9, 0.5, 0.25));
  const double normal = std::exp2(-(5.0 + 5.0) + 2 + 2);
  expect_rounded(OpRun("laplacian")
                     .input(in)
                     .arg("window_size", int64_t{5})
                     .arg("normalized_kernel", true)
                     .arg("dtype", DType::kF32)
                     .result(),
                 laplacian(in, 5, 5, 5, 5, normal, normal));
  const double large = std::exp2(-62.0 + 4);
  expect_rounded(OpRun("laplacian")
                     .input(in)
                     .arg("window_size", int64_t{31})
                     .arg("normalized_kernel", true)
                     .arg("dtype", DType::kF32)
                     .result(),
                 laplacian(in, 31, 31, 31, 31, large, large), 1e-5);
}

TEST(Laplacian, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {8, 9, 3}, "HWC", 37);
  EXPECT_NE(OpRun("laplacian").input(in).arg("window_size", int64_t{4}).failure().find("odd"),
            std::string::npos);
  EXPECT_NE(OpRun("laplacian").input(in).arg("window_size", scalar(DType::kI32, 33)).failure().find("odd"),
            std::string::npos);
  EXPECT_NE(
      OpRun("laplacian").input(in).arg("scale", 2.0).arg("normalized_kernel", true).failure().find("exclude"),
      std::string::npos);
}

TEST(Reductions, AgainstPlainSums) {
  for (DType type : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32, DType::kF32}) {
    const Tensor in = random_tensor(type, {6, 5, 3}, "HWC", 38);
    std::vector<double> sums(3, 0), lows(3, 1e30), highs(3, -1e30), means;
    for (size_t n = 0; n < in.size(); ++n) {
      sums[n % 3] += in[n];
      lows[n % 3] = std::min(lows[n % 3], in[n]);
      highs[n % 3] = std::max(highs[n % 3], in[n]);
    }
    for (double s : sums) means.push_back(s / 30);
    const double tolerance = is_float(type) ? 1e-5 : 0;
    const Tensor sum = OpRun("reductions.sum").input(in).arg("axes", std::vector<int64_t>{0, 1}).result();
    EXPECT_EQ(sum.dtype, is_float(type) ? DType::kF32 : is_signed_int(type) ? DType::kI64 : DType::kU64);
    EXPECT_EQ(sum.layout.str(), "C");
    expect_near(sum, sums, tolerance);
    expect_near(OpRun("reductions.min").input(in).arg("axis_names", std::string("HW")).result(), lows, 0);
    const Tensor high = OpRun("reductions.max")
                            .input(in)
                            .arg("axes", std::vector<int64_t>{-2, 0})
                            .arg("keep_dims", true)
                            .result();
    EXPECT_EQ(high.extents, (std::vector<int64_t>{1, 1, 3}));
    EXPECT_EQ(high.layout.str(), "HWC");
    expect_near(high, highs, 0);
    const Tensor mean = OpRun("reductions.mean").input(in).arg("axes", std::vector<int64_t>{0, 1}).result();
    EXPECT_EQ(mean.dtype, DType::kF32);
    expect_near(mean, means, 1e-3);
    expect_near(OpRun("reductions.mean").input(in).result(), {(sums[0] + sums[1] + sums[2]) / 90}, 1e-3);
    EXPECT_TRUE(OpRun("reductions.sum").input(in).result().extents.empty());
  }
}

TEST(Reductions, CornersAndBadArguments) {
  const Tensor in = tensor(DType::kU8, {3}, {250, 251, 253});
  EXPECT_EQ(OpRun("reductions.sum").input(in).arg("axes", std::vector<int64_t>{}).result().numbers(),
            in.numbers());
  EXPECT_EQ(OpRun("reductions.mean").input(in).arg("dtype", DType::kU8).result()[0], 251);
  EXPECT_EQ(OpRun("reductions.sum").input(in).arg("dtype", DType::kF32).result()[0], 754);
  EXPECT_EQ(OpRun("reductions.sum").input(tensor(DType::kU8, {0}, {})).result()[0], 0);
  EXPECT_NE(OpRun("reductions.mean").input(tensor(DType::kU8, {0}, {})).failure().find("nothing"),
            std::string::npos);
  EXPECT_NE(OpRun("reductions.min").input(in).arg("axes", int64_t{1}).failure().find("out of range"),
            std::string::npos);
  EXPECT_NE(OpRun("reductions.min").input(in).arg("axes", std::vector<int64_t>{0, 0}).failure().find("twice"),
            std::string::npos);
  EXPECT_NE(OpRun("reductions.min").input(in).arg("axis_names", std::string("H")).failure().find("no axis"),
            std::string::npos);
  EXPECT_NE(OpRun("reductions.min").input(scalar(DType::kBool, 1)).failure(), "");
}

}  // namespace
}  // namespace galatea::ops_test
