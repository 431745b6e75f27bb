// The lexer: text in, tokens out, as Python's tokenizer would cut them.
//
// Comes in: a file of the source map, or a part of it (the expression of an f-string). Goes out: all tokens
// with NEWLINE, INDENT and DEDENT, the partner of every bracket, and diagnostics. It recovers by itself: an
// unclosed bracket is reported at the bracket and closed at the next line that begins a statement; it never
// stops early.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace galatea::dsl {

enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,
  kKeyword,
  kInteger,
  kFloat,
  kString,
  kOperator,
  kError,  ///< reported already
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Span span;
  std::string_view text;  ///< as written
  uint32_t partner = 0;   ///< brackets: index of the other one; 0: none
};

struct LexerOptions {
  int max_indents = 100;
  int max_brackets = 200;
};

/// Cuts the whole text of a file (which must outlive the tokens).
std::vector<Token> lex(uint32_t file, std::string_view text, std::vector<Diagnostic>& diagnostics,
                       LexerOptions options = {});
/// Cuts the bytes [begin, end) as if they stood in brackets.
std::vector<Token> lex_expression(uint32_t file, std::string_view text, uint32_t begin, uint32_t end,
                                  std::vector<Diagnostic>& diagnostics);

bool is_keyword(std::string_view word);

}  // namespace galatea::dsl
