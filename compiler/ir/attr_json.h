// Static arguments as JSON: what sources are opened with, and what `galatea ops --json` prints.
#pragma once

#include "base/json.h"
#include "compiler/ir/graph.h"

namespace galatea::ir {

/// None is null, an element type its short name, the rest what it looks like.
nlohmann::json attr_json(const Attr& attr);

}  // namespace galatea::ir
