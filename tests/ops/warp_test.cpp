// rotate and warp_affine against direct formulas in double, and what they refuse.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kWarpNearest = 0, kWarpLinear = 1, kWarpCubic = 2;

struct Warp {
  Numbers matrix;  ///< six elements, row by row
  std::optional<double> fill;
  bool linear = true;
  std::optional<double> cubic = {};  ///< Keys' a
  std::vector<double> fills = {};    ///< of each channel
};

/// Keys 1981, equation 4, at a distance.
double keys(double distance, double a) {
  const double s = std::abs(distance);
  if (s < 1) return (a + 2) * s * s * s - (a + 3) * s * s + 1;
  return s < 2 ? a * s * s * s - 5 * a * s * s + 8 * a * s - 4 * a : 0;
}

/// Values before rounding of h x w pixels of an HWC image.
std::vector<double> reference(const Tensor& in, const Warp& warp, int64_t h, int64_t w) {
  const int64_t height = in.extents[0], width = in.extents[1], channels = in.extents[2];
  auto pixel = [&](double x, double y, int64_t c) {
    const auto rows = static_cast<double>(height), columns = static_cast<double>(width);
    const bool outside = x < 0 || y < 0 || x >= columns || y >= rows;
    if (outside && !warp.fills.empty()) return warp.fills[static_cast<size_t>(c)];
    if (outside && warp.fill) return *warp.fill;
    x = std::clamp(x, 0.0, columns - 1);
    y = std::clamp(y, 0.0, rows - 1);
    return in[static_cast<size_t>((static_cast<int64_t>(y) * width + static_cast<int64_t>(x)) * channels +
                                  c)];
  };
  std::vector<double> out;
  const Numbers& m = warp.matrix;
  for (int64_t j = 0; j < h; ++j)
    for (int64_t i = 0; i < w; ++i) {
      const double u = static_cast<double>(i) + 0.5, v = static_cast<double>(j) + 0.5;
      const double x = m[0] * u + m[1] * v + m[2], y = m[3] * u + m[4] * v + m[5];
      for (int64_t c = 0; c < channels; ++c) {
        if (!warp.linear) {
          out.push_back(pixel(std::floor(x), std::floor(y), c));
          continue;
        }
        const double x0 = std::floor(x - 0.5), y0 = std::floor(y - 0.5);
        if (warp.cubic) {
          double sum = 0;
          for (int k = 0; k < 16; ++k) {
            const double row = y0 - 1 + k / 4, column = x0 - 1 + k % 4;
            sum += keys(y - 0.5 - row, *warp.cubic) * keys(x - 0.5 - column, *warp.cubic) *
                   pixel(column, row, c);
          }
          out.push_back(sum);
          continue;
        }
        const double tx = x - 0.5 - x0, ty = y - 0.5 - y0;
        out.push_back((pixel(x0, y0, c) * (1 - tx) + pixel(x0 + 1, y0, c) * tx) * (1 - ty) +
                      (pixel(x0, y0 + 1, c) * (1 - tx) + pixel(x0 + 1, y0 + 1, c) * tx) * ty);
      }
    }
  return out;
}

Numbers turn(double degrees, double h, double w, double out_h, double out_w) {
  const double a = degrees * std::numbers::pi / 180, c = std::cos(a), s = std::sin(a);
  return {c, -s, w / 2 - (c * out_w - s * out_h) / 2, s, c, h / 2 - (s * out_w + c * out_h) / 2};
}

const Numbers kMixed = {0.8137, -0.4051, 5.2019, 0.5077, 1.1033, -3.7191};

/// Places are f32: an error of some 1e-6 of a pixel shows in wide types.
double warp_tolerance(DType type) { return type == DType::kF32 ? 2e-3 : type == DType::kU8 ? 0.51 : 0.6; }

