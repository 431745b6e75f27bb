// Which places and sizes fit in 32 bits in a call whose numbers are small, as those of nearly all calls are.
//
// Comes in: loops in the form for GPUs, statement by statement as a code generator writes them. Goes out: for
// each expression whether its value and its operands fit, so that it may be computed in 32 bits: a register
// holds a place, and a division is a quarter as long. Every expression is asked by itself; what need not fit
// stays in 64 bits. The values are the same bits.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/loops.h"
#include "compiler/kernel/node_map.h"
#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

/// Numbers of a call that are called small: from -kMostOfSmall to kMostOfSmall. An image of so many rows and
/// columns of three channels has fewer than 2^31 elements.
inline constexpr int64_t kMostOfSmall = 16383;

/// What the i64 parameters of a call may be.
enum class Numbers : uint8_t { kAny, kSmall };

class SmallIndices {
 public:
  SmallIndices(const LoopKernel& loops, Numbers numbers);

  /// What is known from a statement on: of the variable that it defines, or inside of a loop.
  void define(const Let& let);
  void enter(const For& loop);
  void leave();

  /// Whether an i64 fits in an i32.
  bool is_small(const Expr& e);
  /// Whether a value is known to be 0 or more, or more than 0.
  bool is_natural(const Expr& e) { return range(e).low >= 0; }
  bool is_positive(const Expr& e) { return range(e).low > 0; }
  /// Whether an operation on i64 can be one on i32: value and operands are small.
  bool is_narrow(const Expr& e);
  /// Whether it moves anything into a small range: max(min(a, high), low) of an `a` that need not be small, or
  /// of the sum of one and something small. Beyond kFar nothing matters.
  bool is_clamp(const Expr& e);
  /// A sum whose first operand need not be small, and whose second is.
  bool is_far_sum(const Expr& e);
  /// The i64 parameters of a kernel that have to be small for that, in a call that has no scratch.
  static std::vector<int> params(const LoopKernel& loops);

 private:
  ScalarRange range(const Expr& e);
  ScalarRange compute(const Expr& e);
  void walk(const Block& block);
  void learn(const Expr& condition);
  void narrow_what_follows();
  bool is_near(const Expr& e);

  Numbers numbers_;
  std::vector<ScalarRange> vars_;  ///< one that is assigned may be anything
  std::vector<ScalarRange> params_;
  std::vector<Expr> values_;  ///< of variables that a Let defines
  std::set<int> used_;
  std::vector<std::pair<std::vector<ScalarRange>, std::vector<ScalarRange>>> outside_;  ///< of each loop
  NodeMap<ScalarRange> known_;
  std::vector<Expr> keep_;  ///< nodes whose addresses are keys above
};

}  // namespace galatea::kernel
