// Characters that come into a text by another way than a keyboard: from word processors, web pages, input methods
// of other scripts. Named, with the ASCII that is meant.
//
// Comes in: a character, or a name that is not known. Goes out: words about it, for diagnostics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace galatea::dsl {

struct Lookalike {
  char32_t character;
  std::string_view ascii;  ///< what is meant; empty: it shows nothing and is meant to be nothing
  std::string_view name;   ///< Unicode's, in small letters
};

/// The entry of a character, or null.
const Lookalike* find_lookalike(char32_t c);
/// "`‘` (U+2018, left single quotation mark)"; without the character itself where it shows nothing.
std::string describe_character(char32_t c);
/// What to write in place of the character.
std::string advice_for(char32_t c);
/// A name with the ASCII letters that its letters look like; nothing: it has no such letter.
std::optional<std::string> ascii_twin(std::string_view name);
/// The first letter of the name that looks like one of ASCII, described; the name has one.
std::string describe_twin(std::string_view name);

/// A name without the characters in it that nobody sees.
std::string without_invisible(std::string_view name);

}  // namespace galatea::dsl