TEST(WarpAffine, EveryTypeAndChannelCount) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32})
    for (int64_t channels : {1, 2, 3, 4, 7})
      for (bool linear : {false, true}) {
        SCOPED_TRACE(std::string(short_name(type)) + " x " + std::to_string(channels));
        const Tensor in = random_tensor(type, {11, 17, channels}, "HWC", 31);
        const Tensor out = OpRun("warp_affine")
                               .input(in)
                               .arg("matrix", kMixed)
                               .arg("fill_value", 9.0)
                               .arg("interp_type", linear ? kWarpLinear : kWarpNearest)
                               .result();
        ASSERT_EQ(out.extents, in.extents);
        ASSERT_EQ(out.dtype, type);
        expect_near(out, reference(in, {kMixed, 9, linear}, 11, 17), linear ? warp_tolerance(type) : 0);
      }
}

TEST(WarpAffine, Cubic) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32})
    for (int64_t channels : {1, 3, 4, 7})
      for (double a : {-0.5, -0.75, -1.0, 0.0})
        for (bool filled : {false, true}) {
          SCOPED_TRACE(std::string(short_name(type)) + " x " + std::to_string(channels) + ", a " +
                       std::to_string(a));
          const Tensor in = random_tensor(type, {11, 17, channels}, "HWC", 46);
          OpRun run = OpRun("warp_affine").input(in).arg("matrix", kMixed).arg("interp_type", kWarpCubic);
          if (a != -0.5) run.arg("cubic_a", a);
          Warp warp{kMixed, {}, true, a};
          if (filled) {
            run.arg("fill_value", 9.0);
            warp.fill = 9;
          }
          std::vector<double> wanted = reference(in, warp, 11, 17);
          // Overshoots of integers end where their type does.
          const double low = type == DType::kU8 || type == DType::kU16 ? 0 : -1e300;
          const double high = type == DType::kU8 ? 255 : type == DType::kU16 ? 65535 : 1e300;
          for (double& v : wanted) v = std::clamp(v, low, high);
          if (type == DType::kI16)
            for (double& v : wanted) v = std::clamp(v, -32768.0, 32767.0);
          if (type == DType::kI32)
            for (double& v : wanted) v = std::clamp(v, -2147483648.0, 2147483647.0);
          // Weights are f32, sums of sixteen products of them too.
          expect_near(run.result(), wanted,
                      type == DType::kF32   ? 2e-2
                      : type == DType::kU16 ? 0.7
                                            : warp_tolerance(type));
        }
}

/// Pixels two away from the edge are read from places beyond it, however far.
TEST(WarpAffine, CubicPlacesFarAway) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 1}, "HWC", 47);
  for (double far : {1e9, -1e9, -6.0, 7.0, -6.25, 6.75, 1e20, -1e20}) {
    auto run = [&] {
      return OpRun("warp_affine")
          .input(in)
          .arg("matrix", Numbers{1, 0, far, 0, 1, 0})
          .arg("interp_type", kWarpCubic);
    };
    if (std::abs(far) > 7) {
      for (double v : run().arg("fill_value", 77.0).result().numbers()) EXPECT_EQ(v, 77);
      const Tensor edge = run().result();
      for (size_t n = 0; n < 20; ++n) EXPECT_EQ(edge[n], in[n / 5 * 5 + (far < 0 ? 0 : 4)]);
      continue;
    }
    std::vector<double> wanted = reference(in, {{1, 0, far, 0, 1, 0}, 77, true, -0.5}, 4, 5);
    for (double& v : wanted) v = std::clamp(v, 0.0, 255.0);
    expect_near(run().arg("fill_value", 77.0).result(), wanted, 0.51);
  }
}

