// Resampling against a direct evaluation of its definition in double: weights from the filter formulas, edge
// pixels repeated, no tables.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/ops/op_tester.h"

namespace galatea::ops_test {
namespace {

enum { kNn = 0, kLinear = 1, kCubic = 2, kLanczos3 = 3, kTriangular = 4, kGaussian = 5 };

double sinc(double v) { return v == 0 ? 1 : std::sin(M_PI * v) / (M_PI * v); }

double kernel_value(int filter, double t, double r) {
  switch (filter) {
    case kLinear:
    case kTriangular:
      return std::max(0.0, 1 - std::abs(t) / r);
    case kCubic: {
      const double u = 2 * std::abs(t) / r;
      return u <= 1  ? 1.5 * u * u * u - 2.5 * u * u + 1
             : u < 2 ? -0.5 * u * u * u + 2.5 * u * u - 4 * u + 2
                     : 0;
    }
    default: {
      const double u = 3 * t / r;
      return std::abs(u) >= 3 ? 0 : sinc(u) * sinc(u / 3);
    }
  }
}

/// Between 65 values of exp(-(2 t / r)^2) lie straight lines; 1 is a step from one to the next.
double tabulated_gaussian(double at) {
  auto value = [](double n) { return n > 64 ? 0.0 : std::exp(-std::pow((n - 32) / 16, 2)); };
  const double below = std::floor(at);
  return std::lerp(value(below), value(below + 1), at - below);
}

struct Tap {
  int64_t pixel;
  double weight;
};

/// The taps of one cell of a Gaussian of radius r, at positions that are rounded to f32 as DALI's are.
std::vector<Tap> gaussian_taps(double lo, double hi, int64_t n, int64_t i, double r) {
  const float per_pixel =
      64 / (static_cast<float>(r) * 0.5F * static_cast<float>(M_SQRT1_2) * 4 * static_cast<float>(M_SQRT2));
  const float step = static_cast<float>(hi - lo) / static_cast<float>(n);
  const float begin = static_cast<float>(lo) + (0.5F * step - 0.5F - 32 / per_pixel);
  const float place = static_cast<float>(i) * step + begin;
  const auto first = static_cast<int64_t>(std::ceil(place));
  std::vector<Tap> taps;
  for (int64_t k = 0; static_cast<float>(k) < 64 / per_pixel; ++k)
    taps.push_back(
        {first + k, tabulated_gaussian((static_cast<double>(first + k) - static_cast<double>(place)) *
                                       static_cast<double>(per_pixel))});
  return taps;
}

/// The taps of one cell of any other filter.
std::vector<Tap> exact_taps(int filter, double s, double r) {
  std::vector<Tap> taps;
  const auto first = static_cast<int64_t>(std::ceil(s - r - 0.5 - 1e-9));
  const auto count = static_cast<int64_t>(std::ceil(2 * r - 1e-9));
  for (int64_t k = first; k < first + count; ++k)
    taps.push_back({k, kernel_value(filter, static_cast<double>(k) + 0.5 - s, r)});
  return taps;
}

/// One axis: for every output cell the weights of the input pixels; the filter is made for `least` of them at
/// least.
std::vector<std::vector<double>> axis_weights(int64_t extent, double lo, double hi, int64_t n, int filter,
                                              bool antialias, double least = 1) {
  const double scale = (hi - lo) / static_cast<double>(n), q = std::max(std::abs(scale), least);
  double r = filter == kCubic ? 2 : filter == kLanczos3 ? 3 : 1;
  if ((antialias || filter == kTriangular) && q > 1) r *= q;
  std::vector<std::vector<double>> result;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> w(static_cast<size_t>(extent), 0.0);
    const double s = lo + (static_cast<double>(i) + 0.5) * scale;
    const std::vector<Tap> taps = filter == kNn ? std::vector<Tap>{{static_cast<int64_t>(std::floor(s)), 1}}
                                  : filter == kGaussian ? gaussian_taps(lo, hi, n, i, r)
                                                        : exact_taps(filter, s, r);
    double sum = 0;
    for (const Tap& tap : taps) sum += tap.weight;
    for (const Tap& tap : taps)
      w[static_cast<size_t>(std::clamp<int64_t>(tap.pixel, 0, extent - 1))] += tap.weight / sum;
    result.push_back(std::move(w));
  }
  return result;
}

struct Box {
  double y0, x0, y1, x1;
};

using Weights = std::vector<std::vector<double>>;

/// HWC image resampled by the weights of rows and columns.
std::vector<double> blended(const Tensor& in, const Weights& rows, const Weights& columns) {
  const auto H = static_cast<size_t>(in.extents[0]), W = static_cast<size_t>(in.extents[1]),
             C = static_cast<size_t>(in.extents[2]);
  std::vector<double> out;
  for (const std::vector<double>& row : rows)
    for (const std::vector<double>& column : columns)
      for (size_t c = 0; c < C; ++c) {
        double sum = 0;
        for (size_t j = 0; j < H; ++j)
          for (size_t i = 0; i < W; ++i) sum += row[j] * column[i] * in[(j * W + i) * C + c];
        out.push_back(sum);
      }
  return out;
}

/// HWC image resampled to h x w.
std::vector<double> reference(const Tensor& in, Box box, int64_t h, int64_t w, int min_filter, int mag_filter,
                              bool antialias) {
  auto pick = [&](int64_t n, double span) {
    return static_cast<double>(n) < std::abs(span) ? min_filter : mag_filter;
  };
  return blended(in, axis_weights(in.extents[0], box.y0, box.y1, h, pick(h, box.y1 - box.y0), antialias),
                 axis_weights(in.extents[1], box.x0, box.x1, w, pick(w, box.x1 - box.x0), antialias));
}

double tolerance(DType type) { return type == DType::kU8 ? 0.53 : is_float(type) ? 3e-6 : 0.53; }

void expect_resized(const Tensor& out, const Tensor& in, Box box, int64_t h, int64_t w, int min_filter,
                    int mag_filter, bool antialias) {
  ASSERT_EQ(out.extents, (std::vector<int64_t>{h, w, in.extents[2]}));
  std::vector<double> expected = reference(in, box, h, w, min_filter, mag_filter, antialias);
  for (double& e : expected)
    if (!is_float(out.dtype))
      e = std::clamp(e, static_cast<double>(min_int(out.dtype)), static_cast<double>(max_int(out.dtype)));
  expect_near(out, expected, tolerance(out.dtype));
}

Box whole(const Tensor& in) {
  return {0, 0, static_cast<double>(in.extents[0]), static_cast<double>(in.extents[1])};
}

TEST(Resize, EveryFilterTypeAndDirection) {
  for (DType type : {DType::kU8, DType::kI16, DType::kU16, DType::kF32})
    for (int filter : {kNn, kLinear, kCubic, kLanczos3, kTriangular, kGaussian})
      for (auto [h, w] : {std::pair<int64_t, int64_t>{5, 31}, {23, 6}, {9, 14}}) {
        const Tensor in = random_tensor(type, {9, 14, type == DType::kF32 ? 1 : 3}, "HWC", 7);
        const Tensor out =
            OpRun("resize")
                .input(in)
                .arg("size", std::vector<double>{static_cast<double>(h), static_cast<double>(w)})
                .arg("interp_type", int64_t{filter})
                .result();
        SCOPED_TRACE(std::string(short_name(type)) + " filter " + std::to_string(filter));
        expect_resized(out, in, whole(in), h, w, filter, filter, true);
        EXPECT_EQ(out.layout.str(), "HWC");
      }
}

TEST(Resize, MixedFiltersAndNoAntialias) {
  const Tensor in = random_tensor(DType::kU8, {12, 10, 3}, "HWC", 8);
  const Tensor out = OpRun("resize")
                         .input(in)
                         .arg("resize_y", 4.0)
                         .arg("resize_x", 22.0)
                         .arg("min_filter", int64_t{kLanczos3})
                         .arg("mag_filter", int64_t{kCubic})
                         .arg("antialias", false)
                         .arg("dtype", DType::kF32)
                         .result();
  expect_near(out, reference(in, whole(in), 4, 22, kLanczos3, kCubic, false), 0.02);
  // Per sample: interp_type 0 is nearest neighbour.
  const Tensor nearest = OpRun("resize")
                             .input(in)
                             .arg("size", tensor(DType::kF32, {2}, {7, 5}))
                             .arg("interp_type", scalar(DType::kI32, kNn))
                             .result();
  expect_resized(nearest, in, whole(in), 7, 5, kNn, kNn, true);
  const Tensor cubic = OpRun("resize")
                           .input(in)
                           .arg("size", tensor(DType::kF32, {2}, {7, 5}))
                           .arg("interp_type", scalar(DType::kI32, kCubic))
                           .result();
  expect_resized(cubic, in, whole(in), 7, 5, kCubic, kCubic, true);
}

TEST(Resize, ChannelsFirst) {
  const Tensor hwc = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 9);
  std::vector<double> planes;
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 48; ++p) planes.push_back(hwc[p * 3 + c]);
  const Tensor a = OpRun("resize").input(hwc).arg("size", std::vector<double>{4, 13}).result();
  const Tensor b = OpRun("resize")
                       .input(tensor(DType::kU8, {3, 6, 8}, planes, "CHW"))
                       .arg("size", std::vector<double>{4, 13})
                       .result();
  ASSERT_EQ(b.extents, (std::vector<int64_t>{3, 4, 13}));
  for (size_t c = 0; c < 3; ++c)
    for (size_t p = 0; p < 52; ++p) ASSERT_EQ(a[p * 3 + c], b[c * 52 + p]);
}

