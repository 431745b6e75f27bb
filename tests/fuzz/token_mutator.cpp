#include "tests/fuzz/token_mutator.h"

#include <array>
#include <vector>

#include "dsl/lexer.h"

namespace galatea::fuzz {
namespace {

using dsl::Token;
using dsl::TokenKind;

/// A token with the blanks and comments before it.
struct Piece {
  std::string blank, text;
  TokenKind kind;
};

std::vector<Piece> pieces_of(const std::string& text) {
  std::vector<Diagnostic> ignored;
  std::vector<Piece> pieces;
  size_t at = 0;
  for (const Token& token : dsl::lex(1, text, ignored)) {
    size_t begin = std::max<size_t>(token.span.begin, at), end = std::max<size_t>(token.span.end, begin);
    if (end > text.size()) break;
    pieces.push_back({text.substr(at, begin - at), text.substr(begin, end - begin), token.kind});
    at = end;
  }
  pieces.push_back({text.substr(at), "", TokenKind::kEnd});
  return pieces;
}

constexpr std::array kAwkward = {"0",    "-1",     "1e308",    "9223372036854775807",
                                 "1_0",  "0x7f",   "None",     "True",
                                 "[]",   "()",     "{}",       "''",
                                 "1.5",  "(1, 2)", "*a",       "**b",
                                 "...",  "fn",     "def",      ":=",
                                 "\n  ", "1e-9",   "lambda: 1"};

}  // namespace

std::string mutate_tokens(const std::string& text, const std::string& other, std::mt19937& random) {
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::vector<Piece> pieces = pieces_of(text), others = pieces_of(other);
  auto of_kind = [&](TokenKind kind) {
    for (int tries = 0; tries < 20; ++tries) {
      const Piece& candidate = pieces[below(pieces.size())];
      if (candidate.kind == kind) return candidate.text;
    }
    return std::string();
  };
  for (size_t edits = 1 + below(4); edits > 0; --edits) {
    size_t at = below(pieces.size()), to = below(pieces.size());
    Piece& piece = pieces[at];
    switch (below(9)) {
      case 0:
        piece.text.clear();
        break;
      case 1:
        piece.text += " " + piece.text;
        break;
      case 2:
        std::swap(piece.text, pieces[to].text);
        break;
      case 3:
        piece.text = others[below(others.size())].text;
        break;
      case 4:
        piece.text = of_kind(piece.kind);
        break;
      case 5:
        piece.text = kAwkward[below(kAwkward.size())];
        break;
      case 6:
        piece.blank += below(2) ? " " : "    ";
        break;
      case 7: {
        size_t count = 1 + below(std::min<size_t>(8, others.size())), from = below(others.size() - count + 1);
        for (size_t i = 0; i < count; ++i) piece.text += others[from + i].blank + others[from + i].text;
        break;
      }
      default:
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(std::min(at, to)),
                     pieces.begin() + static_cast<std::ptrdiff_t>(
                                          std::min(pieces.size(), std::min(at, to) + 1 + below(6))));
        if (pieces.empty()) pieces.push_back({"", "", TokenKind::kEnd});
    }
  }
  std::string out;
  for (const Piece& piece : pieces) out += piece.blank + piece.text;
  return out;
}

}  // namespace galatea::fuzz
