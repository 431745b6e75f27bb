// String literals: prefixes, escapes, implicit concatenation, f-strings. In: string tokens. Out: kString and
// kFString expressions.
//
// The expressions of an f-string are cut and parsed in place, so their spans are those of the file. As in
// Python 3.11 and before they may hold neither a backslash nor a comment.
#include <algorithm>
#include <cctype>

#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

void append_utf8(std::string& out, uint32_t c) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F)),
        put(0x80 | (c & 0x3F));
  }
}

struct Literal {
  bool is_f = false, is_raw = false, is_bytes = false;
  std::string_view body;
  uint32_t offset = 0;  ///< of the body in the file
};

Literal split_literal(const Token& t) {
  Literal literal;
  size_t at = 0;
  for (; t.text[at] != '"' && t.text[at] != '\''; ++at) {
    char c = static_cast<char>(std::tolower(static_cast<unsigned char>(t.text[at])));
    if (c == 'f') literal.is_f = true;
    if (c == 'r') literal.is_raw = true;
    if (c == 'b') literal.is_bytes = true;
  }
  char quote = t.text[at];
  size_t quotes = t.text.size() >= at + 6 && t.text[at + 1] == quote && t.text[at + 2] == quote ? 3 : 1;
  literal.body = t.text.substr(at + quotes, t.text.size() - at - 2 * quotes);
  literal.offset = t.span.begin + static_cast<uint32_t>(at + quotes);
  return literal;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

// `"\d"`, once for each text; the edits are those of all of it.
void Parser::warn_unknown_escape(std::string_view raw, size_t at, uint32_t offset, size_t& told) {
  constexpr size_t kMostEdits = 100;
  if (told >= kMostEdits) return;
  size_t end = at + 2;
  while (end < raw.size() && (static_cast<unsigned char>(raw[end]) & 0xC0) == 0x80) ++end;
  const Span span{file_, offset + static_cast<uint32_t>(at), offset + static_cast<uint32_t>(end)};
  const std::string written(raw.substr(at, end - at));
  if (told++ == 0) diagnostics_.push_back(diagnose(Message::kUnknownEscape, span, {written}));
  diagnostics_.back().edits.push_back({span, "\\" + written, false});
}

std::string Parser::decode_escapes(std::string_view raw, uint32_t offset) {
  std::string out;
  size_t unknown = 0;  // escapes that mean nothing
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\r') {  // line breaks inside strings read as \n, as in Python
      if (i + 1 < raw.size() && raw[i + 1] == '\n') continue;
      out += '\n';
      continue;
    }
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    char c = raw[++i];
    constexpr std::string_view kNames = "abfnrtv\\'\"", kValues = "\a\b\f\n\r\t\v\\'\"";
    if (size_t known = kNames.find(c); known != std::string_view::npos) {
      out += kValues[known];
    } else if (c == '\n') {
      continue;
    } else if (c == '\r') {
      if (i + 1 < raw.size() && raw[i + 1] == '\n') ++i;
    } else if (c >= '0' && c <= '7') {
      uint32_t value = 0;
      size_t last = std::min(i + 3, raw.size());
      for (; i < last && raw[i] >= '0' && raw[i] <= '7'; ++i)
        value = value * 8 + static_cast<uint32_t>(raw[i] - '0');
      --i;
      append_utf8(out, value);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint32_t value = 0;
      size_t begin = i - 1;
      for (size_t k = 0; k < digits; ++k) {
        int digit = i + 1 < raw.size() ? hex_value(raw[i + 1]) : -1;
        if (digit < 0) {
          fail(Message::kBadEscape,
               {file_, offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(i + 1)},
               {std::string(raw.substr(begin, i + 1 - begin)), std::to_string(digits)});
        }
        value = value * 16 + static_cast<uint32_t>(digit);
        ++i;
      }
      bool surrogate = value >= 0xD800 && value <= 0xDFFF;
      if (value > 0x10FFFF || surrogate) {
        fail(Message::kBadCodePoint,
             {file_, offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(i + 1)},
             {std::string(raw.substr(begin, i + 1 - begin))});
      }
      append_utf8(out, value);
    } else if (c == 'N') {
      fail(Message::kUnsupportedSyntax,
           {file_, offset + static_cast<uint32_t>(i - 1), offset + static_cast<uint32_t>(i + 1)},
           {"`\\N{…}`", "write the character itself, or `\\uXXXX`"});
    } else {
      warn_unknown_escape(raw, i - 1, offset, unknown);
      out += '\\';
      out += c;
    }
  }
  return out;
}

// One or more adjacent literals.
ExpressionPtr Parser::parse_strings() {
  const Token first = token();
  ExpressionPtr string = make(ExpressionKind::kString, first.span);
  for (int length = 0; token().kind == TokenKind::kString; check_chain(++length)) {
    const Token t = tokens_[at_++];
    Literal literal = split_literal(t);
    if (literal.is_bytes) {
      report_unsupported(t.span, "a bytes literal",
                         "write a string; bytes reach a pipeline through a reader or `fn.external_source`");
      if (!in_main_guard_) throw SyntaxError{};
    }
    if (literal.is_f) {
      string->kind = ExpressionKind::kFString;
      parse_fstring(t, literal.is_raw, literal.body, literal.offset, string->parts);
    } else {
      FStringPart part;
      part.text = literal.is_raw ? std::string(literal.body) : decode_escapes(literal.body, literal.offset);
      string->parts.push_back(std::move(part));
    }
  }
  string->span = since(first);
  if (string->kind == ExpressionKind::kString) {
    for (const FStringPart& part : string->parts) string->text += part.text;
    string->parts.clear();
  }
  return string;
}

