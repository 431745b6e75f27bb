// The most that a scalar can be, as an expression that can be computed earlier than the scalar itself.
//
// Comes in: an expression of the sample program, and which symbols can be computed at the point in question.
// Goes out: an expression over those symbols alone that is never less (or never more). What only another arm
// computes counts as the larger of what it may be.
#pragma once

#include <functional>
#include <unordered_map>

#include "compiler/values/value_table.h"

namespace galatea::plan {

using kernel::Expr;
using values::ValueTable;

class ScalarBounds {
 public:
  using CanCompute = std::function<bool(const kernel::ExprNode& symbol)>;
  ScalarBounds(const ValueTable& table, CanCompute can_compute);

  /// Empty where no bound is known.
  Expr upper(const Expr& e);
  Expr lower(const Expr& e);
  /// The expression itself if it can be computed here; else empty. A divisor of zero, which a later check
  /// reports, raises no flag.
  Expr exact(const Expr& e);

 private:
  struct Bounds {
    Expr lower, upper;
  };
  const Bounds& bounds(const Expr& e);
  Bounds compute(const Expr& e);
  Bounds of_symbol(const kernel::ExprNode& e);
  Bounds of_operation(const kernel::ExprNode& e);
  Bounds of_merge(ir::ValueId value, const std::function<Expr(ir::ValueId)>& part);
  bool is_known(const Expr& e);
  Expr guarded(const Expr& e);

  const ValueTable& table_;
  CanCompute can_compute_;
  // The expressions are kept, so that their addresses stay theirs.
  std::unordered_map<const kernel::ExprNode*, std::pair<Expr, Bounds>> bounds_;
  std::unordered_map<const kernel::ExprNode*, std::pair<Expr, bool>> known_;
  std::unordered_map<const kernel::ExprNode*, Expr> guarded_;
};

}  // namespace galatea::plan