TEST(WarpAffine, AFillPerChannel) {
  for (const char* layout : {"HWC", "CHW"})
    for (int64_t interp : {kWarpNearest, kWarpLinear, kWarpCubic}) {
      const bool planes = layout[0] == 'C';
      const Tensor hwc = random_tensor(DType::kU8, {9, 12, 3}, "HWC", 48);
      std::vector<double> numbers(hwc.size());
      for (size_t p = 0; p < 108; ++p)
        for (size_t c = 0; c < 3; ++c) numbers[planes ? c * 108 + p : p * 3 + c] = hwc[p * 3 + c];
      const Tensor in =
          tensor(DType::kU8, planes ? std::vector<int64_t>{3, 9, 12} : std::vector<int64_t>{9, 12, 3},
                 numbers, layout);
      const Numbers fills = {200, 20.5, 3};
      const Tensor out = OpRun("warp_affine")
                             .input(in)
                             .arg("matrix", kMixed)
                             .arg("fill_value", fills)
                             .arg("interp_type", interp)
                             .result();
      Warp warp{kMixed, {}, interp != kWarpNearest, {}, {200, 20, 3}};
      if (interp == kWarpCubic) warp.cubic = -0.5;
      std::vector<double> wanted = reference(hwc, warp, 9, 12);
      for (size_t p = 0; p < 108; ++p)
        for (size_t c = 0; c < 3; ++c)
          ASSERT_NEAR(out[planes ? c * 108 + p : p * 3 + c], std::clamp(wanted[p * 3 + c], 0.0, 255.0),
                      interp == kWarpNearest ? 0 : 0.51);
    }
}

TEST(WarpAffine, ChannelsFirstEqualsChannelsLast) {
  const Tensor hwc = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 32);
  std::vector<double> planes;
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 48; ++p) planes.push_back(hwc[p * 3 + c]);
  auto warped = [&](Tensor in) {
    return OpRun("warp_affine")
        .input(std::move(in))
        .arg("matrix", kMixed)
        .arg("size", Numbers{5, 9})
        .result();
  };
  const Tensor a = warped(hwc), b = warped(tensor(DType::kU8, {3, 6, 8}, planes, "CHW"));
  ASSERT_EQ(b.extents, (std::vector<int64_t>{3, 5, 9}));
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 45; ++p) ASSERT_EQ(a[p * 3 + c], b[c * 45 + p]);
}

/// As in DALI: a 0 of the text is a mistake, one that a sample gives is an image without pixels.
TEST(WarpAffine, ExtentsOfZero) {
  const Tensor in = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 33);
  auto run = [&] { return OpRun("warp_affine").input(in).arg("matrix", kMixed); };
  EXPECT_NE(run().arg("size", Numbers{0, 9}).failure().find("the size 0 is not an extent"),
            std::string::npos);
  EXPECT_EQ(run().arg("size", tensor(DType::kF32, {2}, {0, 9})).result().extents,
            (std::vector<int64_t>{0, 9, 3}));
  EXPECT_NE(run().arg("size", tensor(DType::kF32, {2}, {-1, 9})).failure().find("the size -1"),
            std::string::npos);
}

/// Rows that are not there are not read, however long they would be.
TEST(WarpAffine, OfAnImageWithoutPixelsTheFillIsShown) {
  for (const auto& extents : {std::vector<int64_t>{0, 900, 3}, {900, 0, 3}, {0, 0, 3}}) {
    const Tensor in = tensor(DType::kU8, extents, std::vector<double>{}, "HWC");
    for (int64_t interp : {kWarpNearest, kWarpLinear, kWarpCubic}) {
      auto run = [&] {
        return OpRun("warp_affine")
            .input(in)
            .arg("matrix", Numbers{1, 0, 400, 0, 1, 400})
            .arg("size", Numbers{4, 100})
            .arg("interp_type", interp);
      };
      EXPECT_EQ(run().arg("fill_value", 7.0).result().numbers(), std::vector<double>(1200, 7));
      EXPECT_NE(run().failure().find("has no edge to repeat"), std::string::npos);
    }
  }
}

TEST(WarpAffine, TheIdentityIsExact) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (int64_t interp : {kWarpNearest, kWarpLinear, kWarpCubic}) {
      const Tensor in = random_tensor(type, {9, 13, 3}, "HWC", 33);
      EXPECT_EQ(OpRun("warp_affine")
                    .input(in)
                    .arg("matrix", Numbers{1, 0, 0, 0, 1, 0})
                    .arg("interp_type", interp)
                    .result()
                    .numbers(),
                in.numbers());
    }
  // Integers that f32 does not hold.
  const Tensor large = tensor(DType::kI32, {1, 3, 1}, {16777217, -2147483647, 2147483647}, "HWC");
  EXPECT_EQ(OpRun("warp_affine").input(large).arg("matrix", Numbers{1, 0, 0, 0, 1, 0}).result().numbers(),
            large.numbers());
}

