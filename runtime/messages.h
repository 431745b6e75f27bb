// Errors of the runtime: one table (messages.def) of codes, wordings and helps; the wording is filled with
// fmt.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/message_table.h"

namespace galatea::runtime {

using Message = MessageEntry;

namespace message {
#define GALATEA_MESSAGE(name, code, kind, text, help) \
  inline constexpr Message name{#name, code, MessageKind::kind, text, help};
#include "runtime/messages.def"
#undef GALATEA_MESSAGE
}  // namespace message

/// The message with its values filled in.
template <typename... Values>
std::unexpected<Error> make_error(const Message& which, Values&&... values) {
  return galatea::make_error(error_kind_of(which.kind), which.code,
                             fmt::format(fmt::runtime(which.text), std::forward<Values>(values)...),
                             which.help);
}

}  // namespace galatea::runtime
