// Whether scalars can be computed at a place of the graph.
//
// Comes in: expressions over symbols, resolved as far as the table of values can (value_table.h); a node.
// Goes out: whether every symbol is known just before that node runs, for all samples that get there.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/expr.h"

namespace galatea::values {

class Availability {
 public:
  explicit Availability(const ir::Graph& graph);
  /// Just before the node; its own native scalars count, since they are computed first.
  bool holds(const kernel::Expr& e, ir::NodeId at) const;
  /// Nodes of the block have moved.
  void refresh(ir::BlockId block);

 private:
  bool holds_symbol(const kernel::ExprNode& symbol, ir::NodeId at) const;
  bool is_before(ir::NodeId node, ir::NodeId at) const;
  bool dominates(ir::BlockId a, ir::BlockId b) const;

  const ir::Graph& graph_;
  std::vector<ir::BlockId> idom_;
  std::vector<size_t> position_;  ///< of each node in its block
};

/// Made of nothing but draws, the sample's number and what sources deliver: known before any other node.
bool is_known_early(const ir::Graph& graph, const kernel::Expr& e);

}  // namespace galatea::values
