// Which part of its picture each call makes, of the calls that are computed for a window only.
//
// Comes in: a graph after the passes. Goes out: a graph whose outputs are these windows, sample by sample. It is to be
// compiled without passes, as it is.
#pragma once

#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"

namespace galatea {

struct WindowGraph {
  ir::Graph graph;                ///< an output a call: i64[2, ndim], first and last + 1
  std::vector<ir::NodeId> calls;  ///< that every sample comes to
  std::vector<std::unique_ptr<op::Operator>> operators;  ///< of the graph's; they outlive its compilation
};

WindowGraph windows_as_outputs(const ir::Graph& graph);

}  // namespace galatea
