// The tokens of a file with what stands between them.
#pragma once

#include <string_view>
#include <vector>

#include "dsl/formatter/node.h"
#include "dsl/lexer.h"

namespace galatea::dsl::formatter {

/// Comments and empty lines between two tokens.
struct Gap {
  std::vector<Comment> comments;
  int empty_lines = 0;  ///< after the last comment
  bool breaks_line = false;
};

class TokenStream {
 public:
  /// The text must outlive the stream, have no `\r`, and lex without errors.
  explicit TokenStream(std::string_view text);

  size_t size() const { return tokens_.size(); }
  TokenKind kind(size_t at) const { return tokens_[at].kind; }
  std::string_view word(size_t at) const { return tokens_[at].text; }
  uint32_t begin(size_t at) const { return tokens_[at].span.begin; }
  uint32_t end(size_t at) const { return tokens_[at].span.end; }
  std::string_view text() const { return text_; }
  /// Whether the token is the first of a logical line.
  bool begins_line(size_t at) const;
  Gap gap_before(size_t at) const;
  /// The first token at or after `at` that is a NEWLINE.
  size_t line_end(size_t at) const;
  /// The colon that ends the head of a compound statement, if one begins at `at`; else line_end(at).
  size_t head_colon(size_t at) const;
  /// The blanks before the first token of a line, and the column that they reach.
  std::string_view indent(size_t at) const;
  int column(size_t at) const;
  /// Where the physical line of an offset begins.
  uint32_t line_start(uint32_t offset) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
};

}  // namespace galatea::dsl::formatter
