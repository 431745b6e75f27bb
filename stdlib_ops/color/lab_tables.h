// Bytes of RGB as bytes of CIE L*a*b*, and back, in OpenCV's integer arithmetic.
//
// Comes in: nothing. Goes out: the tables and matrices of both ways; clahe.cpp has the expressions. White is D65,
// RGB is sRGB. Numbers are fixed-point: linear light in 11 bits, cube roots in 15, XYZ in 14, matrices in 12.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace galatea::ops {

/// Bits behind the point of each kind of number.
inline constexpr int kMatrixBits = 12, kRootBits = 15, kBaseBits = 14;
inline constexpr int64_t kLabBase = int64_t{1} << kBaseBits;
/// The least place in `cubes`.
inline constexpr int64_t kLeastCube = -8145;

struct LabTables {
  // RGB to L*a*b*
  std::vector<int64_t> linear;  ///< [256] of a byte of RGB: linear light times 2040
  std::vector<int64_t> roots;   ///< of linear light: f of CIE, with kRootBits
  std::array<std::array<int64_t, 3>, 3> to_xyz{};
  // and back
  std::vector<int64_t> luminance;  ///< [256] of a byte of L*: Y
  std::vector<int64_t> luma_root;  ///< [256] of a byte of L*: f(Y)
  std::vector<int64_t> cubes;      ///< of f - kLeastCube: X or Z of it
  std::vector<int64_t> gamma;      ///< [4096] of linear light: a byte of RGB
  std::array<std::array<int64_t, 3>, 3> from_xyz{};
};

/// Made once.
const LabTables& lab_tables();

}  // namespace galatea::ops
