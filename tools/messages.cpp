#include "tools/messages.h"

namespace galatea::tools {
namespace {

constexpr DiagnosticPage kTable[] = {
#define GALATEA_MESSAGE(name, code, text, help) {code, text, help},
#include "tools/messages.def"
#undef GALATEA_MESSAGE
};
}  // namespace

Diagnostic format_diagnostic(Message message, fmt::format_args args) {
  const DiagnosticPage& page = kTable[static_cast<size_t>(message)];
  Diagnostic diagnostic;
  diagnostic.code = page.code;
  diagnostic.message = fmt::vformat(page.text, args);
  diagnostic.help = page.help;
  return diagnostic;
}

}  // namespace galatea::tools
