// What a source node tells the runtime: its arguments as JSON, its name.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace galatea::plan {

/// Arguments (given ones and defaults; None is left out) as one JSON object.
std::string source_config(const ir::Node& node);
/// The name by which a host feeds an external_source: name=, or "input".
std::string external_name(const ir::Node& node);

}  // namespace galatea::plan
