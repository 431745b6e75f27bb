// Colours by meaning: five numbers a token, relative to the one before (LSP 3.17, textDocument/semanticTokens).
#include <algorithm>
#include <array>
#include <string_view>

#include "tools/lsp/cursor.h"
#include "tools/lsp/features.h"

namespace galatea::tools::lsp {
namespace {

enum class Color : uint8_t {
  kNamespace,
  kFunction,
  kParameter,
  kVariable,
  kProperty,
  kEnumMember,
  kKeyword,
  kString,
  kNumber,
  kComment
};
constexpr std::array<const char*, 10> kColors = {"namespace", "function",   "parameter", "variable",
                                                 "property",  "enumMember", "keyword",   "string",
                                                 "number",    "comment"};

struct Piece {
  uint32_t begin, end;
  Color type;
};

Color type_of_symbol(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::kFunction:
    case Symbol::Kind::kPipeline:
      return Color::kFunction;
    case Symbol::Kind::kParameter:
      return Color::kParameter;
    case Symbol::Kind::kImport:
      return Color::kNamespace;
    case Symbol::Kind::kVariable:
      break;
  }
  return Color::kVariable;
}

/// What a member of a module of the library is; nothing where it is no such member.
std::optional<Color> type_of_member(const Query& query, const std::vector<std::string>& dotted,
                                    uint32_t offset) {
  const std::string path = imported_path(*query.document.syntax().names, dotted, offset);
  if (path.empty()) return std::nullopt;
  if (query.vocabulary.operator_at(path)) return Color::kFunction;
  const auto& modules = query.vocabulary.modules();
  if (std::ranges::binary_search(modules, path)) return Color::kNamespace;
  return dotted.size() > 1 ? std::optional(Color::kEnumMember) : std::nullopt;
}

std::optional<Color> type_of(const Query& query, const dsl::Token& token) {
  const Syntax& syntax = query.document.syntax();
  switch (token.kind) {
    case dsl::TokenKind::kKeyword:
      return Color::kKeyword;
    case dsl::TokenKind::kInteger:
    case dsl::TokenKind::kFloat:
      return Color::kNumber;
    case dsl::TokenKind::kString:
      return Color::kString;
    case dsl::TokenKind::kName:
      break;
    default:
      return std::nullopt;
  }
  const auto index = static_cast<size_t>(&token - syntax.tokens.data());
  const bool is_member = index > 0 && syntax.tokens[index - 1].text == ".";
  if (const auto member = type_of_member(query, dotted_up_to(syntax.tokens, token), token.span.begin))
    return member;
  if (is_member) return Color::kProperty;
  const bool is_keyword = index + 1 < syntax.tokens.size() && syntax.tokens[index + 1].text == "=" &&
                          call_around(syntax.tokens, token.span.begin).has_value();
  if (is_keyword) return Color::kParameter;
  const Symbol* symbol = syntax.names->at(token.span.begin);
  return symbol ? std::optional(type_of_symbol(*symbol)) : std::nullopt;
}

/// Comments lie between tokens.
void add_comments(const Syntax& syntax, std::vector<Piece>& pieces) {
  uint32_t at = 0;
  auto scan = [&](uint32_t end) {
    while (at < end) {
      const size_t hash = syntax.text.find('#', at);
      if (hash >= end) break;
      const size_t stop = std::min(syntax.text.find_first_of("\r\n", hash), static_cast<size_t>(end));
      pieces.push_back({static_cast<uint32_t>(hash), static_cast<uint32_t>(stop), Color::kComment});
      at = static_cast<uint32_t>(stop);
    }
    at = std::max(at, end);
  };
  for (const dsl::Token& token : syntax.tokens) {
    if (token.text.empty() || token.kind == dsl::TokenKind::kNewline) continue;
    scan(token.span.begin);
    at = std::max(at, token.span.end);
  }
  scan(static_cast<uint32_t>(syntax.text.size()));
}

}  // namespace

Json semantic_legend() { return {{"tokenTypes", kColors}, {"tokenModifiers", Json::array()}}; }

Json semantic_tokens(const Query& query) {
  const Syntax& syntax = query.document.syntax();
  std::vector<Piece> pieces;
  for (const dsl::Token& token : syntax.tokens)
    if (const auto type = type_of(query, token)) pieces.push_back({token.span.begin, token.span.end, *type});
  add_comments(syntax, pieces);
  std::ranges::sort(pieces, {}, &Piece::begin);
  const TextBuffer& buffer = query.document.buffer();
  std::vector<uint32_t> data;
  Position last;
  for (const Piece& piece : pieces) {
    const Range range = query.range({1, piece.begin, piece.end});
    // A token of several lines is one a line.
    for (uint32_t line = range.begin.line; line <= range.end.line; ++line) {
      const uint32_t begin = line == range.begin.line ? range.begin.character : 0;
      const uint32_t end =
          line == range.end.line ? range.end.character : units_of(buffer.line(line), query.encoding);
      if (end <= begin) continue;
      const bool same_line = line == last.line;
      data.insert(data.end(), {line - last.line, same_line ? begin - last.character : begin, end - begin,
                               static_cast<uint32_t>(piece.type), 0});
      last = {line, begin};
    }
  }
  return {{"data", data}};
}

}  // namespace galatea::tools::lsp
