// Counter-based draws: every number is a function of a key and a counter, so nothing has to be stored to
// repeat it.
#pragma once

#include <cstdint>
#include <string_view>

namespace galatea::runtime {

/// Mixes a value into a key:  mix(k, v) = s(k ^ s(v + 0x9E3779B97F4A7C15)), where s is the finisher of
/// SplitMix64:
///   x ^= x >> 30; x *= 0xBF58476D1CE4E5B9; x ^= x >> 27; x *= 0x94D049BB133111EB; x ^= x >> 31.
/// The key of a random node in epoch e is mix(node key, e).
uint64_t mix(uint64_t key, uint64_t value);

/// A number in [0, bound), bound > 0: the high half of bound times the 64 bits of words 0 and 1 of
/// philox(key, (low, high)).
uint64_t uniform_below(uint64_t key, uint64_t low, uint64_t high, uint64_t bound);

/// Element `position` of a permutation of [0, size) chosen by the key, in constant time and memory: a Feistel
/// network of eight rounds over the next even power of two, walked along its cycle until it lands inside.
uint64_t permuted(uint64_t key, uint64_t position, uint64_t size);

}  // namespace galatea::runtime
