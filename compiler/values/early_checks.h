// Checks that a sample meets before anything is computed.
//
// Comes in: the value table of a plan, whose windows are not known yet. Goes out: of each block the checks that are made where it begins.
//
// What is fed says nothing of its extents; an operator far behind may demand three channels all the same. Its
// check is made as soon as every way on comes past it, so that kernels before it may count on what it
// demands, and have the form that those of decoded images have. The error is the operator's own, at its
// place: of several the first one that every way comes past.
//
// Designs considered: (a) a graph pass that gives types the extents their readers demand, and a check at the
// source (types are what people see: an error would be that of external_source, and what is known of one way
// of a branch would be claimed of all); (b) two forms of each kernel, as the host has them (twice the code of
// a launch, compiled by NVRTC); (c) this one, which moves nothing but checks. Only equalities of an extent of
// what a source gives, or of what the arms of a branch merge: there, of what each arm hands on. None where
// samples meet, since one that fails later has met the others.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/expr.h"

namespace galatea::values {

using kernel::Expr;
class ValueTable;

struct EarlyCheck {
  ir::NodeId node = ir::kNoId;
  size_t number = 0;  ///< of the node's checks
  Expr condition;     ///< an extent equals a number; where arms part, of what goes into them
};

/// Whether a resolved condition says that an extent, or what stands for one, equals a number of the text.
bool demands_extent(const Expr& condition);
/// The expression where these hold: of conditions that demand extents.
Expr settled(const Expr& e, const std::vector<Expr>& conditions);

class EarlyChecks {
 public:
  EarlyChecks() = default;
  explicit EarlyChecks(const ValueTable& table);

  /// Those that are made where this block begins.
  const std::vector<EarlyCheck>& made_in(ir::BlockId block) const { return made_[block]; }
  /// What holds in the block from its beginning on.
  std::vector<Expr> conditions_in(ir::BlockId block) const;

 private:
  std::vector<std::vector<EarlyCheck>> made_;
  std::vector<ir::BlockId> dominators_;
};

}  // namespace galatea::values
