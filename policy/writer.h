// Writing policy documents: one canonical form, which reads back as the same document.
#pragma once

#include <string>

#include "policy/document.h"

namespace galatea::policy {

/// JSON, ending in a line break. What equals its default is left out.
std::string to_json(const Document& document);
/// One node on one line: what diffs and messages show.
std::string to_json(const Node& node);
/// One row of the table on one line, without its name.
std::string to_json(const Augmentation& augmentation);
/// A tree in the same layout.
std::string to_json(const JsonValue& value);

/// The JSON schema of policy documents, ending in a line break.
const std::string& schema_text();

}  // namespace galatea::policy
