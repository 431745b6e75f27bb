// What stands around a place in a text that is being typed: the dotted name at it, the call that it is in.
//
// Comes in: tokens and a byte. Goes out: names and keywords. Looks at tokens alone, since what is being typed
// does not parse yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "dsl/lexer.h"

namespace galatea::tools::lsp {

/// `fn.readers.fi|`: dotted = {fn, readers}, begun = "fi".
struct DottedName {
  std::vector<std::string> dotted;  ///< before the last dot; empty: there is none
  std::string begun;                ///< of the last name, up to the place
  uint32_t begin = 0;               ///< where the last name begins
  bool is_whole = true;             ///< false: before the first dot stands something else, `f(x).|`
};

/// `fn.resize(image, size=2|`.
struct CallAround {
  std::vector<std::string> callee;  ///< {fn, resize}
  Span callee_span;                 ///< of its last name
  std::vector<std::string> given;   ///< keywords written in the call
  std::string keyword;              ///< of the argument at the place; empty: by position
  size_t index = 0;                 ///< of the argument at the place, from 0
};

DottedName dotted_name_at(const std::vector<dsl::Token>& tokens, uint32_t offset);
/// The whole dotted name to which the token belongs, up to and with it: {fn, readers, file}.
std::vector<std::string> dotted_up_to(const std::vector<dsl::Token>& tokens, const dsl::Token& token);
std::optional<CallAround> call_around(const std::vector<dsl::Token>& tokens, uint32_t offset);
/// From the first name of a dotted one to the bracket that ends its call; nothing: it is not called here.
std::optional<Span> call_of(const std::vector<dsl::Token>& tokens, const dsl::Token& last_name);
/// Whether the byte lies in a string or behind the `#` of a comment.
bool is_in_words(const std::vector<dsl::Token>& tokens, const std::string& text, uint32_t offset);

}  // namespace galatea::tools::lsp