TEST(WarpAffine, MatricesOfEveryKind) {
  const Tensor in = random_tensor(DType::kU8, {9, 12, 3}, "HWC", 34);
  const Tensor matrix = tensor(DType::kF32, {2, 3}, kMixed);
  const std::vector<double> expected = reference(in, {kMixed, 0, true}, 9, 12);
  auto run = [&] { return OpRun("warp_affine").input(in).arg("fill_value", 0.0); };
  const Tensor of_text = run().arg("matrix", kMixed).result();
  expect_near(of_text, expected, 0.51);
  EXPECT_EQ(run().arg("matrix", matrix).result().numbers(), of_text.numbers());
  EXPECT_EQ(run().arg("matrix", tensor(DType::kF32, {6}, kMixed)).result().numbers(), of_text.numbers());
  EXPECT_EQ(run().fixed(matrix).result().numbers(), of_text.numbers());
  EXPECT_EQ(run().input(matrix).result().numbers(), of_text.numbers());  // extents known to the run only
  EXPECT_NE(run().input(tensor(DType::kF32, {3, 3}, Numbers(9, 1))).failure().find("3 x 3, 2 x 3 is needed"),
            std::string::npos);
}

TEST(WarpAffine, ForwardMapsAreInverted) {
  const Tensor in = random_tensor(DType::kF32, {9, 12, 1}, "HWC", 35);
  const Numbers& m = kMixed;
  const double det = m[0] * m[4] - m[1] * m[3];
  const double a = m[4] / det, b = -m[1] / det, d = -m[3] / det, e = m[0] / det;
  const Numbers back = {a, b, -(a * m[2] + b * m[5]), d, e, -(d * m[2] + e * m[5])};
  expect_near(OpRun("warp_affine")
                  .input(in)
                  .arg("matrix", kMixed)
                  .arg("inverse_map", false)
                  .arg("fill_value", -3.5)
                  .result(),
              reference(in, {back, -3.5, true}, 9, 12), 2e-3);
}

TEST(WarpAffine, PlacesFarAway) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 1}, "HWC", 36);
  for (double far : {1e9, -1e9, 1e20, -1e20}) {
    auto run = [&] { return OpRun("warp_affine").input(in).arg("matrix", Numbers{1, 0, far, 0, 1, 0}); };
    for (double v : run().arg("fill_value", 77.0).result().numbers()) EXPECT_EQ(v, 77);
    const Tensor edge = run().result();
    for (size_t n = 0; n < 20; ++n) EXPECT_EQ(edge[n], in[n / 5 * 5 + (far < 0 ? 0 : 4)]);
  }
}

TEST(WarpAffine, TypesOfTheOutput) {
  const Tensor bytes = random_tensor(DType::kU8, {6, 7, 3}, "HWC", 37);
  const Tensor floats =
      OpRun("warp_affine").input(bytes).arg("matrix", kMixed).arg("dtype", DType::kF32).result();
  EXPECT_EQ(floats.dtype, DType::kF32);
  expect_near(floats, reference(bytes, {kMixed, {}, true}, 6, 7), 2e-3);
  const Tensor back = OpRun("warp_affine")
                          .input(tensor(DType::kF32, {1, 2, 1}, {300.0, -7.0}, "HWC"))
                          .arg("matrix", Numbers{1, 0, 0, 0, 1, 0})
                          .arg("dtype", DType::kU8)
                          .result();
  EXPECT_EQ(back.numbers(), (std::vector<double>{255, 0}));
  EXPECT_NE(OpRun("warp_affine")
                .input(bytes)
                .arg("matrix", kMixed)
                .arg("dtype", DType::kI16)
                .failure()
                .find("neither the input's type"),
            std::string::npos);
}

