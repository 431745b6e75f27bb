// The lines of a file, one after the other, into their canonical form.
#pragma once

#include <string>
#include <string_view>

namespace galatea::dsl::formatter {

/// The text has no `\r` and no syntax errors.
std::string format_text(std::string_view text);

}  // namespace galatea::dsl::formatter
