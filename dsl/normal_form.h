// Names that look the same but are written with other characters: the form in which Python compares them.
//
// Comes in: a name. Goes out: its normal form, NFKC of Unicode: `ｓｉｚｅ` is `size`, `e` and a combining acute accent
// are `é`.
#pragma once

#include <string>
#include <string_view>

namespace galatea::dsl {

/// Whether a character past ASCII may stand in a name, or begin one, as in Python.
bool is_name_character(char32_t c, bool is_first);

/// `name` is UTF-8. A name of ASCII is its own normal form.
std::string normal_form(std::string_view name);

}  // namespace galatea::dsl
