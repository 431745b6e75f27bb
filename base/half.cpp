// Half precision: IEEE 754 binary16 as a storage type.
//
// Comes in: bits or a float. Goes out: the other, rounded to nearest even; overflow gives infinity, NaN stays
// NaN.
#include <bit>

#include "base/scalar_op.h"

namespace galatea {

float half_to_float(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  uint32_t exponent = (bits >> 10) & 0x1FU;
  uint32_t fraction = bits & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero and subnormals: fraction * 2^-24 is exact.
  float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t float_to_half(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000U;
  uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return static_cast<uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x1FFU));  // quiet NaN
  }
  if (magnitude >= 0x477FF000U) return static_cast<uint16_t>(sign | 0x7C00U);  // from 65520 on: infinity
  if (magnitude < 0x38800000U) {
    // Below 2^-14: a multiple of 2^-24. Adding 0.5 puts those bits at the end of the fraction, rounded to
    // nearest even.
    float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000U));
  }
  uint32_t odd = (magnitude >> 13) & 1U;
  uint32_t rounded = magnitude + 0xFFFU + odd - (112U << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

}  // namespace galatea
