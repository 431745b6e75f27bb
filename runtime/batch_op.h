// What the samples of a batch make of something that each of them hands over.
#pragma once

#include <cstdint>
#include <string_view>

namespace galatea::runtime {

/// What becomes of what the samples that meet hand over: one value for all of them, or for each the place (in
/// the batch) of one of them. Samples count in the order of their places, so that nothing depends on threads.
enum class BatchOp : uint8_t {
  kSum,  ///< integers wrap; floats are added in f64, one by one, and rounded once
  kMin,
  kMax,
  kShuffle,    ///< of i64: a permutation; the first sample gets the place of the one with the least number
  kCycle,      ///< a permutation of one cycle: whose number is the next larger one
  kPick,       ///< number floor(v * n / 2^32) of the n samples, for a v from 0 to 2^32 - 1
  kPickOther,  ///< the same among all others; of one sample, itself
};
std::string_view name_of(BatchOp op);

}  // namespace galatea::runtime
