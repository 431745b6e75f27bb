// Whole numbers from random bits.
#pragma once

#include <cstdint>

namespace galatea::native {

/// Uniform in [0, n) but for a share of n / 2^64: the high word of the product of 64 bits and n, which is
/// positive.
inline int64_t below(uint64_t bits, int64_t n) {
  const auto m = static_cast<uint64_t>(n);
  const uint64_t high = bits >> 32, low = bits & 0xFFFFFFFFU, m_high = m >> 32, m_low = m & 0xFFFFFFFFU;
  const uint64_t middle = high * m_low + (low * m_low >> 32);
  const uint64_t carried = low * m_high + (middle & 0xFFFFFFFFU);
  return static_cast<int64_t>(high * m_high + (middle >> 32) + (carried >> 32));
}

}  // namespace galatea::native
