// paste, experimental.warp_perspective and experimental.remap against direct formulas in double, and what
// they refuse.
#include <algorithm>
#include <cmath>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kTakeNearest = 0, kTakeLinear = 1, kTakeCubic = 2, kTakeLanczos = 3;

double cardinal_sine(double x) {
  const double angle = x * std::acos(-1.0);
  return x == 0 ? 1 : std::sin(angle) / angle;
}

/// The weight of a pixel at a distance.
double weight(int64_t filter, double distance) {
  const double s = std::abs(distance), a = -0.75;
  if (filter == kTakeLinear) return std::max(0.0, 1 - s);
  if (filter == kTakeLanczos) return s < 3 ? cardinal_sine(s) * cardinal_sine(s / 3) : 0;
  if (s < 1) return (a + 2) * s * s * s - (a + 3) * s * s + 1;
  return s < 2 ? a * s * s * s - 5 * a * s * s + 8 * a * s - 4 * a : 0;
}

/// An index beyond 0 .. n - 1 under a border mode; -1: there is nothing.
int64_t bordered(int64_t i, int64_t n, const std::string& mode) {
  if (i >= 0 && i < n) return i;
  if (mode == "constant") return -1;
  if (mode == "replicate") return i < 0 ? 0 : n - 1;
  if (mode == "wrap") return bordered(i < 0 ? i + n : i - n, n, mode);
  if (n == 1) return 0;
  if (mode == "reflect") return bordered(i < 0 ? -i - 1 : 2 * n - 1 - i, n, mode);
  return bordered(i < 0 ? -i : 2 * n - 2 - i, n, mode);
}

/// What an HWC image shows at a place counted from the centre of its first pixel.
double shown(const Tensor& in, double x, double y, int64_t c, int64_t filter, const std::string& mode,
             double fill) {
  const int64_t h = in.extents[0], w = in.extents[1], channels = in.extents[2];
  const auto pixel = [&](int64_t i, int64_t j) {
    i = bordered(i, w, mode);
    j = bordered(j, h, mode);
    return i < 0 || j < 0 ? fill : in[static_cast<size_t>((j * w + i) * channels + c)];
  };
  if (filter == kTakeNearest)
    return pixel(static_cast<int64_t>(std::nearbyint(x)), static_cast<int64_t>(std::nearbyint(y)));
  const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
  double sum = 0, total = 0;
  for (int64_t j = top - 2; j <= top + 3; ++j)
    for (int64_t i = left - 2; i <= left + 3; ++i) {
      const double one =
          weight(filter, x - static_cast<double>(i)) * weight(filter, y - static_cast<double>(j));
      total += one;
      sum += one * pixel(i, j);
    }
  return sum / total;
}

double clamped(DType type, double value) {
  return type == DType::kU8    ? std::clamp(value, 0.0, 255.0)
         : type == DType::kU16 ? std::clamp(value, 0.0, 65535.0)
         : type == DType::kI16 ? std::clamp(value, -32768.0, 32767.0)
                               : value;
}

/// Places in f32 are off by some 1e-6 of a pixel.
double nearness(DType type, int64_t filter) {
  if (filter == kTakeNearest) return 0;
  return type == DType::kU8 ? 0.51 : type == DType::kF32 ? 0.02 : 1.6;
}

const Numbers kTilted = {0.9137, 0.1213, 1.3071, -0.1519, 1.1033, 0.7019, 0.00413, 0.01117, 1.0};

Numbers perspective(const Tensor& in, const Numbers& m, int64_t filter, const std::string& mode, double fill,
                    bool corner, int64_t h, int64_t w) {
  Numbers out;
  const double shift = corner ? 0.5 : 0;
  for (int64_t j = 0; j < h; ++j)
    for (int64_t i = 0; i < w; ++i)
      for (int64_t c = 0; c < in.extents[2]; ++c) {
        const double u = static_cast<double>(i) + shift, v = static_cast<double>(j) + shift;
        const double scale = m[6] * u + m[7] * v + m[8];
        const double x = (m[0] * u + m[1] * v + m[2]) / scale - shift;
        const double y = (m[3] * u + m[4] * v + m[5]) / scale - shift;
        out.push_back(clamped(in.dtype, shown(in, x, y, c, filter, mode, fill)));
      }
  return out;
}

