#include "runtime/random.h"

#include <bit>

#include "base/scalar_op.h"

namespace galatea::runtime {
namespace {

uint64_t finish(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// High half of a 64 × 64 bit product.
uint64_t multiply_high(uint64_t a, uint64_t b) {
  uint64_t a_low = a & 0xFFFFFFFFu, a_high = a >> 32, b_low = b & 0xFFFFFFFFu, b_high = b >> 32;
  uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
  uint64_t other = a_low * b_high + (middle & 0xFFFFFFFFu);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

}  // namespace

uint64_t mix(uint64_t key, uint64_t value) { return finish(key ^ finish(value + 0x9E3779B97F4A7C15ull)); }

uint64_t uniform_below(uint64_t key, uint64_t low, uint64_t high, uint64_t bound) {
  uint64_t bits = static_cast<uint64_t>(philox(key, low, high, 0)) |
                  static_cast<uint64_t>(philox(key, low, high, 1)) << 32;
  return multiply_high(bits, bound);
}

uint64_t permuted(uint64_t key, uint64_t position, uint64_t size) {
  if (size <= 1) return 0;
  const int half = (std::bit_width(size - 1) + 1) / 2;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  uint64_t value = position;
  do {
    uint64_t left = value >> half, right = value & mask;
    for (uint64_t round = 0; round < 8; ++round) {
      uint64_t next = left ^ (mix(key, right << 3 | round) & mask);
      left = right;
      right = next;
    }
    value = left << half | right;
  } while (value >= size);
  return value;
}

}  // namespace galatea::runtime
