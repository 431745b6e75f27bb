// The compiler's messages: codes, wording and help, from messages.def.
//
// Comes in: which message, where, and what to fill in. Goes out: a diagnostic, or an Error that holds one.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/message_table.h"

namespace galatea::compiler {

enum class Message {
#define GALATEA_MESSAGE(name, code, kind, text, help) name,
#include "compiler/messages/messages.def"
#undef GALATEA_MESSAGE
};

const MessageEntry& entry(Message message);
int num_messages();

Diagnostic format_diagnostic(Message message, Span span, fmt::format_args args);

template <typename... Args>
Diagnostic diagnostic(Message message, Span span, const Args&... args) {
  return format_diagnostic(message, span, fmt::make_format_args(args...));
}

/// An error of the user's making.
template <typename... Args>
std::unexpected<Error> user_error(Message message, Span span, const Args&... args) {
  return make_error(ErrorKind::kUser, diagnostic(message, span, args...));
}

}  // namespace galatea::compiler
