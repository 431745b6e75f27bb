// JSON documents: nlohmann's, with its parser and its writer compiled once. Both are templates that cost more
// to compile than most files that need a document or two.
//
// Comes in: text, or a document. Goes out: the other.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace galatea {

/// What a text says; a discarded value (is_discarded()), which has no members, where it is not JSON.
nlohmann::json parse_json(std::string_view text);
/// The same with members in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// On one line, or with so many spaces a level. Bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& document, int indent = -1);
std::string json_text(const nlohmann::ordered_json& document, int indent = -1);
/// A string with its quotes, as json_text() has it.
std::string json_quoted(std::string_view text);

}  // namespace galatea
