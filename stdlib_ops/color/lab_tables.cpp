// See lab_tables.h.
#include "stdlib_ops/color/lab_tables.h"

#include <algorithm>
#include <cmath>

namespace galatea::ops {
namespace {

constexpr int kLevels = 256, kLinearScale = 255 * 8, kRoots = kLevels * 3 / 2 * 8, kGammas = 4096;
constexpr int64_t kCubes = kLabBase * 9 / 4;
constexpr std::array<double, 3> kWhite = {0.950456, 1.0, 1.088754};
constexpr double kToXyz[3][3] = {
    {0.412453, 0.357580, 0.180423}, {0.212671, 0.715160, 0.072169}, {0.019334, 0.119193, 0.950227}};
constexpr double kFromXyz[3][3] = {
    {3.240479, -1.53715, -0.498535}, {-0.969256, 1.875991, 0.041556}, {0.055648, -0.204043, 1.057311}};

int64_t nearest(double value) { return std::llrint(value); }

/// OpenCV's cube root is cut off after the bits of an f32, not rounded.
float truncated(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) > value ? std::nextafter(rounded, 0.0F) : rounded;
}

// Tables of the first way are made in f32, as OpenCV makes them: a few entries are decided by it.
std::vector<int64_t> linear_table() {
  std::vector<int64_t> table;
  for (int level = 0; level < kLevels; ++level) {
    const float x = static_cast<float>(level) / 255.0F;
    const float bent =
        static_cast<float>(std::pow(static_cast<double>((x + 0.055F) / 1.055F), static_cast<double>(2.4F)));
    table.push_back(nearest(static_cast<float>(kLinearScale) * (x <= 0.04045F ? x / 12.92F : bent)));
  }
  return table;
}

std::vector<int64_t> root_table() {
  std::vector<int64_t> table;
  for (int n = 0; n < kRoots; ++n) {
    const float x = static_cast<float>(n) * (1.0F / static_cast<float>(kLinearScale));
    const float root = x < 216.0F / 24389.0F ? x * (841.0F / 108.0F) + 16.0F / 116.0F
                                             : truncated(std::cbrt(static_cast<double>(x)));
    table.push_back(nearest(static_cast<double>(static_cast<float>(int64_t{1} << kRootBits) * root)));
  }
  return table;
}

std::vector<int64_t> cube_table() {
  std::vector<int64_t> table;
  for (int64_t n = kLeastCube; n < kCubes + kLeastCube; ++n)
    table.push_back(n <= 3390 ? n * 108 / 841 - kLabBase * 16 / 116 * 108 / 841
                              : n * n / kLabBase * n / kLabBase);
  return table;
}

std::vector<int64_t> gamma_table() {
  std::vector<int64_t> table;
  for (int n = 0; n < kGammas; ++n) {
    const double x = static_cast<double>(n) / kGammas;
    const double bent = x <= 0.0031308 ? x * 12.92 : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
    table.push_back(std::clamp<int64_t>(nearest(255 * bent), 0, 255));
  }
  return table;
}

LabTables make_tables() {
  LabTables tables;
  tables.linear = linear_table();
  tables.roots = root_table();
  tables.cubes = cube_table();
  tables.gamma = gamma_table();
  for (int level = 0; level < kLevels; ++level) {
    const double lightness = level * 100 / 255.0;
    const double root =
        lightness <= 8 ? lightness * 27 / 24389 * 841 / 108 + 16.0 / 116 : (lightness + 16) / 116;
    const double light = lightness <= 8 ? lightness * 27 / 24389 : root * root * root;
    tables.luminance.push_back(nearest(light * static_cast<double>(kLabBase)));
    tables.luma_root.push_back(nearest(root * static_cast<double>(kLabBase)));
  }
  constexpr double kUnit = 1 << kMatrixBits;
  for (size_t row = 0; row < 3; ++row)
    for (size_t column = 0; column < 3; ++column) {
      tables.to_xyz[row][column] = nearest(kUnit * kToXyz[row][column] / kWhite[row]);
      tables.from_xyz[row][column] = nearest(kUnit * kFromXyz[row][column] * kWhite[column]);
    }
  return tables;
}

}  // namespace

const LabTables& lab_tables() {
  static const LabTables tables = make_tables();
  return tables;
}

}  // namespace galatea::ops
