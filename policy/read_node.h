// Reading the expressions of a policy: nodes and magnitudes.
#pragma once

#include <optional>

#include "policy/document.h"
#include "policy/fields.h"

namespace galatea::policy {

/// A broken part is reported and read as if it were not there, so that one pass finds all mistakes.
Node read_node(const JsonValue& value, Fields& fields);
std::vector<Extra> read_extras(const JsonValue& value, Fields& fields);

}  // namespace galatea::policy
