// Random numbers that are the same on every machine: SplitMix64.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace galatea::policy {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// From [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// From {low, …, high}.
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return span == 0 ? static_cast<int64_t>(bits())
                     : static_cast<int64_t>(static_cast<uint64_t>(low) + bits() % span);
  }
  size_t index(size_t size) { return static_cast<size_t>(bits() % size); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_;
};

}  // namespace galatea::policy