TEST(WarpPerspective, TypesFiltersBordersOrigins) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (int64_t filter : {kTakeNearest, kTakeLinear, kTakeCubic})
      for (const char* mode : {"constant", "replicate", "reflect", "reflect_101", "wrap"})
        for (const char* origin : {"corner", "center"}) {
          SCOPED_TRACE(std::string(short_name(type)) + " " + mode + " " + origin + " " +
                       std::to_string(filter));
          const Tensor in = random_tensor(type, {6, 9, 1}, "HWC", 71);
          const Tensor out = OpRun("experimental.warp_perspective")
                                 .input(in)
                                 .arg("matrix", kTilted)
                                 .arg("interp_type", filter)
                                 .arg("border_mode", std::string(mode))
                                 .arg("pixel_origin", std::string(origin))
                                 .arg("fill_value", Numbers{9.0})
                                 .arg("size", Numbers{10, 12})
                                 .result();
          ASSERT_EQ(out.dtype, type);
          ASSERT_EQ(out.extents, (std::vector<int64_t>{10, 12, 1}));
          expect_near(out, perspective(in, kTilted, filter, mode, 9, origin[1] == 'o', 10, 12),
                      nearness(type, filter));
        }
}

TEST(WarpPerspective, ExtentsLayoutsChannels) {
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {5, 1}, {8, 6}})
    for (int64_t channels : {1, 2, 3, 5}) {
      const Tensor in = random_tensor(DType::kU8, {h, w, channels}, "HWC", 72);
      const Tensor out = OpRun("experimental.warp_perspective").input(in).arg("matrix", kTilted).result();
      expect_near(out, perspective(in, kTilted, kTakeLinear, "constant", 0, true, h, w), 0.51);
      Numbers planes;
      for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
        for (size_t p = 0; p < static_cast<size_t>(h * w); ++p)
          planes.push_back(in[p * static_cast<size_t>(channels) + c]);
      const Tensor chw = OpRun("experimental.warp_perspective")
                             .input(tensor(DType::kU8, {channels, h, w}, planes, "CHW"))
                             .arg("matrix", kTilted)
                             .result();
      for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
        for (size_t p = 0; p < static_cast<size_t>(h * w); ++p)
          ASSERT_EQ(chw[c * static_cast<size_t>(h * w) + p], out[p * static_cast<size_t>(channels) + c]);
    }
  const Tensor grey = random_tensor(DType::kU8, {4, 5}, "HW", 73);
  const Numbers identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_EQ(OpRun("experimental.warp_perspective").input(grey).arg("matrix", identity).result().numbers(),
            grey.numbers());
}

TEST(WarpPerspective, MatricesAndTheirInverses) {
  const Tensor in = random_tensor(DType::kF32, {7, 8, 2}, "HWC", 74);
  const auto run = [&] { return OpRun("experimental.warp_perspective").input(in); };
  const Tensor given = run().arg("matrix", kTilted).result();
  EXPECT_EQ(run().input(tensor(DType::kF32, {3, 3}, kTilted)).result().numbers(), given.numbers());
  EXPECT_EQ(run().arg("matrix", tensor(DType::kF32, {3, 3}, kTilted)).result().numbers(), given.numbers());
  EXPECT_EQ(run().arg("matrix", tensor(DType::kF32, {9}, kTilted)).result().numbers(), given.numbers());
  // By cofactors, in double.
  const Numbers& m = kTilted;
  Numbers back = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                  m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                  m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  expect_near(run().arg("matrix", kTilted).arg("inverse_map", false).result(),
              perspective(in, back, kTakeLinear, "constant", 0, true, 7, 8), 0.02);
  // Nothing lies where W is 0.
  for (double v :
       run().arg("matrix", Numbers{1, 0, 0, 0, 1, 0, 0, 0, 0}).arg("fill_value", 5.0).result().numbers())
    EXPECT_EQ(v, 5);
}

TEST(WarpPerspective, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 75);
  const auto run = [&] { return OpRun("experimental.warp_perspective").input(in); };
  EXPECT_TRUE(says(run().failure(), "there is no matrix"));
  EXPECT_TRUE(says(run().arg("matrix", Numbers{1, 2, 3}).failure(), "3 elements, 3 x 3 are needed"));
  EXPECT_TRUE(
      says(run().arg("matrix", tensor(DType::kF32, {2, 3}, Numbers(6))).failure(), "3 x 3 is needed"));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).input(tensor(DType::kF32, {3, 3}, kTilted)).failure(),
                   "two matrices"));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).arg("border_mode", std::string("none")).failure(),
                   "unknown border_mode \"none\""));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).arg("pixel_origin", std::string("middle")).failure(),
                   "unknown pixel_origin \"middle\""));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).arg("interp_type", int64_t{3}).failure(), "the filters are"));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).arg("fill_value", Numbers{1, 2}).failure(),
                   "2 values of fill_value"));
  EXPECT_TRUE(says(run().arg("matrix", kTilted).arg("size", Numbers{-1}).failure(), "is not an extent"));
  EXPECT_TRUE(says(run()
                       .arg("matrix", tensor(DType::kF32, {9}, {1, 2, 3, 2, 4, 6, 0, 0, 1}))
                       .arg("inverse_map", false)
                       .failure(),
                   "has no inverse"));
  EXPECT_TRUE(says(OpRun("experimental.warp_perspective")
                       .input(tensor(DType::kU8, {0, 5, 3}, {}, "HWC"))
                       .arg("matrix", kTilted)
                       .arg("border_mode", std::string("wrap"))
                       .arg("size", Numbers{2, 2})
                       .failure(),
                   "no edge to repeat"));
}

