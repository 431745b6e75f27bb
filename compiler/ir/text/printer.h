// The graph as text.
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"

namespace galatea::ir {

/// read_graph(to_text(graph)) gives an equal graph (up to spans, chains of calls and ids; reader.h has the
/// grammar).
std::string to_text(const Graph& graph);
/// With `# file:line:column` comments: where each node comes from.
std::string to_text(const Graph& graph, const SourceMap& sources);
/// With these texts for the types of values (shape/graph_shapes.h has extents by name).
std::string to_text(const Graph& graph, const std::vector<std::string>& types);
/// The names of all values as the text shows them ("%image"); empty for values that no reachable block holds.
std::vector<std::string> value_names(const Graph& graph);

}  // namespace galatea::ir
