#include "tools/messages.h"

#include "base/message_table.h"

namespace galatea::tools {
namespace {

constexpr MessageEntry kTable[] = {
#define GALATEA_MESSAGE(name, code, kind, text, help) {#name, code, MessageKind::kind, text, help},
#include "tools/messages.def"
#undef GALATEA_MESSAGE
};

const MessageEntry& entry_of(Message message) { return kTable[static_cast<size_t>(message)]; }

}  // namespace

Diagnostic format_diagnostic(Message message, fmt::format_args args) {
  const MessageEntry& entry = entry_of(message);
  Diagnostic diagnostic;
  diagnostic.code = entry.code;
  diagnostic.severity = severity_of(entry.kind);
  diagnostic.message = fmt::vformat(entry.text, args);
  diagnostic.help = entry.help;
  return diagnostic;
}

std::unexpected<Error> format_error(Message message, fmt::format_args args) {
  return make_error(error_kind_of(entry_of(message).kind), format_diagnostic(message, args));
}

}  // namespace galatea::tools
