// Windows that leave enough boxes: what each must hold, and how they are distributed.
#include "stdlib_ops/native/bbox_crop.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace galatea::native {
namespace {

constexpr BoxAxes kUnit = {1, 1, 1};

BboxCropOptions options_with(std::vector<double> thresholds, std::string_view layout = "xyXY") {
  BboxCropOptions options;
  options.layout = BoxLayout::parse(layout).value();
  options.thresholds = std::move(thresholds);
  options.allow_no_crop = false;
  options.total_attempts = 1000;
  return options;
}

Box box_of(std::initializer_list<double> corners) {
  Box box;
  const size_t dims = corners.size() / 2;
  for (size_t n = 0; n < corners.size(); ++n) (n < dims ? box.lo : box.hi)[n % dims] = corners.begin()[n];
  return box;
}

/// Kolmogorov and Smirnov's distance from the uniform distribution on [lo, hi], in units of its limit at a
/// level of 0.001.
double unlikely(std::vector<double> values, double lo, double hi) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const double p = (values[k] - lo) / (hi - lo), rank = static_cast<double>(k);
    distance = std::max({distance, p - rank / n, (rank + 1) / n - p});
  }
  return distance * std::sqrt(n) / 1.95;
}

double product(const Box& box) { return (box.hi[0] - box.lo[0]) * (box.hi[1] - box.lo[1]); }
Box intersection(const Box& a, const Box& b) {
  return box_of({std::max(a.lo[0], b.lo[0]), std::max(a.lo[1], b.lo[1]), std::min(a.hi[0], b.hi[0]),
                 std::min(a.hi[1], b.hi[1])});
}
double common(const Box& a, const Box& b) {
  const Box both = intersection(a, b);
  return both.lo[0] < both.hi[0] && both.lo[1] < both.hi[1] ? product(both) : 0;
}

TEST(BboxLayout, SaysWhereNumbersStand) {
  const auto layout = BoxLayout::parse("yxHX").value();
  EXPECT_EQ(layout.dims, 2);
  EXPECT_EQ(layout.start[0], 1);
  EXPECT_EQ(layout.other[0], 3);
  EXPECT_FALSE(layout.is_extent[0]);
  EXPECT_EQ(layout.start[1], 0);
  EXPECT_EQ(layout.other[1], 2);
  EXPECT_TRUE(layout.is_extent[1]);
  EXPECT_EQ(BoxLayout::parse("xyzWHD").value().dims, 3);
  for (const char* wrong : {"", "xyX", "xyXYz", "xxXY", "xyXW", "xyXYZZ", "abcd", "xyXYXY"})
    EXPECT_FALSE(BoxLayout::parse(wrong)) << wrong;
}

TEST(BboxCrop, KeepsToRangesThresholdsAndBoxes) {
  const std::vector<Box> boxes = {box_of({0.1, 0.2, 0.5, 0.6}), box_of({0.3, 0.3, 0.9, 1})};
  const BoxAxes picture = {200, 100, 1};
  for (const bool overlap : {false, true})
    for (const bool all : {false, true})
      for (const double prune : {-1.0, 0.3}) {
        BboxCropOptions options = options_with({0.2});
        options.overlap = overlap;
        options.all_above = all;
        options.prune = prune;
        options.scaling = {0.3, 0.9};
        options.ratios = {{0.5, 2}};
        for (uint64_t seed = 0; seed < 40; ++seed) {
          const BboxCrop crop = find_bbox_crop(boxes, options, seed, kUnit, picture).value();
          const Box window = relative_window(crop, options, kUnit);
          for (size_t d = 0; d < 2; ++d) {
            EXPECT_GE(window.lo[d], 0);
            EXPECT_LE(window.hi[d], 1 + 1e-6);
            EXPECT_GE(crop.shape[d], 0.3F - 1e-6F);
            EXPECT_LE(crop.shape[d], 0.9F + 1e-6F);
          }
          const float ratio = 2 * crop.shape[0] / crop.shape[1];
          EXPECT_GE(ratio, 0.5F - 1e-5F);
          EXPECT_LE(ratio, 2 + 1e-5F);
          int reaching = 0;
          int64_t left = 0;
          for (const Box& box : boxes) {
            const double both = common(box, window);
            reaching += both / (product(box) + (overlap ? 0 : product(window) - both)) >= 0.2 ? 1 : 0;
            const bool centred =
                std::abs(box.lo[0] + box.hi[0] - window.lo[0] - window.hi[0]) <=
                    window.hi[0] - window.lo[0] &&
                std::abs(box.lo[1] + box.hi[1] - window.lo[1] - window.hi[1]) <= window.hi[1] - window.lo[1];
            left += (prune < 0 ? centred : both >= prune * product(box)) ? 1 : 0;
          }
          EXPECT_GE(reaching, all ? 2 : 1);
          EXPECT_GE(left, 1);
          EXPECT_EQ(crop.left, left);
        }
      }
}

