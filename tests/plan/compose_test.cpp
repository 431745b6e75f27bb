// What resamplings give that became one under exact=False, against the composed map worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/plan/run_graph.h"
#include "tests/support/tiers.h"

namespace galatea {
namespace {

using testing::run_graph;

using Affine = std::array<double, 6>;

std::array<double, 2> at(const Affine& m, const std::array<double, 2>& p) {
  return {m[0] * p[0] + m[1] * p[1] + m[2], m[3] * p[0] + m[4] * p[1] + m[5]};
}

/// The bilinear blend at a place that is counted from corners of pixels; `fill` outside.
double blend(const runtime::Tensor& image, const std::array<double, 2>& place, int64_t channel, double fill) {
  const int64_t h = image.extents[0], w = image.extents[1];
  const double x = place[0] - 0.5, y = place[1] - 0.5;
  const auto left = static_cast<int64_t>(std::floor(x)), top = static_cast<int64_t>(std::floor(y));
  double sum = 0;
  for (const int64_t row : {top, top + 1})
    for (const int64_t column : {left, left + 1}) {
      const bool inside = row >= 0 && row < h && column >= 0 && column < w;
      const double value = inside ? image.data[(row * w + column) * 3 + channel] : fill;
      sum += value * (1 - std::abs(x - static_cast<double>(column))) *
             (1 - std::abs(y - static_cast<double>(row)));
    }
  return sum;
}

/// Three warps and a mirror, composed by hand: one blend, and images in between that end where they end.
TEST(Plan, ComposedWarps) {
  const std::string text = R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %turned = rotate(%image) {angle=20.0, keep_size=true, fill_value=10.0} : u8[?,?,?] HWC
  %mirrored = flip(%turned) {horizontal=1} : u8[?,?,?] HWC
  %sheared = warp_affine(%mirrored) {matrix=[1.0, 0.2, -3.0, 0.1, 0.9, 2.0], fill_value=200.0} : u8[?,?,?] HWC
  %moved = warp_affine(%sheared) {matrix=[1.0, 0.0, 2.25, 0.0, 1.0, -1.75], fill_value=30.0} : u8[?,?,?] HWC
  return %moved
}
)";
  auto judge = codegen::make_interpreter_backend(true);
  const auto composed = run_graph(text, judge.get(), true, true, runtime::ExecutorKind::kInline);
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  ASSERT_TRUE(llvm);
  EXPECT_EQ(composed, run_graph(text, llvm->get(), true, true, runtime::ExecutorKind::kCpu));
  EXPECT_NE(composed, run_graph(text, judge.get(), true, false, runtime::ExecutorKind::kInline));
  runtime::Allocator allocator;
  const auto images = testing::ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}});
  ASSERT_EQ(composed.size(), images.size());
  const double turn = 20.0 * std::acos(-1.0) / 180, c = std::cos(turn), s = std::sin(turn);
  const Affine move = {1, 0, 2.25, 0, 1, -1.75}, shear = {1, 0.2, -3, 0.1, 0.9, 2};
  int64_t compared = 0, beside = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    const auto h = static_cast<double>(images[i].extents[0]), w = static_cast<double>(images[i].extents[1]);
    const Affine mirror = {-1, 0, w, 0, 1, 0};
    const Affine rotate = {c, -s, w / 2 - (c * w / 2 - s * h / 2), s, c, h / 2 - (s * w / 2 + c * h / 2)};
    const auto outside = [&](const std::array<double, 2>& p) {
      return p[0] < 0 || p[0] >= w || p[1] < 0 || p[1] >= h;
    };
    const auto on_edge = [&](const std::array<double, 2>& p) {
      return std::min({std::abs(p[0]), std::abs(p[0] - w), std::abs(p[1]), std::abs(p[1] - h)}) < 1e-3;
    };
    for (int64_t n = 0; n < images[i].volume(); ++n) {
      const int64_t pixel = n / 3;
      const std::array<double, 2> place = {static_cast<double>(pixel % images[i].extents[1]) + 0.5,
                                           static_cast<double>(pixel / images[i].extents[1]) + 0.5};
      const auto moved = at(move, place), sheared = at(shear, moved);
      if (on_edge(moved) || on_edge(sheared)) continue;
      const double wanted = outside(moved)     ? 30
                            : outside(sheared) ? 200
                                               : blend(images[i], at(rotate, at(mirror, sheared)), n % 3, 10);
      const auto got = static_cast<double>(static_cast<uint8_t>(composed[i][static_cast<size_t>(n)]));
      ASSERT_NEAR(got, wanted, 0.51) << "image " << i << ", element " << n;
      ++compared;
      beside += outside(moved) || outside(sheared);
    }
  }
  EXPECT_GT(compared, 5000);
  EXPECT_GT(beside, 500);
}

