#include "base/json.h"

namespace galatea {
namespace {

template <typename Document>
std::string text_of(const Document& document, int indent) {
  return document.dump(indent, ' ', false, Document::error_handler_t::replace);
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
}
nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_text(const nlohmann::json& document, int indent) { return text_of(document, indent); }
std::string json_text(const nlohmann::ordered_json& document, int indent) {
  return text_of(document, indent);
}
std::string json_quoted(std::string_view text) { return text_of(nlohmann::json(text), -1); }

}  // namespace galatea
