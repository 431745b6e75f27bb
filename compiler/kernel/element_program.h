// An expression flattened for repeated evaluation; the engine of the interpreter of stages.
//
// Comes in: an expression. Goes out: its value for given leaves. Shared nodes are computed once per
// evaluation, and what no changed leaf is in keeps the value it had.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernel/expr.h"

namespace galatea::kernel {

/// Answers the leaves that depend on where we are: params, axes, taps, loads, variables.
class LeafSource {
 public:
  virtual ~LeafSource() = default;
  /// `args` are the values of the node's operands (the indices of a load).
  virtual Cell leaf(const ExprNode& node, const Cell* args) = 0;
};

/// Sets of leaves, a bit each: what has changed since an expression was evaluated before. A load changes with
/// its indices.
namespace leaf_set {
inline constexpr int kMostAxes = 16;
inline constexpr uint64_t kTap = uint64_t{1} << 2 * kMostAxes, kAcc = kTap << 1, kOthers = kAcc << 1;
inline constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t axis(size_t index) { return uint64_t{1} << index; }
constexpr uint64_t reduce_axis(size_t index) { return axis(kMostAxes + index); }
/// An axis and those after it.
constexpr uint64_t axes_from(size_t index) { return axis(kMostAxes) - axis(index); }
constexpr uint64_t reduce_axes_from(size_t index) { return axes_from(index) << kMostAxes; }
}  // namespace leaf_set

class ElementProgram {
 public:
  ElementProgram() = default;
  explicit ElementProgram(const Expr& root);
  bool empty() const { return values_.empty(); }
  /// `changed`: leaves that may have another value than in the run before (the first computes everything).
  Cell run(LeafSource& leaves, uint32_t* flags, uint64_t changed = leaf_set::kAll);

 private:
  struct Step {
    const ExprNode* node;
    uint64_t varies_with;   ///< leaves in it
    ExprKind kind;          ///< this and what follows as in the node, which is not looked at for it
    ScalarOp op;            ///< kOp
    DType type, from;       ///< kOp: as evaluate() takes them
    size_t args, args_end;  ///< places in args_
    size_t to;              ///< place in values_
  };
  Cell compute(const Step& step, LeafSource& leaves, uint32_t* flags);

  Expr root_;                   ///< keeps the nodes alive
  std::vector<Step> steps_;     ///< of all nodes but constants
  std::vector<size_t> args_;    ///< the steps' operands: places in values_
  std::vector<Cell> values_;    ///< one for each node; constants are there from the beginning
  std::vector<Cell> operands_;  ///< of the step that is computed
  bool has_run_ = false;
};

}  // namespace galatea::kernel
