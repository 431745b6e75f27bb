// Diagnostics from a table: code, kind, wording and help, with places for arguments.
//
// Comes in: an entry, a place, arguments. Goes out: a Diagnostic. {0}, {1}, … stand for the arguments.
//
// Each layer has one table, its messages.def, and all have one form:
//   GALATEA_MESSAGE(name, code, kind, text, help)
// An empty help is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"

namespace galatea {

/// What a message is: an error, and who has to act (the author of the pipeline or its data, the people who
/// run this machine, or we), or less than an error.
enum class MessageKind : uint8_t { kError, kSystemError, kInternalError, kWarning, kNote };

constexpr Severity severity_of(MessageKind kind) {
  return kind == MessageKind::kWarning ? Severity::kWarning
         : kind == MessageKind::kNote  ? Severity::kNote
                                       : Severity::kError;
}
constexpr ErrorKind error_kind_of(MessageKind kind) {
  return kind == MessageKind::kSystemError     ? ErrorKind::kSystem
         : kind == MessageKind::kInternalError ? ErrorKind::kInternal
                                               : ErrorKind::kUser;
}

/// A line of a messages.def.
struct MessageEntry {
  const char* name;
  const char* code;
  MessageKind kind;
  const char* text;
  const char* help;
};

/// Replaces {0}, {1}, … by the arguments; other braces stay, and places without an argument become empty.
std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments);
Diagnostic diagnose(const MessageEntry& entry, Span span, const std::vector<std::string>& arguments);

}  // namespace galatea