TEST(Remap, TypesFiltersOrigins) {
  // The last places are those that lie far outside or nowhere.
  const Numbers x = {0.3, 4.9, 7.51, -0.2, 2.75, 1e20, 3, 6.2},
                y = {0, 2.1, 3.3, 1.7, -1.2, 2, -1e20, std::nan("")};
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (int64_t filter : {kTakeNearest, kTakeLinear, kTakeCubic, kTakeLanczos})
      for (bool corner : {true, false}) {
        SCOPED_TRACE(std::string(short_name(type)) + " " + std::to_string(filter));
        const Tensor in = random_tensor(type, {5, 8, 2}, "HWC", 76);
        const Tensor out = OpRun("experimental.remap")
                               .input(in)
                               .input(tensor(DType::kF32, {2, 4}, x, "HW"))
                               .input(tensor(DType::kF32, {2, 4, 1}, y, "HWC"))
                               .arg("interp", filter)
                               .arg("pixel_origin", std::string(corner ? "corner" : "center"))
                               .result();
        ASSERT_EQ(out.extents, (std::vector<int64_t>{2, 4, 2}));
        Numbers wanted;
        for (size_t p = 0; p < 8; ++p)
          for (int64_t c = 0; c < 2; ++c)
            wanted.push_back(p >= 5
                                 ? 0
                                 : clamped(type, shown(in, x[p] - (corner ? 0.5 : 0),
                                                       y[p] - (corner ? 0.5 : 0), c, filter, "constant", 0)));
        expect_near(out, wanted, nearness(type, filter));
      }
}

/// What cv2.remap of OpenCV 5.0 gives for the image and the places below.
const Numbers kOpenCvLinear = {28, 78, 102, 172, 0};
const Numbers kOpenCvCubic = {25, 80, 102, 215, 0};
const Numbers kOpenCvNearest = {0, 70, 130, 190, 0};

TEST(Remap, AsOpenCv) {
  Numbers ramp;
  for (int64_t n = 0; n < 20; ++n) ramp.push_back(static_cast<double>(10 * (n % 5) + 50 * (n / 5)));
  const auto run = [&](int64_t filter) {
    return OpRun("experimental.remap")
        .input(tensor(DType::kU8, {4, 5, 1}, ramp, "HWC"))
        .input(tensor(DType::kF32, {1, 5}, {0.25, 1.5, 2.75, 3.5, -0.5}, "HW"))
        .input(tensor(DType::kF32, {1, 5}, {0.5, 1.25, 1.5, 2.75, 0}, "HW"))
        .arg("interp", filter)
        .arg("pixel_origin", std::string("center"))
        .result()
        .numbers();
  };
  EXPECT_EQ(run(kTakeLinear), kOpenCvLinear);
  EXPECT_EQ(run(kTakeCubic), kOpenCvCubic);
  EXPECT_EQ(run(kTakeNearest), kOpenCvNearest);
}

TEST(Remap, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 77);
  const Tensor map = random_tensor(DType::kF32, {4, 5}, "HW", 78);
  const auto run = [&](const Tensor& x, const Tensor& y) {
    return OpRun("experimental.remap").input(in).input(x).input(y);
  };
  EXPECT_TRUE(
      says(run(map, random_tensor(DType::kF32, {5, 4}, "HW", 1)).failure(), "mapx is 4 x 5, mapy 5 x 4"));
  EXPECT_TRUE(says(OpRun("experimental.remap")
                       .input(in)
                       .fixed(map)
                       .fixed(random_tensor(DType::kF32, {5, 4}, "HW", 1))
                       .failure(),
                   "mapx is f32"));
  EXPECT_TRUE(
      says(run(random_tensor(DType::kF32, {4, 5, 2}, "HWC", 1), map).failure(), "2 channels instead of one"));
  EXPECT_TRUE(says(run(map, map).arg("interp", int64_t{5}).failure(), "the filters are"));
  EXPECT_TRUE(
      says(run(map, map).arg("pixel_origin", std::string("middle")).failure(), "unknown pixel_origin"));
}

