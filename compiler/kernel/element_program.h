// An expression flattened for repeated evaluation; the engine of the interpreters.
//
// Comes in: an expression. Goes out: its value for given leaves. Shared nodes are computed once per
// evaluation.
#pragma once

#include <unordered_map>
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

class ElementProgram {
 public:
  ElementProgram() = default;
  explicit ElementProgram(const Expr& root);
  bool empty() const { return steps_.empty(); }
  Cell run(LeafSource& leaves, uint32_t* flags);

 private:
  struct Step {
    const ExprNode* node = nullptr;
    std::vector<int> args;
  };
  Expr root_;  ///< keeps the nodes alive
  std::vector<Step> steps_;
  std::vector<Cell> values_, args_;
};

}  // namespace galatea::kernel
