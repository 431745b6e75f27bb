// Bounds of an expression over a box of axes, as expressions themselves.
//
// Comes in: an expression over axes, taps and symbols; an interval for every axis. Goes out: expressions
// without axes that bound it. Every rule rests on the operation being monotone in the operand that varies, in
// its own rounding, so that the bounds are computed by the very operations of the expression at the ends and
// hold bit for bit.
//
// What breaks monotony at run time is collected as a condition: no number may be NaN or infinite, no integer
// so large that arithmetic wraps. Where the condition is false, the bounds mean nothing and the caller must
// take the whole.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/node_map.h"
#include "compiler/op/recipe.h"

namespace galatea::values {

using kernel::Expr;

/// Both ends belong to it.
struct Interval {
  Expr low, high;
};
using Box = std::vector<Interval>;

Interval hull(const Interval& a, const Interval& b);
/// Both; an empty one holds always.
Expr both(const Expr& a, const Expr& b);
/// [0, extent - 1].
Interval whole(const Expr& extent);
/// Whether the expression shows that it was clamped: max(min(x, last), 0), and min(max(x, low), last) with a
/// low that shows it. Clamping again changes nothing then, whatever the numbers are (`last` is -1 where there
/// are no elements).
bool is_clamped_low(const Expr& e, const Expr& last);
bool is_clamped_high(const Expr& e, const Expr& last);
/// Both ends, and the high one by the low one: never empty, if there is an element.
bool is_clamped(const Interval& interval, const Expr& last);

/// Whether something holds for each node of an expression; each is looked at once.
class HoldsThroughout {
 public:
  explicit HoldsThroughout(bool (*of_node)(const kernel::ExprNode&)) : of_node_(of_node) {}
  bool operator()(const Expr& e);

 private:
  bool look(const Expr& e);

  bool (*of_node_)(const kernel::ExprNode&);
  kernel::NodeMap<bool> known_;
  std::vector<Expr> asked_;  ///< own the nodes that are known
};

class Intervals {
  /// With the expression, so that its node stays what it is.
  using Memo = std::unordered_map<const kernel::ExprNode*, std::pair<Expr, std::optional<Interval>>>;

 public:
  explicit Intervals(const op::Lowering& lowering);

  struct Domain {
    Box axes, reduce_axes;
    std::optional<Interval> tap;
    mutable Memo known;  ///< bounds that were found before
  };
  /// Nothing where no rule applies (an index that depends on elements, say).
  std::optional<Interval> bound(const Expr& e, const Domain& domain);
  /// The indices that a load reaches along a dimension of this extent when its index lies in `index`.
  static Interval reached(const Interval& index, const Expr& extent, kernel::Border border);
  /// False at run time: forget the bounds. Empty: they always hold.
  const Expr& condition() const { return condition_; }

 private:
  std::optional<Interval> rule(const Expr& e, const Domain& domain);
  std::optional<Interval> clamp_rule(const Expr& e, const Domain& domain);
  std::optional<Interval> op_rule(const Expr& e, const std::vector<Interval>& args);
  std::optional<Interval> product(const Expr& e, const Interval& a, const Interval& b);
  std::optional<Interval> quotient(const Expr& e, const Interval& a, const Interval& by);
  std::optional<Interval> load_rule(const Expr& e, const Domain& domain);
  /// Numbers made of extents, axes' ends and small constants only, by few operations, are finite and nowhere
  /// near the ends of i64.
  bool is_made_of_extents(const Expr& e);
  Interval narrowed(const Interval& a, DType type);
  /// Adds to the condition that both ends are tame numbers.
  Interval guarded(Interval interval);

  const op::Lowering& lowering_;
  HoldsThroughout is_tame_;
  bool knows_extents_;  ///< of all inputs, but for channels
  Expr condition_;
  std::unordered_multimap<uint64_t, Expr> guarded_;  ///< what the condition speaks of already, by hash
  int depth_ = 0;
};

}  // namespace galatea::values
