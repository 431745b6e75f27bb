// What can be said of scalar expressions before their symbols are known.
//
// Comes in: what each symbol may be. Goes out: the range of an expression, whether a condition always or
// never holds, and the normal form in which equal extents are equal. "Never" is said only where no sample can
// make the condition true.
//
// Extents are assumed to be below 2^47, and products of them exact: a tensor of more bytes than 2^63 does not
// exist. Where an argument is a float (crop=, say), extents up to 2^22 are looked at, which f32 holds
// exactly.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/expr.h"
#include "compiler/kernel/scalar_range.h"
#include "compiler/shape/polynomial.h"

namespace galatea::shape {

using kernel::Expr;
using kernel::ScalarRange;
using kernel::Wide;

/// Larger than any extent of a tensor that has elements.
inline constexpr Wide kMaxExtent = Wide{1} << 47;

class Facts {
 public:
  /// Nothing: the symbol's type is all that is known.
  using SymbolRange = std::function<std::optional<ScalarRange>(const kernel::ExprNode& symbol)>;
  explicit Facts(SymbolRange symbol_range) : symbol_range_(std::move(symbol_range)) {}

  ScalarRange range(const Expr& e);
  /// The value that a condition has for every sample.
  std::optional<bool> decide(const Expr& condition);
  /// Of an integer. Operations that do not add or multiply are unknowns of their own.
  Polynomial polynomial(const Expr& e);
  /// The expression that an unknown of a polynomial stands for.
  const Expr& unknown(int number) const { return unknowns_[static_cast<size_t>(number)]; }

 private:
  ScalarRange compute_range(const Expr& e);
  ScalarRange range_of_polynomial(const Polynomial& p, const ScalarRange& otherwise, bool in_floats = false);
  std::optional<Polynomial> compute_polynomial(const Expr& e);
  std::optional<Polynomial> whole_number(const Expr& e);
  Polynomial unknown_for(const Expr& e);

  SymbolRange symbol_range_;
  // The expressions are kept, so that their addresses stay theirs.
  kernel::NodeMap<std::pair<Expr, ScalarRange>> ranges_;
  kernel::NodeMap<std::pair<Expr, Polynomial>> polynomials_;
  std::deque<Expr> unknowns_;                       ///< references to them stay valid
  std::unordered_multimap<uint64_t, int> numbers_;  ///< by hash
};

}  // namespace galatea::shape
