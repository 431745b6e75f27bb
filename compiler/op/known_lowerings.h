// What definitions said of nodes, for whoever asks again: checks, folding of constants and the plan's table
// all begin with the lowerings of a graph that hardly changes between them.
//
// Comes in: lowerings as lower_node() makes them, and the node as it is then. Goes out: the same for as long
// as nothing changes that a definition may look at: the node itself, the types of its operands and results,
// and for draws the source that they count with. Definitions that look further (Lowering::looks_around) are
// never kept.
#pragma once

#include <memory>
#include <vector>

#include "compiler/op/lineage.h"
#include "compiler/op/recipe.h"

namespace galatea::op {

class KnownLowerings {
 public:
  /// In place of what is known of the node. `lineage` is the graph's.
  void keep(const ir::Graph& graph, ir::NodeId node, Lowering lowering, Lineage& lineage);
  /// Null where nothing is known of the node as it is. Without `lineage`: whatever source draws count with.
  const Lowering* find(const ir::Graph& graph, ir::NodeId node, Lineage* lineage) const;
  void clear() { known_.clear(); }

 private:
  struct Known {
    const Operator* op = nullptr;
    std::vector<ir::ValueId> inputs, outputs;
    std::vector<ir::Arg> args;
    std::vector<ir::Type> types;  ///< of inputs, arguments and outputs, in this order
    Span span;
    int64_t source = -1;
    Lowering lowering;
  };

  std::vector<std::unique_ptr<Known>> known_;  ///< by node
};

}  // namespace galatea::op
