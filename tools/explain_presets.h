// What explain says of presets (`compat=`): whose numbers a call gives, and what differs from DALI's.
#pragma once

#include <string>

#include "base/source.h"
#include "compiler/ir/graph.h"

namespace galatea::tools {

/// The section "presets", a line a call; empty where every call gives DALI's numbers.
std::string describe_presets(const ir::Graph& graph, const SourceMap& sources);

}  // namespace galatea::tools