TEST(Rotate, TurnsAboutTheCentre) {
  const Tensor in = random_tensor(DType::kU8, {9, 14, 3}, "HWC", 38);
  for (double angle : {13.0, -40.0, 100.5, 275.0, 1000.5})
    for (bool linear : {false, true}) {
      const Tensor out = OpRun("rotate")
                             .input(in)
                             .arg("angle", scalar(DType::kF32, angle))
                             .arg("size", Numbers{11, 8})
                             .arg("fill_value", 5.0)
                             .arg("interp_type", linear ? kWarpLinear : kWarpNearest)
                             .result();
      ASSERT_EQ(out.extents, (std::vector<int64_t>{11, 8, 3}));
      expect_near(out, reference(in, {turn(angle, 9, 14, 11, 8), 5, linear}, 11, 8), linear ? 0.51 : 0);
    }
}

TEST(Rotate, RightAnglesPermutePixels) {
  for (auto [h, w] : {std::pair<int64_t, int64_t>{5, 8}, {7, 7}, {4, 6}, {1, 9}})
    for (int64_t interp : {kWarpNearest, kWarpLinear}) {
      const Tensor in = random_tensor(DType::kU8, {h, w, 1}, "HWC", 39);
      auto at = [&](int64_t y, int64_t x) { return in[static_cast<size_t>(y * w + x)]; };
      const Tensor left = OpRun("rotate").input(in).arg("angle", 90.0).arg("interp_type", interp).result();
      ASSERT_EQ(left.extents, (std::vector<int64_t>{w, h, 1}));
      for (int64_t y = 0; y < w; ++y)
        for (int64_t x = 0; x < h; ++x) ASSERT_EQ(left[static_cast<size_t>(y * h + x)], at(x, w - 1 - y));
      const Tensor half = OpRun("rotate").input(in).arg("angle", -180.0).arg("interp_type", interp).result();
      ASSERT_EQ(half.extents, in.extents);
      for (int64_t y = 0; y < h; ++y)
        for (int64_t x = 0; x < w; ++x)
          ASSERT_EQ(half[static_cast<size_t>(y * w + x)], at(h - 1 - y, w - 1 - x));
      EXPECT_EQ(OpRun("rotate").input(in).arg("angle", 720.0).arg("interp_type", interp).result().numbers(),
                in.numbers());
    }
}

/// An angle of the text makes a view, one of the sample a gather: the same pixels.
TEST(Rotate, RightAnglesOfTheTextAreThoseOfTheSample) {
  for (const char* layout : {"HWC", "CHW"})
    for (double angle : {0.0, 90.0, 180.0, 270.0, -90.0, 450.0})
      for (bool keep_size : {false, true}) {
        const std::vector<int64_t> extents =
            layout[0] == 'H' ? std::vector<int64_t>{6, 9, 3} : std::vector<int64_t>{3, 6, 9};
        const Tensor in = random_tensor(DType::kU8, extents, layout, 43);
        const auto run = [&] {
          return OpRun("rotate").input(in).arg("keep_size", keep_size).arg("fill_value", 7.0);
        };
        const Tensor view = run().arg("angle", angle).result();
        const Tensor gather = run().arg("angle", scalar(DType::kF32, angle)).result();
        EXPECT_EQ(view.extents, gather.extents) << layout << " " << angle;
        EXPECT_EQ(view.numbers(), gather.numbers()) << layout << " " << angle;
      }
}

TEST(Rotate, CanvasHasTheParityOfWhatLiesAlongIt) {
  // Recorded from DALI 2.4: 31 x 22 at these angles; odd multiples of 45 degrees are decided by f32 radians.
  const Tensor in = random_tensor(DType::kU8, {31, 22, 1}, "HWC", 40);
  const std::vector<std::array<int64_t, 3>> kRecorded = {
      {45, 38, 39},  {-45, 38, 39},  {135, 39, 38}, {225, 39, 38},  {315, 38, 39},
      {405, 38, 39}, {-135, 39, 38}, {765, 39, 38}, {1125, 38, 39}, {495, 38, 39},
      {90, 22, 31},  {180, 31, 22},  {270, 22, 31}, {360, 31, 22}};
  for (auto [angle, h, w] : kRecorded)
    EXPECT_EQ(OpRun("rotate").input(in).arg("angle", static_cast<double>(angle)).result().extents,
              (std::vector<int64_t>{h, w, 1}))
        << angle;
}