/// A graph's outputs with passes, equal on the interpreter and on machine code, and others than without
/// passes.
std::vector<std::string> composed_everywhere(const std::string& text) {
  auto judge = codegen::make_interpreter_backend(true);
  const auto composed = run_graph(text, judge.get(), true, true, runtime::ExecutorKind::kInline);
  std::string note;
  auto llvm = codegen::make_backend("llvm", &note, codegen::default_cache_options(), testing::tiers());
  EXPECT_TRUE(llvm);
  if (!llvm) return {};
  EXPECT_EQ(composed, run_graph(text, llvm->get(), true, true, runtime::ExecutorKind::kCpu));
  EXPECT_EQ(composed, run_graph(text, judge.get(), false, true, runtime::ExecutorKind::kInline));
  EXPECT_NE(composed, run_graph(text, judge.get(), true, false, runtime::ExecutorKind::kInline));
  return composed;
}

double byte_at(const std::string& bytes, int64_t n) {
  return static_cast<double>(static_cast<uint8_t>(bytes[static_cast<size_t>(n)]));
}

/// Bytes as an image.
runtime::Tensor image_of(runtime::Allocator& allocator, const std::string& bytes, int64_t h, int64_t w) {
  auto tensor = runtime::allocate_tensor(allocator, DType::kU8, {h, w, 3});
  EXPECT_TRUE(tensor);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(tensor->data));
  return *tensor;
}

/// A triangle of `radius` pixels about `place` (counted from the left edge) over pixels that repeat at the
/// ends.
std::vector<double> triangle(double place, double radius, int64_t extent) {
  std::vector<double> weights(static_cast<size_t>(extent), 0.0);
  double sum = 0;
  for (auto k = static_cast<int64_t>(std::floor(place - radius)) - 1;
       static_cast<double>(k) < place + radius + 1; ++k) {
    const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(k) + 0.5 - place) / radius);
    weights[static_cast<size_t>(std::clamp<int64_t>(k, 0, extent - 1))] += weight;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

struct Axis {
  double lo = 0, hi = 0, radius = 1;
  int64_t n = 0;
};

double resampled(const runtime::Tensor& image, const Axis& rows, const Axis& columns, int64_t y, int64_t x,
                 int64_t channel) {
  const auto place = [](const Axis& axis, int64_t i) {
    return axis.lo + (static_cast<double>(i) + 0.5) * (axis.hi - axis.lo) / static_cast<double>(axis.n);
  };
  const auto down = triangle(place(rows, y), rows.radius, image.extents[0]);
  const auto across = triangle(place(columns, x), columns.radius, image.extents[1]);
  double sum = 0;
  for (int64_t r = 0; r < image.extents[0]; ++r)
    for (int64_t c = 0; c < image.extents[1]; ++c)
      sum += down[static_cast<size_t>(r)] * across[static_cast<size_t>(c)] *
             image.data[(r * image.extents[1] + c) * 3 + channel];
  return sum;
}

