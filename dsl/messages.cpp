// The table of messages.def.
#include "dsl/messages.h"

namespace galatea::dsl {

const std::vector<MessageEntry>& all_messages() {
  static const std::vector<MessageEntry> table = {
#define GALATEA_MESSAGE(name, code, kind, text, help) {#name, code, MessageKind::kind, text, help},
#include "dsl/messages.def"
#undef GALATEA_MESSAGE
  };
  return table;
}

const MessageEntry& entry_of(Message message) { return all_messages()[static_cast<size_t>(message)]; }

Diagnostic diagnose(Message message, Span span, const std::vector<std::string>& arguments) {
  return galatea::diagnose(entry_of(message), span, arguments);
}

}  // namespace galatea::dsl
