// The graph as text, for people. to_text(graph) is declared in graph.h.
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"

namespace galatea::ir {

/// With `# file:line:column` comments: where each node comes from.
std::string to_text(const Graph& graph, const SourceMap& sources);
/// With these texts for the types of values (shape/graph_shapes.h has extents by name).
std::string to_text(const Graph& graph, const std::vector<std::string>& types);
/// The names of all values as the text shows them ("%image"); empty for values that no reachable block holds.
std::vector<std::string> value_names(const Graph& graph);

}  // namespace galatea::ir
