// Checks of operators that can be decided before any data is read.
//
// Comes in: a verified graph from staging. Goes out: one diagnostic for each check that no sample can pass: a
// crop larger than what a resize to a constant size leaves, say. An error where every sample passes through
// the node, else a warning.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace galatea {

std::vector<Diagnostic> check_constants(const ir::Graph& graph);

}  // namespace galatea