TEST(Paste, Places) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kF32})
    for (const char* layout : {"HWC", "CHW"}) {
      const bool planes = layout[0] == 'C';
      for (const auto& [ratio, px, py, least] : {std::tuple{1.0, 0.5, 0.5, 0.0},
                                                 {1.5, 0.3, 1.0, 0.0},
                                                 {2.7, 0.0, 0.9, 12.9},
                                                 {1.01, 1.0, 0.0, 9.0}})
        for (const auto& [h, w] : {std::pair<int64_t, int64_t>{5, 7}, {1, 1}, {1, 6}}) {
          const Tensor in = random_tensor(
              type, planes ? std::vector<int64_t>{2, h, w} : std::vector<int64_t>{h, w, 2}, layout, 79);
          const Tensor out = OpRun("paste")
                                 .input(in)
                                 .arg("ratio", ratio)
                                 .arg("fill_value", std::vector<int64_t>{3, 4})
                                 .arg("paste_x", px)
                                 .arg("paste_y", scalar(DType::kF32, py))
                                 .arg("min_canvas_size", least)
                                 .result();
          const auto side = [&](int64_t n) {
            return std::max(static_cast<int64_t>(static_cast<float>(ratio) * static_cast<float>(n)),
                            static_cast<int64_t>(least));
          };
          const int64_t rows = side(h), columns = side(w);
          ASSERT_EQ(out.extents, planes ? (std::vector<int64_t>{2, rows, columns})
                                        : (std::vector<int64_t>{rows, columns, 2}));
          const auto top = static_cast<int64_t>(static_cast<float>(py) * static_cast<float>(rows - h));
          const auto left = static_cast<int64_t>(static_cast<float>(px) * static_cast<float>(columns - w));
          const auto at = [&](const Tensor& t, int64_t y, int64_t x, int64_t c, int64_t height,
                              int64_t width) {
            return t[static_cast<size_t>(planes ? (c * height + y) * width + x : (y * width + x) * 2 + c)];
          };
          for (int64_t y = 0; y < rows; ++y)
            for (int64_t x = 0; x < columns; ++x)
              for (int64_t c = 0; c < 2; ++c) {
                const bool inside = y >= top && y < top + h && x >= left && x < left + w;
                ASSERT_EQ(at(out, y, x, c, rows, columns),
                          inside ? at(in, y - top, x - left, c, h, w) : static_cast<double>(3 + c));
              }
        }
    }
}

TEST(Paste, FillsAreClamped) {
  const Tensor in = tensor(DType::kU8, {1, 1, 3}, {9, 9, 9}, "HWC");
  const Tensor out =
      OpRun("paste").input(in).arg("ratio", 2.0).arg("fill_value", std::vector<int64_t>{300, -1, 7}).result();
  EXPECT_EQ(out.numbers(), (Numbers{9, 9, 9, 255, 0, 7, 255, 0, 7, 255, 0, 7}));
}

TEST(Paste, Refused) {
  const Tensor in = random_tensor(DType::kU8, {4, 5, 3}, "HWC", 80);
  const auto run = [&] { return OpRun("paste").input(in).arg("fill_value", std::vector<int64_t>{1}); };
  EXPECT_TRUE(says(run().arg("ratio", 0.5).failure(), "ratio is 0.5"));
  EXPECT_TRUE(says(run().arg("ratio", scalar(DType::kF32, 0.5)).failure(), "ratio is 0.5"));
  EXPECT_TRUE(says(run().arg("ratio", scalar(DType::kF32, std::nan(""))).failure(), "ratio is"));
  EXPECT_TRUE(says(run().arg("ratio", 2.0).arg("paste_x", 1.5).failure(), "paste_x is 1.5"));
  EXPECT_TRUE(
      says(run().arg("ratio", 2.0).arg("paste_y", scalar(DType::kF32, -1)).failure(), "paste_y is -1"));
  EXPECT_TRUE(says(run().arg("ratio", 2.0).arg("min_canvas_size", -1.0).failure(), "min_canvas_size is -1"));
  EXPECT_TRUE(says(run().arg("ratio", scalar(DType::kF32, 1e7)).failure(), "too large"));
  EXPECT_TRUE(says(run().arg("ratio", 2.0).arg("n_channels", int64_t{4}).failure(), "3 channels"));
  EXPECT_TRUE(
      says(OpRun("paste").input(in).arg("ratio", 2.0).arg("fill_value", std::vector<int64_t>{1, 2}).failure(),
           "2 values of fill_value"));
}

}  // namespace
}  // namespace galatea::ops_test
