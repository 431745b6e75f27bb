// The table of messages.def.
#include "policy/messages.h"

#include "base/message_table.h"

namespace galatea::policy {
namespace {

constexpr MessageEntry kTable[] = {
#define GALATEA_MESSAGE(name, code, kind, text, help) {#name, code, MessageKind::kind, text, help},
#include "policy/messages.def"
#undef GALATEA_MESSAGE
};

}  // namespace

Diagnostic diagnose(Message message, Span span, const std::vector<std::string>& arguments) {
  return galatea::diagnose(kTable[static_cast<size_t>(message)], span, arguments);
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
