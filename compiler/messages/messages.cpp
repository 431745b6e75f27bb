#include "compiler/messages/messages.h"

namespace galatea::compiler {
namespace {

constexpr MessageEntry kEntries[] = {
#define GALATEA_MESSAGE(name, code, kind, text, help) {#name, code, MessageKind::kind, text, help},
#include "compiler/messages/messages.def"
#undef GALATEA_MESSAGE
};

}  // namespace

const MessageEntry& entry(Message message) { return kEntries[static_cast<int>(message)]; }

int num_messages() { return static_cast<int>(std::size(kEntries)); }

Diagnostic format_diagnostic(Message message, Span span, fmt::format_args args) {
  const MessageEntry& found = entry(message);
  Diagnostic out;
  out.code = found.code;
  out.severity = severity_of(found.kind);
  out.message = fmt::vformat(found.text, args);
  out.help = fmt::vformat(found.help, args);
  out.span = span;
  return out;
}

}  // namespace galatea::compiler
