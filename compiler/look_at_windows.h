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

/// Whether the window of a call that is computed for one leaves out anything of a picture of the usual extents, where
/// every draw is in the middle of its range. What a resize reads may look like a part, and is the whole picture.
bool leaves_out_a_part(const ir::Graph& graph, ir::NodeId call);

}  // namespace galatea
