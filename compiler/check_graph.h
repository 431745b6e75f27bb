// What can be said of a pipeline before any data is read: checks of operators that no sample passes.
//
// Comes in: a verified graph from staging. Goes out: one diagnostic for each check that fails whatever the
// data: a crop larger than what a resize leaves, a reshape to another number of elements, tensors of unequal
// extents joined. The checks and extents are those that the operators' definitions write for the run; none is
// written twice. An error where no sample gets past it, a warning where some may take another way or nobody
// uses the result.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace galatea {

namespace shape {
class GraphShapes;
}
namespace op {
class KnownLowerings;
}

/// `known`: gets what the operators' definitions said of the graph's nodes; may be null.
std::vector<Diagnostic> check_graph(const ir::Graph& graph, op::KnownLowerings* known = nullptr);
/// The same of a graph of which some is missing (op/recovery.h): whatever it makes is taken to be used.
std::vector<Diagnostic> check_partial_graph(const ir::Graph& graph);
/// The same with shapes that are needed otherwise, too.
std::vector<Diagnostic> check_graph(const ir::Graph& graph, shape::GraphShapes& shapes);

}  // namespace galatea