TEST(Resize, SizesByModeAndSide) {
  const Tensor in = random_tensor(DType::kU8, {72, 128, 1}, "HWC", 10);
  auto extents = [&](OpRun run) { return run.input(in).arg("interp_type", int64_t{kNn}).result().extents; };
  using E = std::vector<int64_t>;
  const std::vector<double> both = {48, 64};
  EXPECT_EQ(extents(OpRun("resize").arg("size", both)), (E{48, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("size", both).arg("mode", std::string("not_larger"))),
            (E{36, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("size", both).arg("mode", std::string("not_smaller"))),
            (E{48, 85, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("resize_shorter", 36.0)), (E{36, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("resize_longer", 32.0)), (E{18, 32, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("resize_x", 64.0)), (E{36, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("resize_x", 64.0).arg("mode", std::string("stretch"))),
            (E{72, 64, 1}));
  EXPECT_EQ(
      extents(OpRun("resize").arg("resize_shorter", 100.0).arg("max_size", std::vector<double>{60, 120})),
      (E{60, 107, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("size", both).arg("max_size", 50.0)), (E{48, 50, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("resize_shorter", scalar(DType::kF32, 36))), (E{36, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("size", std::vector<double>{0, 64})), (E{36, 64, 1}));
  EXPECT_EQ(extents(OpRun("resize").arg("size", std::vector<double>{0.2, 64})), (E{1, 64, 1}));
}

TEST(Resize, RegionsAreFinite) {
  for (const char* bad : {"roi_start", "roi_end"}) {
    OpRun run("resize");
    run.input(random_tensor(DType::kU8, {6, 8, 3}, Layout("HWC"), 1)).arg("size", std::vector<double>{4, 4});
    for (const char* name : {"roi_start", "roi_end"})
      run.arg(name, tensor(DType::kF32, {2}, {1, name == bad ? std::nan("") : 5}));
    EXPECT_TRUE(says(run.failure(), "must be finite")) << bad;
  }
}

TEST(Resize, RegionsAndMirrors) {
  const Tensor in = random_tensor(DType::kU8, {20, 24, 3}, "HWC", 11);
  const Tensor roi = OpRun("resize")
                         .input(in)
                         .arg("size", std::vector<double>{7, 9})
                         .arg("roi_start", std::vector<double>{2, 3.5})
                         .arg("roi_end", std::vector<double>{15, 20})
                         .result();
  expect_resized(roi, in, {2, 3.5, 15, 20}, 7, 9, kLinear, kLinear, true);
  const Tensor relative = OpRun("resize")
                              .input(in)
                              .arg("size", std::vector<double>{7, 9})
                              .arg("roi_start", std::vector<double>{0.25, 1})
                              .arg("roi_end", std::vector<double>{0.75, 0})
                              .arg("roi_relative", true)
                              .result();
  expect_resized(relative, in, {5, 24, 15, 0}, 7, 9, kLinear, kLinear, true);
  // A fractional extent keeps its scale: 20 rows to 7.4, sampled as 7 rows of 20 / 7.4 about the centre.
  const Tensor fractional = OpRun("resize").input(in).arg("size", std::vector<double>{7.4, 24}).result();
  const double half = 10 * 7 / static_cast<double>(7.4f);
  expect_resized(fractional, in, {10 - half, 0, 10 + half, 24}, 7, 24, kLinear, kLinear, true);
  const Tensor rough = OpRun("resize")
                           .input(in)
                           .arg("size", std::vector<double>{7.4, 24})
                           .arg("subpixel_scale", false)
                           .result();
  expect_resized(rough, in, whole(in), 7, 24, kLinear, kLinear, true);
}

TEST(Resize, SameSizeAndConstantImagesStay) {
  const Tensor in = random_tensor(DType::kU8, {11, 13, 3}, "HWC", 12);
  for (int filter : {kNn, kLinear, kCubic, kLanczos3})
    EXPECT_EQ(OpRun("resize")
                  .input(in)
                  .arg("size", std::vector<double>{11, 13})
                  .arg("interp_type", int64_t{filter})
                  .result()
                  .numbers(),
              in.numbers())
        << filter;
  const Tensor flat = tensor(DType::kU8, {17, 19, 1}, std::vector<double>(17 * 19, 201), "HWC");
  for (int filter : {kLinear, kCubic, kLanczos3, kGaussian})
    for (double v :
         OpRun("resize").input(flat).arg("size", 6.0).arg("interp_type", int64_t{filter}).result().numbers())
      ASSERT_EQ(v, 201) << filter;
}

TEST(Resize, OriginalExtentsAndKnownOutputs) {
  const Tensor in = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 13);
  const OpRun::Outcome outcome = OpRun("resize")
                                     .input(in, {false, false, true})
                                     .arg("size", std::vector<double>{4, 5})
                                     .arg("save_attrs", true)
                                     .run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.outputs[1].numbers(), (std::vector<double>{6, 8}));
  EXPECT_EQ(outcome.types[0].extents, (std::vector<int64_t>{4, 5, 3}));
}

TEST(Resize, BadArguments) {
  const Tensor in = random_tensor(DType::kU8, {6, 8, 3}, "HWC", 14);
  auto message = [&](OpRun run) { return run.input(in).failure(); };
  EXPECT_NE(message(OpRun("resize")).find("no size"), std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", 4.0).arg("resize_x", 4.0)).find("exclude"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", 4.0).arg("mode", std::string("fit"))).find("unknown mode"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("resize_shorter", 4.0).arg("mode", std::string("stretch")))
                .find("no meaning"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", 4.0).arg("roi_start", 1.0)).find("come together"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", std::vector<double>{1, 2, 3})).find("takes 2 elements"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", 4.0).arg("dtype", DType::kI16)).find("neither"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", scalar(DType::kF32, 1e9))).find("not an extent"),
            std::string::npos);
  EXPECT_NE(message(OpRun("resize").arg("size", 4.0).arg("interp_type", scalar(DType::kI32, 9)))
                .find("interpolation"),
            std::string::npos);
  EXPECT_NE(OpRun("resize")
                .input(tensor(DType::kU8, {0, 8, 3}, {}, "HWC"))
                .arg("size", 4.0)
                .failure()
                .find("without elements"),
            std::string::npos);
  EXPECT_NE(OpRun("resize").input(random_tensor(DType::kU8, {2, 6, 8}, "FHW", 1)).arg("size", 4.0).failure(),
            "");
}

// An area above the image's fits never: as in DALI, the attempts fail and the whole image is taken.
TEST(RandomResizedCrop, AreasAboveTheImage) {
  const Tensor in = random_tensor(DType::kU8, {40, 50, 3}, "HWC", 15);
  EXPECT_EQ(OpRun("random_resized_crop")
                .input(in)
                .arg("size", std::vector<int64_t>{40, 50})
                .arg("random_area", std::vector<double>{1.1, 1.25})
                .result()
                .numbers(),
            in.numbers());
}

TEST(RandomResizedCrop, IsAResampledWindow) {
  const Tensor in = random_tensor(DType::kU8, {40, 50, 3}, "HWC", 15);
  const Tensor out = OpRun("random_resized_crop")
                         .input(in)
                         .arg("size", std::vector<int64_t>{8, 6})
                         .sample(3)
                         .key(99)
                         .result();
  ASSERT_EQ(out.extents, (std::vector<int64_t>{8, 6, 3}));
  // Some integer window with an allowed ratio and area explains the first column of channel 0.
  std::map<std::pair<int64_t, int64_t>, std::vector<double>> columns;  // by the window's width and place
  for (int64_t w = 1; w <= 50; ++w)
    for (int64_t x = 0; x + w <= 50; ++x)
      columns[{w, x}] =
          axis_weights(50, static_cast<double>(x), static_cast<double>(x + w), 6, kLinear, true)[0];
  const auto explains = [&](int64_t y, int64_t h) {
    const auto rows = axis_weights(40, static_cast<double>(y), static_cast<double>(y + h), 8, kLinear, true);
    std::vector<std::vector<double>> blended_rows(8, std::vector<double>(50));
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 40; ++j)
        for (size_t k = 0; k < 50 && rows[i][j] != 0; ++k)
          blended_rows[i][k] += rows[i][j] * in[(j * 50 + k) * 3];
    return std::ranges::any_of(columns, [&](const auto& column) {
      const auto& [place, weights] = column;
      const double ratio = static_cast<double>(place.first) / static_cast<double>(h),
                   area = static_cast<double>(h * place.first) / 2000;
      if (ratio < 0.75 || ratio > 1.334 || area < 0.07) return false;
      for (size_t i = 0; i < 8; ++i) {
        const double sum = std::inner_product(weights.begin(), weights.end(), blended_rows[i].begin(), 0.0);
        if (std::abs(sum - out[i * 6 * 3]) >= 0.6) return false;
      }
      return true;
    });
  };
  bool explained = false;
  for (int64_t h = 1; h <= 40 && !explained; ++h)
    for (int64_t y = 0; y + h <= 40 && !explained; ++y) explained = explains(y, h);
  EXPECT_TRUE(explained);
  EXPECT_EQ(
      OpRun("random_resized_crop").input(in).arg("size", int64_t{8}).sample(3).key(99).result().numbers(),
      OpRun("random_resized_crop").input(in).arg("size", int64_t{8}).sample(3).key(99).result().numbers());
  EXPECT_NE(
      OpRun("random_resized_crop").input(in).arg("size", int64_t{8}).sample(3).key(99).result().numbers(),
      OpRun("random_resized_crop").input(in).arg("size", int64_t{8}).sample(4).key(99).result().numbers());
  EXPECT_NE(OpRun("random_resized_crop").input(in).arg("size", int64_t{0}).failure().find("positive"),
            std::string::npos);
  EXPECT_NE(OpRun("random_resized_crop")
                .input(in)
                .arg("size", int64_t{8})
                .arg("random_area", std::vector<double>{0.5, 0.2})
                .failure()
                .find("low <= high"),
            std::string::npos);
}

/// The window of the resized image, from the part of the input that it shows.
TEST(ResizeCropMirror, ResamplesTheWindow) {
  const Tensor in = random_tensor(DType::kF32, {31, 22, 3}, "HWC", 12);
  constexpr int64_t kRows = 17, kColumns = 40;  // of the resized image
  struct Window {
    int64_t h, w, y, x;
    double pos_y, pos_x;
  };
  // The last one is larger than the resized image.
  const Window windows[] = {
      {9, 16, 4, 12, 0.5, 0.5}, {8, 11, 0, 29, 0, 1}, {17, 40, 0, 0, 0.3, 0.7}, {21, 44, -2, -2, 0.5, 0.5}};
  for (const Window& window : windows)
    for (const int64_t mirror : {0, 1, 2, 3})
      for (const bool antialias : {true, false}) {
        const Tensor out = OpRun(antialias ? "resize_crop_mirror" : "fast_resize_crop_mirror")
                               .input(in)
                               .arg("size", std::vector<double>{kRows, kColumns})
                               .arg("crop", std::vector<double>{static_cast<double>(window.h),
                                                                static_cast<double>(window.w)})
                               .arg("crop_pos_y", window.pos_y)
                               .arg("crop_pos_x", window.pos_x)
                               .arg("mirror", mirror)
                               .result();
        ASSERT_EQ(out.extents, (std::vector<int64_t>{window.h, window.w, 3}));
        const auto weights = [&](int64_t extent, int64_t n, int64_t first, int64_t count, bool mirrored) {
          const double step = static_cast<double>(extent) / static_cast<double>(n);
          const double lo = static_cast<double>(first) * step, hi = static_cast<double>(first + count) * step;
          return axis_weights(extent, mirrored ? hi : lo, mirrored ? lo : hi, count, kLinear, antialias);
        };
        expect_near(out,
                    blended(in, weights(31, kRows, window.y, window.h, (mirror & 2) != 0),
                            weights(22, kColumns, window.x, window.w, (mirror & 1) != 0)),
                    0.02);
      }
}

TEST(ResizeCropMirror, WithoutAWindowIsResizeAndFlip) {
  const Tensor in = random_tensor(DType::kU8, {13, 9, 3}, "HWC", 12);
  const Tensor whole = OpRun("resize").input(in).arg("resize_shorter", 12.5).result();
  const Tensor same = OpRun("resize_crop_mirror").input(in).arg("resize_shorter", 12.5).result();
  EXPECT_EQ(same.extents, whole.extents);
  EXPECT_EQ(same.numbers(), whole.numbers());
  // Of a volume the slices stay, or run backwards.
  const Tensor volume = random_tensor(DType::kF32, {3, 5, 4, 2}, "DHWC", 4);
  const Tensor sized = OpRun("resize").input(volume).arg("size", std::vector<double>{7, 6}).result();
  const Tensor turned = OpRun("resize_crop_mirror")
                            .input(volume)
                            .arg("size", std::vector<double>{7, 6})
                            .arg("mirror", scalar(DType::kI32, 4))
                            .result();
  ASSERT_EQ(turned.extents, sized.extents);
  const size_t slice = sized.size() / 3;
  for (size_t n = 0; n < sized.size(); ++n)
    EXPECT_NEAR(turned[n], sized[(2 - n / slice) * slice + n % slice], 1e-3) << n;
  EXPECT_TRUE(says(OpRun("resize_crop_mirror").input(in).arg("crop", std::vector<double>{3, 4}).failure(),
                   "no size"));
  EXPECT_TRUE(says(OpRun("resize_crop_mirror").input(in).arg("size", 8.0).arg("crop_w", 3.0).failure(),
                   "come together"));
  // The position of no window is not looked at.
  EXPECT_EQ(OpRun("resize_crop_mirror").input(in).arg("size", 8.0).arg("crop_pos_x", 1.5).result().numbers(),
            OpRun("resize").input(in).arg("size", 8.0).result().numbers());
}

/// Rows are made smaller; columns run backwards, are made larger, and keep the filter of an earlier step that
/// made them smaller.
TEST(ComposedResize, IntervalsAndTheWiderFilter) {
  using Texts = std::vector<std::string>;
  const Tensor in = random_tensor(DType::kU8, {12, 10, 3}, "HWC", 9);
  const auto run = [&] {
    return OpRun("composed_resize").input(in).arg("known_extents", std::vector<int64_t>{5, 14});
  };
  const Texts intervals = {"2.5:f64", "9.25:f64", "5:i64", "1:f64", "9:f64", "1.5:f64", "14:i64", "1.8:f64"};
  const Tensor out = run().arg("intervals", intervals).arg("dtype", DType::kF32).result();
  ASSERT_EQ(out.extents, (std::vector<int64_t>{5, 14, 3}));
  // Weights along rows of bytes have 14 bits.
  expect_near(out,
              blended(in, axis_weights(12, 2.5, 9.25, 5, kLinear, true),
                      axis_weights(10, 9, 1.5, 14, kLinear, true, 1.8)),
              0.05);

  Texts negative = intervals;
  negative[2] = "-5:i64";
  EXPECT_NE(run().arg("intervals", negative).failure().find("-5 x 14 are no extents of an image"),
            std::string::npos);
  const Texts checks = {"lt(symbol.extent(0, 0):i64, 12:i64)", "resize: {} rows", "", "1",
                        "symbol.extent(0, 0):i64"};
  EXPECT_NE(run().arg("intervals", intervals).arg("checks", checks).failure().find("resize: 12 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace galatea::ops_test