TEST(Rotate, SizesBySampleAndText) {
  const Tensor in = random_tensor(DType::kU8, {6, 7, 3}, "HWC", 41);
  auto extents = [&](OpRun run) { return run.input(in).arg("angle", 20.0).result().extents; };
  using E = std::vector<int64_t>;
  EXPECT_EQ(extents(OpRun("rotate").arg("keep_size", true)), (E{6, 7, 3}));
  EXPECT_EQ(extents(OpRun("rotate").arg("size", Numbers{2.5, 0.4})), (E{3, 1, 3}));
  EXPECT_EQ(extents(OpRun("rotate").arg("size", 4.0).arg("keep_size", true)), (E{4, 4, 3}));
  EXPECT_EQ(extents(OpRun("rotate").arg("size", tensor(DType::kF32, {2}, {2.9, 3}))), (E{2, 3, 3}));
  const OpRun::Outcome outcome =
      OpRun("rotate").fixed(in).arg("angle", 20.0).arg("size", Numbers{5, 9}).run();
  EXPECT_EQ(outcome.types[0].extents, (E{5, 9, 3}));
}

TEST(Rotate, ImagesWithoutPixels) {
  const Tensor none = tensor(DType::kU8, {0, 4, 3}, {}, "HWC");
  auto run = [&] { return OpRun("rotate").input(none).arg("angle", 0.0); };
  EXPECT_EQ(run().arg("keep_size", true).result().size(), 0u);
  for (double v : run().arg("size", 2.0).arg("fill_value", 6.0).result().numbers()) EXPECT_EQ(v, 6);
  EXPECT_NE(run().arg("size", 2.0).failure().find("no edge to repeat"), std::string::npos);
}

/// Two maps behind one another; the image between them is 6 x 7 and is not made.
TEST(ComposedWarp, OneBlendBehindACanvas) {
  using Texts = std::vector<std::string>;
  const Tensor in = random_tensor(DType::kU8, {9, 14, 3}, "HWC", 44);
  const auto run = [&] {
    return OpRun("composed_warp")
        .input(in)
        .fixed(tensor(DType::kF32, {2}, {2.5, -1.5}))
        .arg("known_extents", std::vector<int64_t>{8, 10})
        .arg("extents", Texts{"8:i64", "10:i64"})
        .arg("fill_value", 9.0);
  };
  const std::string shift_x = "convert.f64(symbol.element(1, 0):f32)",
                    shift_y = "convert.f64(symbol.element(1, 1):f32)";
  const Texts maps = {"1:f64",   "0:f64",   shift_x,   "0:f64",   "1:f64",   shift_y,
                      "0.5:f64", "0.2:f64", "3.1:f64", "0.3:f64", "0.9:f64", "-0.7:f64"};
  const Texts canvases = {"6:i64", "7:i64", "200:f32"};
  const Tensor out = run().arg("maps", maps).arg("canvases", canvases).result();
  const Numbers whole = {0.5, 0.2, 0.5 * 2.5 + 0.2 * -1.5 + 3.1, 0.3, 0.9, 0.3 * 2.5 + 0.9 * -1.5 - 0.7};
  std::vector<double> wanted = reference(in, {whole, 9, true}, 8, 10);
  int beside = 0;
  for (size_t n = 0; n < wanted.size(); ++n) {
    const double x = static_cast<double>(n / 3 % 10) + 3, y = static_cast<double>(n / 30) - 1;
    if (x < 0 || x >= 7 || y < 0 || y >= 6) wanted[n] = 200, ++beside;
  }
  EXPECT_GT(beside, 50);
  expect_near(out, wanted, 0.51);

  const Texts checks = {"lt(symbol.extent(0, 0):i64, 9:i64)", "rotate: {} rows", "", "1",
                        "symbol.extent(0, 0):i64"};
  EXPECT_NE(run()
                .arg("maps", maps)
                .arg("canvases", canvases)
                .arg("checks", checks)
                .failure()
                .find("rotate: 9 rows"),
            std::string::npos);
  struct Bad {
    OpRun run;
    std::string says;
  };
  for (Bad& bad : std::vector<Bad>{
           {run().arg("maps", Texts{"1:f64"}).arg("canvases", Texts{}), "maps has 1 expressions"},
           {run().arg("maps", maps).arg("canvases", Texts{}), "a canvas between each two maps"},
           {run().arg("maps", Texts(6, "axis0")).arg("canvases", Texts{}), "neither arithmetic nor a symbol"},
           {run().arg("maps", Texts(6, "symbol.element(1, 2):f32")).arg("canvases", Texts{}),
            "does not fit input 1"},
           {run().arg("maps", Texts(6, "1:f32")).arg("canvases", Texts{}), "a value of the wrong type"},
           {run().arg("maps", maps).arg("canvases", canvases).arg("checks", Texts{"true", "{}", "", "0"}),
            "a message with other values"},
           {run().arg("maps", maps).arg("canvases", canvases).arg("checks", Texts{"true"}), "no check"}})
    EXPECT_NE(bad.run.failure().find(bad.says), std::string::npos) << bad.says << ": " << bad.run.failure();
}

