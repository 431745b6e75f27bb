// Tokens and the gaps between them. See token_stream.h.
#include "dsl/formatter/token_stream.h"

#include <algorithm>
#include <array>

#include "dsl/formatter/literals.h"

namespace galatea::dsl::formatter {
namespace {

int width_of(std::string_view blanks) {
  int column = 0;
  for (char c : blanks) column = c == '\t' ? (column / 8 + 1) * 8 : column + 1;
  return column;
}

}  // namespace

TokenStream::TokenStream(std::string_view text) : text_(text) {
  std::vector<Diagnostic> diagnostics;
  tokens_ = lex(1, text, diagnostics);
}

bool TokenStream::begins_line(size_t at) const {
  if (at == 0) return true;
  TokenKind before = tokens_[at - 1].kind;
  return before == TokenKind::kNewline || before == TokenKind::kIndent || before == TokenKind::kDedent;
}

Gap TokenStream::gap_before(size_t at) const {
  Gap gap;
  uint32_t from = at == 0 ? 0 : end(at - 1);
  if (at == 0 && text_.starts_with("\xEF\xBB\xBF")) from = 3;
  bool at_start = begins_line(at);
  bool joined = false;  // the line goes on behind a backslash
  for (uint32_t i = from; i < begin(at);) {
    size_t line_break = text_.find('\n', i);
    uint32_t stop = std::min(begin(at), static_cast<uint32_t>(std::min(line_break, text_.size())));
    std::string_view line = text_.substr(i, stop - i);
    size_t mark = line.find_first_not_of(" \t\f");
    if (mark != std::string_view::npos && line[mark] == '#') {
      Comment comment;
      comment.text = normalize_comment(line.substr(mark));
      comment.begin = i + static_cast<uint32_t>(mark);
      comment.own_line = at_start || gap.breaks_line;
      comment.empty_lines = gap.empty_lines;
      comment.column = width_of(line.substr(0, mark));
      gap.comments.push_back(std::move(comment));
      gap.empty_lines = 0;
    } else if (mark == std::string_view::npos && stop < begin(at) && (at_start || gap.breaks_line)) {
      ++gap.empty_lines;
    }
    joined = mark != std::string_view::npos && line[mark] == '\\';
    if (stop < begin(at) && !joined) gap.breaks_line = true;
    i = stop + 1;
  }
  return gap;
}

size_t TokenStream::line_end(size_t at) const {
  while (kind(at) != TokenKind::kNewline && kind(at) != TokenKind::kEnd) ++at;
  return at;
}

size_t TokenStream::head_colon(size_t at) const {
  constexpr std::array<std::string_view, 12> kHeads = {"if",  "elif",  "else",  "for",    "while",   "def",
                                                       "try", "class", "async", "except", "finally", "with"};
  size_t end = line_end(at);
  bool head =
      kind(at) == TokenKind::kKeyword && std::find(kHeads.begin(), kHeads.end(), word(at)) != kHeads.end();
  if (!head) {
    // `match x:` and `case y:`, whose words are no keywords.
    bool soft = kind(at) == TokenKind::kName && (word(at) == "match" || word(at) == "case");
    return soft && end > at && word(end - 1) == ":" ? end - 1 : end;
  }
  int depth = 0, lambdas = 0;
  for (size_t i = at; i < end; ++i) {
    if (kind(i) == TokenKind::kKeyword && word(i) == "lambda" && depth == 0) ++lambdas;
    if (kind(i) != TokenKind::kOperator) continue;
    char c = word(i)[0];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && word(i) == ":" && lambdas-- == 0) return i;
  }
  return end;
}

std::string_view TokenStream::indent(size_t at) const {
  uint32_t start = line_start(begin(at));
  return text_.substr(start, begin(at) - start);
}

int TokenStream::column(size_t at) const { return width_of(indent(at)); }

uint32_t TokenStream::line_start(uint32_t offset) const {
  while (offset > 0 && text_[offset - 1] != '\n') --offset;
  return offset;
}

}  // namespace galatea::dsl::formatter
