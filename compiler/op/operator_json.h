// Operators as JSON, for generated bindings: what `galatea ops --json` prints, and the C API.
#pragma once

#include "base/json.h"
#include "compiler/op/operator.h"

namespace galatea::op {

/// "kernel" or "native".
const char* kind_name(OperatorKind kind);
nlohmann::ordered_json to_json(const ir::Attr& attr);
nlohmann::ordered_json to_json(const Operator& op);
/// The operators that a text can name, sorted.
std::vector<const Operator*> listed(const Registry& registry);
/// {"operators": [...]}.
nlohmann::ordered_json to_json(const std::vector<const Operator*>& operators);
/// The same of all, and "texts" where hosts have written operators in the language: "name", "parameters".
nlohmann::ordered_json to_json(const Registry& registry);

}  // namespace galatea::op
