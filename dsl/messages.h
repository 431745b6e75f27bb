// The wording of every diagnostic of the language, by code.
//
// Comes in: a message, its place and its arguments. Goes out: a Diagnostic. Code, wording and help stand in
// messages.def and nowhere else; {0}, {1}, … stand for the arguments.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace galatea::dsl {

enum class Message {
#define GALATEA_MESSAGE(name, code, severity, text, help) name,
#include "dsl/messages.def"
#undef GALATEA_MESSAGE
};

/// What the table holds for a message.
struct MessageEntry {
  std::string_view name, code;
  Severity severity;
  std::string_view text, help;
};
const MessageEntry& entry_of(Message message);
const std::vector<MessageEntry>& all_messages();

/// Replaces {0}, {1}, … by the arguments.
std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments);
Diagnostic diagnose(Message message, Span span, std::vector<std::string> arguments = {});

}  // namespace galatea::dsl
