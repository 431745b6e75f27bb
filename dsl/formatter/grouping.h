// From the tokens of one logical line to its concrete tree.
#pragma once

#include <vector>

#include "dsl/formatter/node.h"

namespace galatea::dsl::formatter {

/// Groups the tokens of a simple statement, or of a compound one up to its colon. nullptr: not Python that is
/// known here (the line is then kept as it is written).
Node* group_line(NodeStore& store, const std::vector<Node*>& tokens);

}  // namespace galatea::dsl::formatter
