// The wording of every diagnostic of the language, by code.
//
// Comes in: a message, its place and its arguments. Goes out: a Diagnostic. Code, wording and help stand in
// messages.def and nowhere else; {0}, {1}, … stand for the arguments.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/message_table.h"

namespace galatea::dsl {

enum class Message {
#define GALATEA_MESSAGE(name, code, kind, text, help) name,
#include "dsl/messages.def"
#undef GALATEA_MESSAGE
};

const MessageEntry& entry_of(Message message);
const std::vector<MessageEntry>& all_messages();

Diagnostic diagnose(Message message, Span span, const std::vector<std::string>& arguments = {});

}  // namespace galatea::dsl
