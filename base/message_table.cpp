#include "base/message_table.h"

#include <cctype>

namespace galatea {

std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_place = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
                          std::isdigit(static_cast<unsigned char>(pattern[i + 1])) != 0;
    if (!is_place) {
      out += pattern[i];
      continue;
    }
    const auto index = static_cast<size_t>(pattern[i + 1] - '0');
    if (index < arguments.size()) out += arguments[index];
    i += 2;
  }
  return out;
}

Diagnostic diagnose(const MessageEntry& entry, Span span, const std::vector<std::string>& arguments) {
  Diagnostic diagnostic;
  diagnostic.code = entry.code;
  diagnostic.severity = severity_of(entry.kind);
  diagnostic.message = fill_in(entry.text, arguments);
  diagnostic.span = span;
  diagnostic.help = fill_in(entry.help, arguments);
  return diagnostic;
}

}  // namespace galatea
