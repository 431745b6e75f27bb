// The table of messages.def, and filling in its arguments.
#include "policy/messages.h"

#include <cctype>

namespace galatea::policy {
namespace {

struct Entry {
  const char* code;
  Severity severity;
  const char *text, *help;
};
constexpr Entry kTable[] = {
#define GALATEA_MESSAGE(name, code, severity, text, help) {code, Severity::severity, text, help},
#include "policy/messages.def"
#undef GALATEA_MESSAGE
};

std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') {
      out += pattern[i];
      continue;
    }
    const auto index = static_cast<size_t>(pattern[i + 1] - '0');
    if (index < arguments.size()) out += arguments[index];
    i += 2;
  }
  return out;
}

}  // namespace

Diagnostic diagnose(Message message, Span span, const std::vector<std::string>& arguments) {
  const Entry& entry = kTable[static_cast<size_t>(message)];
  Diagnostic diagnostic;
  diagnostic.code = entry.code;
  diagnostic.severity = entry.severity;
  diagnostic.message = fill_in(entry.text, arguments);
  diagnostic.span = span;
  diagnostic.help = fill_in(entry.help, arguments);
  return diagnostic;
}

std::unexpected<Error> policy_error(Message message, Span span, const std::vector<std::string>& arguments) {
  return make_error(ErrorKind::kUser, diagnose(message, span, arguments));
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const auto nearest = closest_match(word, candidates);
  return nearest ? "did you mean `" + *nearest + "`?" : "";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += "`" + names[i] + "`";
  }
  return text;
}

}  // namespace galatea::policy
