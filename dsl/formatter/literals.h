// The one spelling of numbers, strings, docstrings and comments.
#pragma once

#include <string>
#include <string_view>

namespace galatea::dsl::formatter {

/// Lower-case letters, digits on both sides of the point, upper-case hexadecimal digits.
std::string normalize_number(std::string_view text);
/// Lower-case prefix and escapes; double quotes unless they cost backslashes.
std::string normalize_string(std::string_view text);
/// A docstring at `depth` levels of indentation: its lines moved to that indentation, blanks at its ends
/// removed.
std::string normalize_docstring(std::string_view text, int depth);
bool may_be_docstring(std::string_view text);
/// `#text` gets a blank; `#!`, `#:` and `##` stay.
std::string normalize_comment(std::string_view text);

enum class Directive { kNone, kOff, kOn, kSkip };
/// `# fmt: off`, `# fmt: on`, `# fmt: skip`.
Directive directive_of(std::string_view comment);

}  // namespace galatea::dsl::formatter
