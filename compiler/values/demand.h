// Which part of every stage's domain, and of one input, the outputs of a lowering ask for.
//
// Comes in: a lowering, and the windows that are wanted of its outputs. Goes out: a box per stage and one for
// the input, found backwards from the outputs, and the condition under which the boxes hold (interval.h).
// narrow_stages() can cut every stage down to its box, and what is read then is what is told here. A border
// answers alike on the narrower stage: where an index passes an end of the domain, the box reaches that end
// (Intervals::reached), so ends that answer for something are ends of the box, too.
#pragma once

#include <optional>
#include <vector>

#include "compiler/op/recipe.h"
#include "compiler/values/interval.h"
#include "compiler/values/read_bounds.h"

namespace galatea::values {

/// Nothing is asked for: empty.
using Reads = std::optional<Box>;
/// One range per dimension; empty: all of it.
using Window = std::optional<std::vector<Range>>;

class Demand {
 public:
  /// `input`: whose reads to gather; -1: none's. `windows`: one per output; an empty list: all whole.
  Demand(const op::Lowering& lowering, int input, const std::vector<Window>& windows = {});
  const Reads& reads() const { return reads_; }
  const Reads& of_stage(size_t stage) const { return demands_[stage]; }
  /// False at run time: the boxes mean nothing. May be empty.
  const Expr& condition() const { return intervals_.condition(); }

 private:
  Box behind(const op::LoweredOutput& view, const Window& window);
  void ask_output(const op::LoweredOutput& output, const Window& window);
  void visit(const kernel::Stage& stage, const Box& demanded);
  void visit_load(const kernel::Stage& stage, const kernel::ExprNode& load, const Intervals::Domain& domain);

  const op::Lowering& lowering_;
  int input_;
  Intervals intervals_;
  std::vector<Reads> demands_;
  std::vector<std::vector<bool>> whole_axes_;  ///< per stage and axis: everything is wanted
  Reads reads_;
};

/// Both lie inside of `extents`.
void unite(Reads& reads, const Box& more, const std::vector<Expr>& extents);
/// [begin, end) as an interval.
Interval inside(const Range& range);
/// [begin, end) inside [0, extent], the whole where the condition (if there is one) does not hold; at least
/// one element, if there is one.
Range to_range(const Interval& interval, const Expr& extent, const Expr& condition);

}  // namespace galatea::values