void Parser::parse_fstring(const Token& t, bool raw, std::string_view body, uint32_t offset,
                           std::vector<FStringPart>& parts) {
  size_t at = 0;
  std::vector<FStringPart> own = parse_fstring_parts(body, offset, raw, at, 0);
  if (at < body.size()) {
    fail(Message::kBadFString,
         {t.span.file, offset + static_cast<uint32_t>(at), offset + static_cast<uint32_t>(at) + 1},
         {"a single `}`", "write `}}` for the character itself"});
  }
  for (FStringPart& part : own) parts.push_back(std::move(part));
}

// Text and replacements up to the end, or (in a format specification, depth > 0) up to `}`.
std::vector<FStringPart> Parser::parse_fstring_parts(std::string_view body, uint32_t offset, bool raw,
                                                     size_t& at, int depth) {
  std::vector<FStringPart> parts;
  std::string text;
  size_t text_begin = at;
  auto flush = [&](size_t end) {
    std::string piece(body.substr(text_begin, end - text_begin));
    // `{{` and `}}` stand for one brace each outside format specifications.
    std::string single;
    for (size_t i = 0; i < piece.size(); ++i) {
      single += piece[i];
      if (depth == 0 && (piece[i] == '{' || piece[i] == '}')) ++i;
    }
    text += raw ? single : decode_escapes(single, offset + static_cast<uint32_t>(text_begin));
  };
  while (at < body.size()) {
    char c = body[at];
    bool doubled = depth == 0 && at + 1 < body.size() && body[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      at += 2;
      continue;
    }
    if (c == '}') break;
    if (c != '{') {
      ++at;
      continue;
    }
    flush(at);
    if (!text.empty()) {
      FStringPart part;
      part.text = std::move(text);
      text.clear();
      parts.push_back(std::move(part));
    }
    parts.push_back(parse_replacement(body, offset, raw, at, depth));
    text_begin = at;
  }
  flush(at);
  if (!text.empty()) {
    FStringPart part;
    part.text = std::move(text);
    parts.push_back(std::move(part));
  }
  return parts;
}

// `{expression!r:format}`; `at` stands on `{` and ends after `}`.
FStringPart Parser::parse_replacement(std::string_view body, uint32_t offset, bool raw, size_t& at,
                                      int depth) {
  auto place = [&](size_t begin, size_t end) {
    return Span{file_, offset + static_cast<uint32_t>(begin),
                offset + static_cast<uint32_t>(std::max(end, begin + 1))};
  };
  size_t open = at++;
  if (depth >= 2)
    fail(Message::kBadFString, place(open, at),
         {"a replacement nested too deeply", "compute the width before the string"});
  size_t begin = at;
  std::string nesting;
  char quote = 0;
  for (; at < body.size(); ++at) {
    char c = body[at];
    if (c == '\\')
      fail(Message::kBadFString, place(at, at + 1),
           {"a backslash inside `{…}`", "compute the value before the string"});
    if (quote) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '#')
      fail(Message::kBadFString, place(at, at + 1),
           {"a comment inside `{…}`", "write it above the statement"});
    if (c == '\'' || c == '"')
      quote = c;
    else if (c == '(' || c == '[' || c == '{')
      nesting += c;
    else if (!nesting.empty() && (c == ')' || c == ']' || c == '}'))
      nesting.pop_back();
    else if (nesting.empty()) {
      char next = at + 1 < body.size() ? body[at + 1] : '\0';
      if (c == '}' || c == ':') break;
      if (c == '!' && next != '=') break;
      if ((c == '!' || c == '=' || c == '<' || c == '>') && next == '=')
        ++at;
      else if (c == '=')
        break;
    }
  }
  if (at >= body.size())
    fail(Message::kBadFString, place(open, open + 1),
         {"`{` without `}`", "close it, or write `{{` for the character itself"});
  FStringPart part;
  if (body.substr(begin, at - begin).find_first_not_of(" \t\r\n\f") == std::string_view::npos)
    fail(Message::kBadFString, place(open, at + 1),
         {"an empty `{}`", "write an expression between the braces"});
  part.value = parse_embedded(offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(at));
  if (body[at] == '=') {
    ++at;
    while (at < body.size() && (body[at] == ' ' || body[at] == '\t')) ++at;
    part.debug = true;
    part.text = body.substr(begin, at - begin);
  }
  if (at < body.size() && body[at] == '!') {
    char c = at + 1 < body.size() ? body[at + 1] : '\0';
    if (c != 'r' && c != 's' && c != 'a')
      fail(Message::kBadFString, place(at, at + 2), {"an unknown conversion", "write `!r` or `!s`"});
    part.conversion = c;
    at += 2;
  }
  if (at < body.size() && body[at] == ':') {
    ++at;
    part.format = parse_fstring_parts(body, offset, raw, at, depth + 1);
  }
  if (at >= body.size() || body[at] != '}')
    fail(Message::kBadFString, place(open, open + 1),
         {"`{` without `}`", "close it, or write `{{` for the character itself"});
  ++at;
  return part;
}

ExpressionPtr Parser::parse_embedded(uint32_t begin, uint32_t end) {
  size_t reported = diagnostics_.size();
  std::vector<Token> tokens = lex_expression(file_, text_, begin, end, diagnostics_);
  if (diagnostics_.size() > reported) {
    ++num_errors_;
    throw SyntaxError{};
  }
  tokens = std::exchange(tokens_, with_normal_names(std::move(tokens)));
  size_t at = at_;
  at_ = 0;
  try {
    ExpressionPtr value = parse_expression_list(true, "between the braces");
    if (!at_end()) fail_expected("`}`");
    std::swap(tokens, tokens_);
    at_ = at;
    return value;
  } catch (const SyntaxError&) {
    std::swap(tokens, tokens_);
    at_ = at;
    throw;
  }
}

}  // namespace galatea::dsl