/// Resize, crop, mirror, resize: one filter, as wide as the widest of both. Small images are enlarged first.
TEST(Plan, ComposedResizes) {
  const auto composed = composed_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %first = resize(%image) {size=[24.0, 32.0]} : u8[24,32,?] HWC
  %part = crop(%first) {crop=[20.0, 16.0], crop_pos_y=0.25, crop_pos_x=0.5} : u8[20,16,?] HWC
  %mirrored = flip(%part) {horizontal=1} : u8[20,16,?] HWC
  %second = resize(%mirrored) {size=[15.0, 14.0]} : u8[15,14,?] HWC
  return %second
}
)");
  runtime::Allocator allocator;
  const auto images = testing::ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}});
  ASSERT_EQ(composed.size(), images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    const auto h = static_cast<double>(images[i].extents[0]), w = static_cast<double>(images[i].extents[1]);
    // The crop shows rows 1 to 21 and columns 8 to 24 of 24 x 32.
    const double sy = h / 24, sx = w / 32;
    const Axis rows{1 * sy, 21 * sy, std::max({1.0, sy, sy * 20 / 15}), 15};
    const Axis columns{24 * sx, 8 * sx, std::max({1.0, sx, sx * 16 / 14}), 14};
    for (int64_t n = 0; n < 15 * 14 * 3; ++n)
      // Weights along rows have 14 bits.
      ASSERT_NEAR(byte_at(composed[i], n), resampled(images[i], rows, columns, n / 42, n / 3 % 14, n % 3),
                  0.55)
          << "image " << i << ", element " << n;
  }
}

/// What was made small stays as soft as that: here the first resize may shrink, the second hardly enlarges.
TEST(Plan, ComposedResizesKeepTheWiderFilter) {
  const auto composed = composed_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %first = resize(%image) {size=[10.0, 12.0]} : u8[10,12,?] HWC
  %second = resize(%first) {size=[12.0, 11.0]} : u8[12,11,?] HWC
  return %second
}
)");
  runtime::Allocator allocator;
  const auto images = testing::ragged_images(allocator, {{7, 9}, {40, 61}, {1, 1}, {33, 5}});
  ASSERT_EQ(composed.size(), images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    const auto h = static_cast<double>(images[i].extents[0]), w = static_cast<double>(images[i].extents[1]);
    const Axis rows{0, h, std::max({1.0, h / 10, h / 12}), 12},
        columns{0, w, std::max({1.0, w / 12, w / 11}), 11};
    for (int64_t n = 0; n < 12 * 11 * 3; ++n)
      ASSERT_NEAR(byte_at(composed[i], n), resampled(images[i], rows, columns, n / 33, n / 3 % 11, n % 3),
                  0.55)
          << "image " << i << ", element " << n;
  }
}

constexpr double kTurn = 20.0 * 3.14159265358979323846 / 180;

/// Output places of a turn by 20 degrees about the centre, in places of the image.
Affine turn(double in_h, double in_w, double out_h, double out_w) {
  const double c = std::cos(kTurn), s = std::sin(kTurn);
  return {c, -s, in_w / 2 - (c * out_w / 2 - s * out_h / 2),
          s, c,  in_h / 2 - (s * out_w / 2 + c * out_h / 2)};
}

/// A resize that enlarges, then a turn: one blend of the small image, whose edge is repeated.
TEST(Plan, ATurnComposedWithWhatEnlargesBeforeIt) {
  const auto composed = composed_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %small = resize(%image) {size=[12.0, 10.0]} : u8[12,10,?] HWC
  %large = resize(%small) {size=[40.0, 36.0]} : u8[40,36,?] HWC
  %turned = rotate(%large) {angle=20.0, keep_size=true, fill_value=10.0} : u8[40,36,?] HWC
  return %turned, %small
}
)");
  ASSERT_EQ(composed.size(), 8u);
  runtime::Allocator allocator;
  const Affine enlarge = {10.0 / 36, 0, 0, 0, 12.0 / 40, 0}, back = turn(40, 36, 40, 36);
  int64_t compared = 0;
  for (size_t i = 0; i < 4; ++i) {
    const runtime::Tensor small = image_of(allocator, composed[4 + i], 12, 10);
    for (int64_t n = 0; n < 40 * 36 * 3; ++n) {
      const auto on_canvas =
          at(back, {static_cast<double>(n / 3 % 36) + 0.5, static_cast<double>(n / 108) + 0.5});
      const double beyond = std::max({-on_canvas[0], on_canvas[0] - 36, -on_canvas[1], on_canvas[1] - 40});
      if (std::abs(beyond) < 1e-3) continue;
      auto place = at(enlarge, on_canvas);
      place = {std::clamp(place[0], 0.5, 9.5), std::clamp(place[1], 0.5, 11.5)};
      ASSERT_NEAR(byte_at(composed[i], n), beyond > 0 ? 10 : blend(small, place, n % 3, 0), 0.51)
          << "image " << i << ", element " << n;
      ++compared;
    }
  }
  EXPECT_GT(compared, 17000);
}

