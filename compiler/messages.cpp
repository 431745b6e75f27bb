#include "compiler/messages.h"

namespace galatea::compiler {
namespace {

constexpr MessageEntry kEntries[] = {
#define GALATEA_MESSAGE(code, name, wording, help) {code, #name, wording, help},
#include "compiler/messages.def"
#undef GALATEA_MESSAGE
};

}  // namespace

const MessageEntry& entry(Message message) { return kEntries[static_cast<int>(message)]; }

int num_messages() { return static_cast<int>(std::size(kEntries)); }

Diagnostic format_diagnostic(Message message, Span span, fmt::format_args args) {
  const MessageEntry& found = entry(message);
  Diagnostic out;
  out.code = found.code;
  out.message = fmt::vformat(found.wording, args);
  out.help = fmt::vformat(found.help, args);
  out.span = span;
  return out;
}

}  // namespace galatea::compiler
