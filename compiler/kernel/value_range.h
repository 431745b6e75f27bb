// Between which numbers the value of an expression lies.
//
// Comes in: an expression over any leaves. Goes out: a range that holds its value for every value of the
// leaves. Leaves can be whatever their type holds; so can parameters of 32 and 64 bits, unless the caller
// promises more.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/expr.h"
#include "compiler/kernel/scalar_range.h"

namespace galatea::kernel {

/// Remembers what it found; use one for expressions that share parts.
class ValueRanges {
 public:
  /// `promised`: where integer parameters lie that are not bytes or words.
  explicit ValueRanges(std::optional<ScalarRange> promised = {}) : promised_(promised) {}
  ScalarRange of(const Expr& e);

 private:
  ScalarRange compute(const Expr& e);

  std::optional<ScalarRange> promised_;
  NodeMap<ScalarRange> known_;
  std::vector<Expr> keep_;  ///< nodes whose addresses are keys above
};

/// Whether `inner` is part of `outer`; integers.
bool contains(const ScalarRange& outer, const ScalarRange& inner);
/// Whether an integer type holds all numbers of a range of integers.
bool fits(const ScalarRange& range, DType type);

}  // namespace galatea::kernel
