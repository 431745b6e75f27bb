// Which part of every stage's domain, and of one input, the outputs of a lowering ask for.
//
// Comes in: a lowering. Goes out: a box per stage and one for the input, found backwards from the outputs,
// and the condition under which the boxes hold (interval.h). A stage is asked for a part along an axis only
// if all its readers would read a narrower stage alike (their borders there clamp, or there are none); else
// for all of it. So narrow_stages() can cut every stage down to its box, and what is read then is what is
// told here.
#pragma once

#include <optional>
#include <vector>

#include "compiler/op/recipe.h"
#include "compiler/passes/interval.h"
#include "compiler/passes/read_bounds.h"

namespace galatea::passes {

/// Nothing is asked for: empty.
using Reads = std::optional<Box>;

class Demand {
 public:
  /// `input`: whose reads to gather; -1: none's.
  Demand(const op::Lowering& lowering, int input);
  const Reads& reads() const { return reads_; }
  const Reads& of_stage(size_t stage) const { return demands_[stage]; }
  /// False at run time: the boxes mean nothing. May be empty.
  const Expr& condition() const { return intervals_.condition(); }

  /// The part of the input behind the part `shown` of a view.
  static Box behind(const op::LoweredOutput& view, const Box& shown, Intervals& intervals);

 private:
  Box window(const op::LoweredOutput& view);
  void visit(const kernel::Stage& stage, const Box& demanded);
  void visit_load(const kernel::ExprNode& load, const Intervals::Domain& domain);

  const op::Lowering& lowering_;
  int input_;
  Intervals intervals_;
  std::vector<Reads> demands_;
  std::vector<std::vector<bool>> must_be_whole_;  ///< per stage and axis
  Reads reads_;
};

void unite(Reads& reads, const Box& more);
/// [begin, end) inside [0, extent], the whole where the condition (if there is one) does not hold; at least
/// one element, if there is one.
Range to_range(const Interval& interval, const Expr& extent, const Expr& condition);

}  // namespace galatea::passes
