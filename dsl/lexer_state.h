// The lexer's class, shared by lexer.cpp and lexer_foreign.cpp and by nothing else.
#pragma once

#include <set>
#include <utility>

#include "dsl/lexer.h"
#include "dsl/lexer_bytes.h"
#include "dsl/messages.h"

namespace galatea::dsl {

inline constexpr std::string_view kBrackets = "()[]{}";

class Lexer {
 public:
  Lexer(uint32_t file, std::string_view text, LexerOptions options, std::set<uint32_t> unclosed)
      : file_(file), text_(text), end_(text.size()), options_(options), unclosed_(std::move(unclosed)) {}

  void run_file() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (at_ < end_) {
      if (at_line_start_ && brackets_.empty() && !read_indentation()) continue;
      read_token();
    }
    finish_file();
  }
  void run_part(uint32_t begin, uint32_t end) {
    at_ = begin;
    end_ = end;
    at_line_start_ = false;
    in_part_ = true;
    while (at_ < end_) read_token();
    close_open_brackets(0);
    add(TokenKind::kEnd, end_, end_);
  }

  std::vector<Token> tokens;
  std::vector<Diagnostic> diagnostics;
  std::vector<uint32_t>
      open_at_end;  ///< offsets of brackets that were open where a statement began, or at the end

 private:
  struct Bracket {
    uint32_t token;
    int statement_indent;
  };

  char peek(size_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
  Span span(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  void add(TokenKind kind, size_t begin, size_t end) {
    tokens.push_back({kind, span(begin, end), text_.substr(begin, end - begin), 0});
  }
  void report(Message message, size_t begin, size_t end, std::vector<std::string> arguments = {}) {
    diagnostics.push_back(diagnose(message, span(begin, end), std::move(arguments)));
  }

  // what other languages write (lexer_foreign.cpp)
  void add_translated(TokenKind kind, size_t length, std::string_view meant);
  bool read_foreign_operator();
  bool read_macro();
  bool read_dollar();
  bool at_line_of_its_own() const;
  void read_block_comment();
  void read_notebook_command();
  void read_backquotes();
  void advise_on_suffix(const std::string& text);
  void advise_on_quote(size_t begin, size_t quote_at);

  bool read_indentation();
  void set_indentation(int column, int column_of_ones, size_t begin);
  void read_token();
  void read_newline();
  void read_name();
  void read_lookalike(char32_t c, size_t length);
  void read_number();
  void read_string(size_t begin, size_t quote_at);
  void read_operator();
  void read_bracket(std::string_view bracket, size_t length);
  bool fits_with_closer() const;
  bool line_begins_statement() const;
  bool opens_block(const Token& brace) const;
  void close_open_brackets(size_t keep);
  void finish_file();

  uint32_t file_;
  std::string_view text_;
  size_t at_ = 0, end_;
  LexerOptions options_;
  std::set<uint32_t> unclosed_;
  bool at_line_start_ = true, in_part_ = false;
  std::vector<std::pair<int, int>> indents_ = {{0, 0}};
  std::pair<int, int> mended_indent_ = {-1, -1};  // a column that matched no block, and the one it is read as
  std::vector<Bracket> brackets_;
  int block_braces_ = 0;  // that opened a block of another language and are not closed yet
};

}  // namespace galatea::dsl
