// Diagnostics from a table: code, severity, wording and help, with places for arguments.
//
// Comes in: an entry, a place, arguments. Goes out: a Diagnostic. {0}, {1}, … stand for the arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace galatea {

/// A line of a messages.def.
struct MessageEntry {
  std::string_view name, code;
  Severity severity;
  std::string_view text, help;
};

/// Replaces {0}, {1}, … by the arguments; other braces stay, and places without an argument become empty.
std::string fill_in(std::string_view pattern, const std::vector<std::string>& arguments);
Diagnostic diagnose(const MessageEntry& entry, Span span, const std::vector<std::string>& arguments);

}  // namespace galatea
