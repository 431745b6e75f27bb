#include "policy/search/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "policy/random.h"

namespace galatea::policy {
namespace {

constexpr int kSmall = 64;  ///< what a picture is brought to, by means of areas
constexpr int kCells = 4, kDirections = 8, kLevels = 8, kPools = 2;

constexpr size_t kColours = 6;
constexpr size_t kHistograms = 3 * kLevels;
constexpr size_t kEdges = kCells * kCells * kDirections;
constexpr size_t kDetails = kPools * kPools;

/// A picture in 64 x 64, channels one after the other in a pixel, from 0 to 1.
using Small = std::array<float, static_cast<size_t>(kSmall) * kSmall * 3>;

/// Which of `extent` places the cell `i` of a small picture stands for.
std::pair<int64_t, int64_t> covered(int64_t extent, int64_t i) {
  const int64_t first = extent * i / kSmall;
  const int64_t last = std::max(first + 1, (extent * (i + 1) + kSmall - 1) / kSmall);
  return {first, std::min(last, extent)};
}

/// Adds the bytes of a row to sums of columns, channels next to one another.
void add_row(const PictureView& picture, int64_t y, int32_t* sums) {
  const uint8_t* row = picture.data + y * picture.row;
  if (picture.pixel == 3 && picture.channel == 1) {
    for (int64_t i = 0; i < 3 * picture.width; ++i) sums[i] += row[i];
    return;
  }
  for (int64_t x = 0; x < picture.width; ++x)
    for (int64_t c = 0; c < 3; ++c) sums[3 * x + c] += row[x * picture.pixel + c * picture.channel];
}

/// Means of areas whose edges may fall between pixels: larger pictures lose detail, smaller ones repeat it.
Small shrunk(const PictureView& picture) {
  Small small;
  std::vector<int32_t> columns(static_cast<size_t>(3 * picture.width));
  float* out = small.data();
  for (int y = 0; y < kSmall; ++y) {
    const auto [top, bottom] = covered(picture.height, y);
    std::ranges::fill(columns, 0);
    for (int64_t v = top; v < bottom; ++v) add_row(picture, v, columns.data());
    for (int x = 0; x < kSmall; ++x) {
      const auto [left, right] = covered(picture.width, x);
      const auto area = static_cast<float>((bottom - top) * (right - left) * 255);
      for (int64_t c = 0; c < 3; ++c) {
        int64_t sum = 0;
        for (int64_t u = left; u < right; ++u) sum += columns[static_cast<size_t>(3 * u + c)];
        *out++ = static_cast<float>(sum) / area;
      }
    }
  }
  return small;
}

const float* pixel(const Small& small, int y, int x) {
  return small.data() + static_cast<ptrdiff_t>((y * kSmall + x) * 3);
}
double luma(const float* rgb) { return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]; }

/// Mean and deviation of each channel.
void add_colours(const Small& small, std::vector<double>& out) {
  constexpr double kCount = kSmall * kSmall;
  for (size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    for (size_t i = c; i < small.size(); i += 3) {
      sum += small[i];
      squares += static_cast<double>(small[i]) * small[i];
    }
    const double mean = sum / kCount;
    out.push_back(mean);
    out.push_back(std::sqrt(std::max(0.0, squares / kCount - mean * mean)));
  }
}

/// A value from 0 to 1 counts for the two levels that it lies between.
void count_level(double value, double* levels, double amount) {
  const double at = std::clamp(value, 0.0, 1.0) * (kLevels - 1);
  const int low = std::min(static_cast<int>(at), kLevels - 2);
  levels[low] += amount * (1 - (at - low));
  levels[low + 1] += amount * (at - low);
}

/// Histograms of luma and of two differences of colours.
void add_histograms(const Small& small, std::vector<double>& out) {
  std::array<double, kHistograms> histogram{};
  constexpr double kAmount = 1.0 / (kSmall * kSmall);
  for (int y = 0; y < kSmall; ++y)
    for (int x = 0; x < kSmall; ++x) {
      const float* rgb = pixel(small, y, x);
      count_level(luma(rgb), histogram.data(), kAmount);
      count_level(0.5 + 0.5 * (rgb[0] - rgb[1]), histogram.data() + kLevels, kAmount);
      count_level(0.5 + 0.5 * (0.5 * (rgb[0] + rgb[1]) - rgb[2]), histogram.data() + 2 * kLevels, kAmount);
    }
  for (double share : histogram) out.push_back(std::sqrt(share));
}

/// In each of 4 x 4 cells: which way edges go, as shares of all edges of the cell.
void add_edges(const Small& small, std::vector<double>& out) {
  std::array<double, kEdges> edges{};
  for (int y = 1; y + 1 < kSmall; ++y)
    for (int x = 1; x + 1 < kSmall; ++x) {
      const double dx = luma(pixel(small, y, x + 1)) - luma(pixel(small, y, x - 1));
      const double dy = luma(pixel(small, y + 1, x)) - luma(pixel(small, y - 1, x));
      const double length = std::sqrt(dx * dx + dy * dy);
      if (length == 0) continue;
      const double turn = std::atan2(dy, dx) / M_PI + 1;  // an edge and its opposite are different
      const auto direction = static_cast<size_t>(turn * kDirections / 2) % kDirections;
      const auto cell = static_cast<size_t>(y * kCells / kSmall * kCells + x * kCells / kSmall);
      edges[cell * kDirections + direction] += length;
    }
  for (size_t cell = 0; cell < edges.size(); cell += kDirections) {
    double sum = 1;  // what little there is in flat cells does not count
    for (size_t i = 0; i < kDirections; ++i) sum += edges[cell + i];
    for (size_t i = 0; i < kDirections; ++i) out.push_back(std::sqrt(edges[cell + i] / sum));
  }
}

/// In each quarter: how much neighbours differ in the picture as it is, which shrinking would hide.
void add_details(const PictureView& picture, std::vector<double>& out) {
  for (int64_t quarter = 0; quarter < kPools * kPools; ++quarter) {
    const int64_t top = picture.height * (quarter / kPools) / kPools,
                  bottom = picture.height * (quarter / kPools + 1) / kPools,
                  left = picture.width * (quarter % kPools) / kPools,
                  right = picture.width * (quarter % kPools + 1) / kPools;
    int64_t sum = 0, count = 0;
    for (int64_t y = top; y < bottom; ++y)
      for (int64_t x = left; x + 1 < right; ++x)
        for (int64_t c = 0; c < 3; ++c, ++count) {
          const uint8_t* at = picture.data + y * picture.row + x * picture.pixel + c * picture.channel;
          sum += std::abs(static_cast<int>(at[0]) - static_cast<int>(at[picture.pixel]));
        }
    out.push_back(count > 0 ? std::sqrt(static_cast<double>(sum) / static_cast<double>(255 * count)) : 0);
  }
}

}  // namespace

