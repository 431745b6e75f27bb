// A cursor over the text of an IR: words, numbers, texts, and errors with their place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace galatea::ir {

class TextCursor {
 public:
  TextCursor(std::string_view text, uint32_t file) : text_(text), file_(file) {}

  /// Skips blanks, line breaks and comments.
  void skip();
  bool at_end() { return skip(), at_ >= text_.size(); }
  /// Is the next character this one? Takes nothing.
  bool sees(char c) { return skip(), at_ < text_.size() && text_[at_] == c; }
  /// Takes the character if it is next.
  bool take(char c);
  /// Takes the whole word if it is next.
  bool take_word(std::string_view word);
  /// As take_word, but only on the line where the cursor stands.
  bool take_word_here(std::string_view word);
  /// Whether something other than a comment follows on this line; stands before it then.
  bool more_on_line();
  /// [A-Za-z_][A-Za-z0-9_.]*, or empty.
  std::string_view word();
  /// Names of axes, letters and `*`, as a whole word on this line; or empty. Small letters are names of as many
  /// axes as there are, and no word of the line.
  std::string_view layout_here(int ndim);
  std::optional<int64_t> integer();
  /// Digits, sign, point, exponent, inf, nan.
  std::string_view number();
  Result<std::string> quoted();

  Status expect(char c);
  std::unexpected<Error> error(std::string message, std::string help = {});
  size_t position() { return skip(), at_; }
  /// From a position to the cursor.
  Span span_from(size_t begin) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }
  void return_to(size_t position) { at_ = position; }

 private:
  std::string_view text_;
  uint32_t file_;
  size_t at_ = 0;
};

}  // namespace galatea::ir
