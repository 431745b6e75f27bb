// Philox 4x32-10, the generator behind every random draw.
//
// Comes in: key and counter. Goes out: 32 random bits. The constants are those of the paper (see
// scalar_op.h).
#include <array>

#include "base/scalar_op.h"

namespace galatea {

uint32_t philox(uint64_t key, uint64_t counter_low, uint64_t counter_high, int word) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53U;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57U;
  constexpr uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr uint32_t kWeyl1 = 0xBB67AE85U;
  auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  std::array<uint32_t, 4> counter = {low(counter_low), high(counter_low), low(counter_high),
                                     high(counter_high)};
  uint32_t key0 = low(key);
  uint32_t key1 = high(key);
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = kMultiplier0 * counter[0];
    uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high(product1) ^ counter[1] ^ key0, low(product1), high(product0) ^ counter[3] ^ key1,
               low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter[static_cast<size_t>(word & 3)];
}

}  // namespace galatea
