#include "tools/lsp/cursor.h"

#include <algorithm>
#include <string_view>

namespace galatea::tools::lsp {
namespace {

using dsl::Token;
using dsl::TokenKind;

bool is_word(const Token& token) {
  return token.kind == TokenKind::kName || token.kind == TokenKind::kKeyword;
}
/// A bracket that nothing closes is an error of the lexer, and a bracket all the same.
bool is_sign(const Token& token, std::string_view text) {
  return (token.kind == TokenKind::kOperator || token.kind == TokenKind::kError) && token.text == text;
}
bool opens(const Token& token) { return is_sign(token, "(") || is_sign(token, "[") || is_sign(token, "{"); }
bool closes(const Token& token) { return is_sign(token, ")") || is_sign(token, "]") || is_sign(token, "}"); }

/// Index behind the last token with text that begins before the byte.
size_t before(const std::vector<Token>& tokens, uint32_t offset) {
  const auto after =
      std::ranges::lower_bound(tokens, offset, {}, [](const Token& t) { return t.span.begin; });
  return static_cast<size_t>(after - tokens.begin());
}

/// The names of `a.b.` that end before index `end`, whose last token is a dot.
std::vector<std::string> names_before(const std::vector<Token>& tokens, size_t end, bool& is_whole) {
  std::vector<std::string> names;
  while (end >= 2 && is_sign(tokens[end - 1], ".") && is_word(tokens[end - 2])) {
    names.emplace_back(tokens[end - 2].text);
    end -= 2;
  }
  is_whole = !(end >= 1 && is_sign(tokens[end - 1], "."));
  std::ranges::reverse(names);
  return names;
}

}  // namespace

DottedName dotted_name_at(const std::vector<Token>& tokens, uint32_t offset) {
  DottedName name;
  name.begin = offset;
  size_t end = before(tokens, offset);
  if (end > 0 && is_word(tokens[end - 1]) && offset <= tokens[end - 1].span.end) {
    --end;
    name.begin = tokens[end].span.begin;
    name.begun = std::string(tokens[end].text.substr(0, offset - name.begin));
  }
  name.dotted = names_before(tokens, end, name.is_whole);
  return name;
}

std::vector<std::string> dotted_up_to(const std::vector<Token>& tokens, const Token& token) {
  const auto index = static_cast<size_t>(&token - tokens.data());
  bool is_whole = true;
  std::vector<std::string> names = names_before(tokens, index, is_whole);
  if (!is_whole) return {};
  names.emplace_back(token.text);
  return names;
}

std::optional<Span> call_of(const std::vector<Token>& tokens, const Token& last_name) {
  const auto index = static_cast<size_t>(&last_name - tokens.data());
  if (index + 1 >= tokens.size() || !is_sign(tokens[index + 1], "(") || tokens[index + 1].partner == 0)
    return std::nullopt;
  size_t first = index;
  while (first >= 2 && is_sign(tokens[first - 1], ".") && is_word(tokens[first - 2])) first -= 2;
  Span span = tokens[first].span;
  span.end = tokens[tokens[index + 1].partner].span.end;
  return span;
}

std::optional<CallAround> call_around(const std::vector<Token>& tokens, uint32_t offset) {
  const size_t end = before(tokens, offset);
  CallAround call;
  int depth = 0;
  size_t open = end;
  bool in_first_part = true;  // of the argument at the place
  for (size_t at = end; at-- > 0;) {
    const Token& token = tokens[at];
    if (closes(token)) ++depth;
    if (opens(token) && depth-- == 0) {
      open = at;
      break;
    }
    if (depth != 0) continue;
    const bool is_statement_end = token.kind == TokenKind::kNewline || token.kind == TokenKind::kIndent;
    if (is_statement_end) return std::nullopt;
    if (is_sign(token, ",")) {
      ++call.index;
      in_first_part = false;
    }
    if (!is_sign(token, "=") || at == 0 || tokens[at - 1].kind != TokenKind::kName) continue;
    if (in_first_part) call.keyword = std::string(tokens[at - 1].text);
    call.given.emplace_back(tokens[at - 1].text);
  }
  if (open == end || !is_sign(tokens[open], "(") || open == 0 || !is_word(tokens[open - 1]))
    return std::nullopt;
  call.callee = dotted_up_to(tokens, tokens[open - 1]);
  call.callee_span = tokens[open - 1].span;
  // What is written behind the place is given, too.
  depth = 0;
  for (size_t at = end; at < tokens.size() && depth >= 0; ++at) {
    if (tokens[at].kind == TokenKind::kNewline) break;
    depth += opens(tokens[at]) ? 1 : closes(tokens[at]) ? -1 : 0;
    const bool is_keyword = depth == 0 && is_sign(tokens[at], "=") && at > 0 && is_word(tokens[at - 1]);
    if (is_keyword) call.given.emplace_back(tokens[at - 1].text);
  }
  return call.callee.empty() ? std::nullopt : std::optional(std::move(call));
}

bool is_in_words(const std::vector<Token>& tokens, const std::string& text, uint32_t offset) {
  for (const Token& token : tokens)
    if (token.kind == TokenKind::kString && token.span.begin < offset && offset < token.span.end) return true;
  const size_t line = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  for (size_t hash = text.find('#', begin); hash < offset; hash = text.find('#', hash + 1)) {
    const bool in_token = std::ranges::any_of(
        tokens, [&](const Token& t) { return !t.text.empty() && t.span.begin <= hash && hash < t.span.end; });
    if (!in_token) return true;
  }
  return false;
}

}  // namespace galatea::tools::lsp
