// The command line's own diagnostics, and the table of those of all layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"

namespace galatea::tools {

enum class Message {
#define GALATEA_MESSAGE(name, code, kind, text, help) name,
#include "tools/messages.def"
#undef GALATEA_MESSAGE
};

Diagnostic format_diagnostic(Message message, fmt::format_args args);
std::unexpected<Error> format_error(Message message, fmt::format_args args);
/// Without a place: the mistake is not in the pipeline's text.
template <typename... Args>
std::unexpected<Error> tool_error(Message message, const Args&... args) {
  return format_error(message, fmt::make_format_args(args...));
}

/// The same where the system said whose fault it is (kind_of_errno()).
template <typename... Args>
std::unexpected<Error> tool_error(ErrorKind kind, Message message, const Args&... args) {
  return make_error(kind, format_diagnostic(message, fmt::make_format_args(args...)));
}

/// One code with its wording; {0}, {1} … stand for what is filled in. Several entries may share a code.
struct DiagnosticPage {
  std::string_view code, text, help;
};
/// The tables of all layers, in the order of the codes.
std::vector<DiagnosticPage> all_diagnostic_pages();

}  // namespace galatea::tools