TEST(BboxCrop, PlacesAndExtentsAreUniform) {
  // Every window is taken: there are no boxes. Kolmogorov-Smirnov at a level of 0.001.
  BboxCropOptions options = options_with({0});
  options.scaling = {0.2, 0.7};
  options.ratios = {{0, 100}};
  std::vector<double> widths, heights, places;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const BboxCrop crop = find_bbox_crop({}, options, seed, kUnit, kUnit).value();
    widths.push_back(static_cast<double>(crop.shape[0]));
    heights.push_back(static_cast<double>(crop.shape[1]));
    places.push_back(static_cast<double>(crop.anchor[1] / (1 - crop.shape[1])));
  }
  EXPECT_LT(unlikely(widths, 0.2, 0.7), 1);
  EXPECT_LT(unlikely(heights, 0.2, 0.7), 1);
  EXPECT_LT(unlikely(places, 0, 1), 1);
  // Of one ratio the larger side is the larger of two draws: its square is uniform.
  options.scaling = {0, 1};
  options.ratios = {{0.5, 0.5}};
  std::vector<double> squares;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const BboxCrop crop = find_bbox_crop({}, options, seed, kUnit, kUnit).value();
    EXPECT_NEAR(crop.shape[0], 0.5F * crop.shape[1], 1e-6F);
    squares.push_back(std::pow(static_cast<double>(crop.shape[1]), 2));
  }
  EXPECT_LT(unlikely(squares, 0, 1), 1);
}

TEST(BboxCrop, ThresholdsAndTheWholePictureAreAsLikely) {
  // Every window is taken. Of three choices the whole picture is one.
  // Chi-square, one degree of freedom, level 0.001.
  BboxCropOptions options = options_with({0, 0});
  options.allow_no_crop = true;
  options.scaling = {0.5, 0.5};
  const std::vector<Box> boxes = {box_of({0, 0, 1, 1})};
  constexpr int kDraws = 3000;
  int whole = 0;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    BboxCropOptions centred = options;
    centred.prune = 0;
    const BboxCrop crop = find_bbox_crop(boxes, centred, seed, kUnit, kUnit).value();
    whole += crop.whole ? 1 : 0;
    EXPECT_EQ(crop.shape[0], crop.whole ? 1.0F : 0.5F);
  }
  const double expected = kDraws / 3.0;
  EXPECT_LT(std::pow(whole - expected, 2) * (1 / expected + 1 / (kDraws - expected)), 10.83);
}

TEST(BboxCrop, FixedWindowsLieInWholePixels) {
  BboxCropOptions options = options_with({0});
  options.fixed = true;
  std::array<int, 5> counts{};
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    // Wider than the picture by four: it begins up to four before it.
    const BboxCrop crop = find_bbox_crop({}, options, seed, {14, 3, 1}, {10, 3, 1}).value();
    EXPECT_EQ(crop.shape[0], 14);
    EXPECT_EQ(crop.anchor[1], 0);
    ++counts.at(static_cast<size_t>(-crop.anchor[0]));
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 400) * (count - 400) / 400.0;
  EXPECT_LT(chi_square, 18.47) << "four degrees of freedom, level 0.001";
}