/// A turn, then a resize that enlarges: one blend; only what the turn has cut off may differ, half a pixel
/// wide.
TEST(Plan, AnEnlargingResizeComposedWithTheTurnBeforeIt) {
  const auto composed = composed_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %small = resize(%image) {size=[12.0, 10.0]} : u8[12,10,?] HWC
  %turned = rotate(%small) {angle=20.0, size=[14.0, 16.0], fill_value=10.0} : u8[14,16,?] HWC
  %large = resize(%turned) {size=[30.0, 40.0]} : u8[30,40,?] HWC
  return %large, %small
}
)");
  ASSERT_EQ(composed.size(), 8u);
  runtime::Allocator allocator;
  const Affine enlarge = {16.0 / 40, 0, 0, 0, 14.0 / 30, 0}, back = turn(12, 10, 14, 16);
  for (size_t i = 0; i < 4; ++i) {
    const runtime::Tensor small = image_of(allocator, composed[4 + i], 12, 10);
    for (int64_t n = 0; n < 30 * 40 * 3; ++n) {
      const auto place =
          at(back, at(enlarge, {static_cast<double>(n / 3 % 40) + 0.5, static_cast<double>(n / 120) + 0.5}));
      ASSERT_NEAR(byte_at(composed[i], n), blend(small, place, n % 3, 10), 0.51)
          << "image " << i << ", element " << n;
    }
  }
}

/// Cubic turns with a fill per channel, composed by hand.
TEST(Plan, ComposedCubicWarpsWithAFillPerChannel) {
  const auto composed = composed_everywhere(R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %moved = warp_affine(%image) {matrix=[1.0, 0.0, 2.25, 0.0, 1.0, -1.75], fill_value=[10.0, 20.0, 30.0], interp_type=2, cubic_a=-1.0} : u8[?,?,?] HWC
  %again = warp_affine(%moved) {matrix=[1.0, 0.0, 1.5, 0.0, 1.0, 0.5], fill_value=[200.0, 150.0, 100.0], interp_type=2, cubic_a=-1.0} : u8[?,?,?] HWC
  return %again
}
)");
  auto judge = codegen::make_interpreter_backend(true);
  const std::string alone = R"(pipeline @p(batch_size=4, num_threads=2, seed=1, exact=false) {
^0:
  %image = external_source() {dtype=u8, ndim=3, layout="HWC"} : u8[?,?,?] HWC name="images"
  %again = warp_affine(%image) {matrix=[1.0, 0.0, 3.75, 0.0, 1.0, -1.25], fill_value=[10.0, 20.0, 30.0], interp_type=2, cubic_a=-1.0} : u8[?,?,?] HWC
  return %again
}
)";
  const auto once = run_graph(alone, judge.get(), true, false, runtime::ExecutorKind::kInline);
  ASSERT_EQ(composed.size(), once.size());
  const std::vector<std::pair<int64_t, int64_t>> sizes = {{7, 9}, {40, 61}, {1, 1}, {33, 5}};
  const double fills[] = {200, 150, 100};
  for (size_t i = 0; i < sizes.size(); ++i)
    for (int64_t n = 0; n < sizes[i].first * sizes[i].second * 3; ++n) {
      const double x = static_cast<double>(n / 3 % sizes[i].second) + 2,
                   y = static_cast<double>(n / 3 / sizes[i].second) + 1;
      const bool outside =
          x >= static_cast<double>(sizes[i].second) || y >= static_cast<double>(sizes[i].first);
      ASSERT_EQ(byte_at(composed[i], n), outside ? fills[n % 3] : byte_at(once[i], n)) << i << " " << n;
    }
}

}  // namespace
}  // namespace galatea