TEST(Warp, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 42);
  auto warp = [&] { return OpRun("warp_affine").input(in); };
  auto rotate = [&] { return OpRun("rotate").input(in); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Numbers flat = {1, 2, 0, 2, 4, 0};
  const std::vector<std::pair<std::string, std::string>> kFailures = {
      {warp().failure(), "there is no matrix"},
      {warp().fixed(tensor(DType::kF32, {2, 3}, kMixed)).arg("matrix", kMixed).failure(), "two matrices"},
      {warp().fixed(tensor(DType::kF32, {3, 3}, Numbers(9, 1))).failure(), "2 x 3 is needed"},
      {warp().arg("matrix", tensor(DType::kF32, {3, 2}, kMixed)).failure(), "2 x 3 is needed"},
      {warp().arg("matrix", Numbers{1, 0, 0, 1}).failure(), "has 4 elements"},
      {warp().arg("matrix", std::string("identity")).failure(), "not a list of numbers"},
      {warp().arg("matrix", tensor(DType::kF32, {1, 2, 3}, kMixed)).failure(), "2 x 3 is needed"},
      {warp().arg("matrix", Numbers{1, nan, 0, 0, 1, 0}).failure(), "has the element"},
      {warp().arg("matrix", flat).arg("inverse_map", false).failure(), "no inverse"},
      {warp().arg("matrix", tensor(DType::kF32, {2, 3}, flat)).arg("inverse_map", false).failure(),
       "no inverse"},
      {warp().arg("matrix", tensor(DType::kF32, {6}, {1, nan, 0, 0, 1, 0})).failure(), "has the element nan"},
      {rotate().arg("angle", nan).failure(), "the angle is"},
      {rotate().arg("angle", scalar(DType::kF32, nan)).failure(), "no angle"},
      {rotate().arg("angle", 1.0).arg("interp_type", int64_t{3}).failure(), "no other filter"},
      {rotate().arg("angle", 1.0).arg("interp_type", kWarpCubic).arg("cubic_a", -1.5).failure(),
       "cubic_a is -1.5"},
      {rotate().arg("angle", 1.0).arg("cubic_a", nan).failure(), "cubic_a is nan"},
      {rotate().arg("angle", 1.0).arg("fill_value", Numbers{1, 2}).failure(), "2 values of fill_value for 3"},
      {rotate().arg("angle", 1.0).arg("fill_value", Numbers{}).failure(), "empty list"},
      {rotate().arg("angle", 1.0).arg("size", 0.0).failure(), "not an extent"},
      {rotate().arg("angle", 1.0).arg("size", scalar(DType::kF32, -1)).failure(), "not an extent"},
      {rotate().arg("angle", 1.0).arg("size", Numbers{1, 2, 3}).failure(), "2 elements"},
      {rotate().arg("angle", 1.0).arg("fill_value", nan).failure(), "fill_value"},
  };
  for (const auto& [message, part] : kFailures)
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
}

// ---- sphere, water

struct PlaceOf {
  double x, y;
};