Features::Features() {
  // Filters of mean 0 and length 1, the same on every machine.
  Random random(0x6a09e667f3bcc908u);
  constexpr int kTaps = kFilterSize * kFilterSize * 3;
  filters_.resize(static_cast<size_t>(kFilters) * kTaps);
  for (int filter = 0; filter < kFilters; ++filter) {
    std::array<double, kTaps> taps{};
    double mean = 0, squares = 0;
    for (double& tap : taps) {
      tap = random.uniform(-1, 1);
      mean += tap / kTaps;
    }
    for (double& tap : taps) {
      tap -= mean;
      squares += tap * tap;
    }
    for (size_t tap = 0; tap < taps.size(); ++tap)
      filters_[tap * kFilters + static_cast<size_t>(filter)] =
          static_cast<float>(taps[tap] / std::sqrt(squares));
  }
  for (size_t size : {kColours, kHistograms, kEdges, kDetails, size_t{kFilters * kPools * kPools}})
    weights_.insert(weights_.end(), size, 1.0 / (5.0 * static_cast<double>(size)));
}

std::vector<double> Features::of(const PictureView& picture) const {
  const Small small = shrunk(picture);
  std::vector<double> out;
  out.reserve(count());
  add_colours(small, out);
  add_histograms(small, out);
  add_edges(small, out);
  add_details(picture, out);
  // The mean of what each filter answers above 0, in each quarter; every other place.
  std::array<double, static_cast<size_t>(kFilters) * kPools * kPools> answers{};
  int64_t count = 0;
  for (int y = 0; y + kFilterSize <= kSmall; y += 2)
    for (int x = 0; x + kFilterSize <= kSmall; x += 2, ++count) {
      const int pool =
          (y + kFilterSize / 2) * kPools / kSmall * kPools + (x + kFilterSize / 2) * kPools / kSmall;
      // All filters side by side; each adds its taps in their order.
      std::array<float, kFilters> sums{};
      const float* taps = filters_.data();
      for (int v = 0; v < kFilterSize; ++v) {
        const float* from = pixel(small, y + v, x);
        for (int i = 0; i < kFilterSize * 3; ++i, taps += kFilters)
          for (size_t filter = 0; filter < kFilters; ++filter) sums[filter] += from[i] * taps[filter];
      }
      for (size_t filter = 0; filter < kFilters; ++filter)
        answers[filter * kPools * kPools + static_cast<size_t>(pool)] += std::max(sums[filter], 0.0f);
    }
  for (double answer : answers) out.push_back(answer * kPools * kPools / static_cast<double>(count));
  return out;
}

}  // namespace galatea::policy
