// Which source a node's data comes from: its numbering of samples counts for random draws.
#pragma once

#include "compiler/ir/graph.h"

namespace galatea::op {

/// The first source found from the node's inputs, then its per-sample arguments, upwards, depth first
/// (through merges in order of their operands); if there is none, the first source of the entry block; -1
/// without any.
int64_t counting_source(const ir::Graph& graph, ir::NodeId node);

}  // namespace galatea::op
