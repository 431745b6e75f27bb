// The table of messages.def, and filling in its arguments.
#include "dsl/messages.h"

#include <cctype>

namespace galatea::dsl {

const std::vector<MessageEntry>& all_messages() {
  static const std::vector<MessageEntry> table = {
#define GALATEA_MESSAGE(name, code, severity, text, help) {#name, code, Severity::severity, text, help},
#include "dsl/messages.def"
#undef GALATEA_MESSAGE
  };
  return table;
}

const MessageEntry& entry_of(Message message) { return all_messages()[static_cast<size_t>(message)]; }

std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool is_argument = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
                       std::isdigit(static_cast<unsigned char>(pattern[i + 1]));
    if (!is_argument) {
      out += pattern[i];
      continue;
    }
    size_t index = static_cast<size_t>(pattern[i + 1] - '0');
    if (index < arguments.size()) out += arguments[index];
    i += 2;
  }
  return out;
}

Diagnostic diagnose(Message message, Span span, std::vector<std::string> arguments) {
  const MessageEntry& entry = entry_of(message);
  Diagnostic diagnostic;
  diagnostic.code = entry.code;
  diagnostic.severity = entry.severity;
  diagnostic.message = fill_in(entry.text, arguments);
  diagnostic.span = span;
  diagnostic.help = fill_in(entry.help, arguments);
  return diagnostic;
}

}  // namespace galatea::dsl