PlaceOf on_sphere(double x, double y, double columns, double rows) {
  const double cx = columns / 2, cy = rows / 2, u = x + 0.5 - cx, v = y + 0.5 - cy;
  const double factor = std::hypot(u, v) / std::max(1.0, std::trunc(std::max(cx, cy)));
  return {cx + u * factor, cy + v * factor};
}

PlaceOf in_water(double x, double y, double, double) {
  return {x + 3 * std::sin(0.4 * y + 0.3), y + 2.5 * std::cos(0.7 * x + 1)};
}

/// Against the formulas in double; nearest neighbours where the place does not lie at an edge of pixels.
TEST(Displacement, LooksPixelsUpElsewhere) {
  for (const DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{17, 23}, {24, 9}, {1, 6}, {1, 1}})
      for (const bool linear : {false, true})
        for (const bool sphere : {true, false}) {
          const Tensor in = random_tensor(type, {rows, columns, 2}, "HWC", 31);
          OpRun run = OpRun(sphere ? "sphere" : "water").input(in);
          run.arg("interp_type", int64_t{linear ? 1 : 0}).arg("fill_value", 7.0);
          if (!sphere)
            run.arg("ampl_x", 3.0)
                .arg("ampl_y", 2.5)
                .arg("freq_x", 0.4)
                .arg("freq_y", 0.7)
                .arg("phase_x", 0.3)
                .arg("phase_y", 1.0);
          const Tensor out = run.result();
          const auto pixel = [&](int64_t x, int64_t y, int64_t c) {
            const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
            return inside ? in[static_cast<size_t>((y * columns + x) * 2 + c)] : 7.0;
          };
          int compared = 0;
          for (int64_t n = 0; n < rows * columns * 2; ++n) {
            const int64_t c = n % 2, x = n / 2 % columns, y = n / 2 / columns;
            const PlaceOf p =
                (sphere ? on_sphere : in_water)(static_cast<double>(x), static_cast<double>(y),
                                                static_cast<double>(columns), static_cast<double>(rows));
            const double shift = linear ? 0.5 : 0;
            const double left = std::floor(p.x - shift), top = std::floor(p.y - shift);
            const double tx = p.x - shift - left, ty = p.y - shift - top;
            const auto i = static_cast<int64_t>(left), j = static_cast<int64_t>(top);
            double expected = pixel(i, j, c);
            if (linear) {
              expected = (expected * (1 - tx) + pixel(i + 1, j, c) * tx) * (1 - ty) +
                         (pixel(i, j + 1, c) * (1 - tx) + pixel(i + 1, j + 1, c) * tx) * ty;
            } else if (std::min({tx, 1 - tx, ty, 1 - ty}) < 1e-4) {
              continue;
            }
            ++compared;
            // Places in f32, of slopes up to 2000 a pixel.
            EXPECT_NEAR(out[static_cast<size_t>(n)], expected,
                        !linear               ? 0
                        : type == DType::kF32 ? 0.1
                                              : 0.6)
                << short_name(type) << " " << x << ", " << y << (sphere ? " sphere" : " water");
          }
          EXPECT_GT(compared * 4, rows * columns);
        }
}

TEST(Displacement, MaskAndBadArguments) {
  const Tensor in = random_tensor(DType::kU8, {8, 9, 3}, "HWC", 31);
  for (const char* name : {"sphere", "water"}) {
    EXPECT_EQ(OpRun(name).input(in).arg("mask", scalar(DType::kI32, 0)).result().numbers(), in.numbers());
    EXPECT_NE(OpRun(name).input(in).arg("mask", scalar(DType::kI32, 2)).result().numbers(), in.numbers());
    EXPECT_TRUE(says(OpRun(name).input(in).arg("interp_type", int64_t{2}).failure(), "no other filter"));
    EXPECT_TRUE(says(OpRun(name).input(in).arg("fill_value", HUGE_VAL).failure(), "fill_value is inf"));
    EXPECT_EQ(OpRun(name).input(tensor(DType::kU8, {0, 5, 3}, {}, "HWC")).result().extents,
              (std::vector<int64_t>{0, 5, 3}));
  }
}

}  // namespace
}  // namespace galatea::ops_test