TEST(SsdCrop, WindowsAreDistributedAsThoseOfDali) {
  // 5,000 draws of DALI 2.4.0's ssd_random_crop, of an image of 100 x 80 pixels: whole; windows that keep one
  // box, by quarters of the image's area (the two largest together); those that keep two (the two smallest
  // together). Chi-square of two samples, six degrees of freedom, level 0.001.
  struct Recorded {
    int64_t attempts;
    std::array<int, 7> counts;
  };
  constexpr Recorded kRecorded[] = {{1, {2263, 258, 752, 139, 387, 898, 303}},
                                    {50, {1597, 263, 819, 158, 529, 1181, 453}}};
  const std::vector<Box> boxes = {box_of({0.1, 0.15, 0.45, 0.5}), box_of({0.5, 0.4, 0.95, 0.9})};
  for (const Recorded& recorded : kRecorded) {
    std::array<int, 7> counts{};
    for (uint64_t seed = 0; seed < 5000; ++seed) {
      const BboxCrop crop =
          find_bbox_crop(boxes, ssd_crop_options(recorded.attempts), seed, kUnit, kUnit).value();
      if (crop.whole) {
        ++counts[0];
        continue;
      }
      const auto pixels = [&](size_t d, double extent) {
        const double start = static_cast<double>(crop.anchor[d]), length = static_cast<double>(crop.shape[d]);
        return std::round((start + length) * extent) - std::round(start * extent);
      };
      const auto quarter =
          std::min(static_cast<size_t>(4 * pixels(0, 80) * pixels(1, 100) / 8000), size_t{3});
      ++counts.at(crop.left == 1 ? 1 + std::min(quarter, size_t{2}) : 3 + std::max(quarter, size_t{1}));
    }
    double chi_square = 0;
    for (size_t k = 0; k < counts.size(); ++k) {
      const double sum = counts[k] + recorded.counts[k], difference = counts[k] - recorded.counts[k];
      chi_square += difference * difference / sum;
    }
    EXPECT_LT(chi_square, 22.46) << recorded.attempts;
  }
}

TEST(SsdCrop, NeedsABox) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(find_bbox_crop({}, ssd_crop_options(1), seed, kUnit, kUnit).value().whole);
    // No window leaves the centre of a box that lies outside.
    const std::vector<Box> outside = {box_of({2, 2, 3, 3})};
    EXPECT_TRUE(find_bbox_crop(outside, ssd_crop_options(100), seed, kUnit, kUnit).value().whole);
  }
}

TEST(BboxCrop, EndsWhereNothingCanBeFound) {
  const std::vector<Box> boxes = {box_of({0, 0, 0.01, 0.01})};
  BboxCropOptions options = options_with({0.9});
  options.scaling = {0.5, 0.5};
  options.total_attempts = 20;
  // The best that was seen, which may leave no box.
  EXPECT_TRUE(find_bbox_crop(boxes, options, 1, kUnit, kUnit));
  options.total_attempts = -1;
  EXPECT_FALSE(find_bbox_crop(boxes, options, 1, kUnit, kUnit));
  int asked = 0;
  EXPECT_FALSE(find_bbox_crop(boxes, options, 1, kUnit, kUnit, [&] { return ++asked == 5; }));
  EXPECT_EQ(asked, 5);
  // No extents of these ratios: the picture as it is.
  options.total_attempts = 20;
  options.ratios = {{3, 4}};
  EXPECT_TRUE(find_bbox_crop(boxes, options, 1, kUnit, kUnit).value().whole);
}

TEST(BboxCrop, VolumesHaveThreeRatios) {
  BboxCropOptions options = options_with({0}, "xyzXYZ");
  options.scaling = {0.2, 0.8};
  options.ratios = {{0.5, 1}, {0.4, 2}, {0.8, 1.5}};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const BboxCrop crop = find_bbox_crop({}, options, seed, kUnit, kUnit).value();
    const float x = crop.shape[0], y = crop.shape[1], z = crop.shape[2];
    EXPECT_TRUE(x / y >= 0.4999F && x / y <= 1.0001F) << x << " " << y;
    EXPECT_TRUE(x / z >= 0.3999F && x / z <= 2.0001F) << x << " " << z;
    EXPECT_TRUE(y / z >= 0.7999F && y / z <= 1.5001F) << y << " " << z;
  }
}

}  // namespace
}  // namespace galatea::native
