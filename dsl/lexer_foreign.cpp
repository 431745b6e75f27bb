// What other languages write where this one has another spelling, as far as single characters tell it: told with
// the edit, and read as it is meant. In: text. Out: tokens and diagnostics.
#include <algorithm>
#include <array>
#include <cctype>

#include "dsl/lexer_state.h"

namespace galatea::dsl {
namespace {

/// Length of the number that a text begins with: digits, a fraction, an exponent, or hexadecimal digits.
size_t number_length(std::string_view text) {
  const auto digits = [&](size_t at) {
    while (at < text.size() && (is_ascii_digit(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    return at;
  };
  if (text.starts_with("0x") || text.starts_with("0X"))
    return std::min(text.find_first_not_of("0123456789abcdefABCDEF_", 2), text.size());
  size_t at = digits(0);
  if (at < text.size() && text[at] == '.') at = digits(at + 1);
  if (at + 1 >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  const size_t exponent = text[at + 1] == '+' || text[at + 1] == '-' ? at + 2 : at + 1;
  return digits(exponent) > exponent ? digits(exponent) : at;
}

/// `L` of C and Python 2, `i32` of Rust, `n` of JavaScript.
bool is_suffix(std::string_view word) {
  constexpr std::array kSuffixes = {"l",   "ll",  "u",   "ul",    "ull", "lu",  "llu", "f",
                                    "d",   "n",   "z",   "i8",    "i16", "i32", "i64", "u8",
                                    "u16", "u32", "u64", "usize", "f32", "f64"};
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kSuffixes, lower) != kSuffixes.end();
}

}  // namespace

/// A token that was spelled as another language does: told once, and read as it is meant.
void Lexer::add_translated(TokenKind kind, size_t length, std::string_view meant) {
  report(Message::kUnsupportedSyntax, at_, at_ + length,
         {"`" + std::string(text_.substr(at_, length)) + "`", "write `" + std::string(meant) + "`"});
  const auto is_word = [&](size_t place) {
    return place < end_ && is_name_part(static_cast<unsigned char>(text_[place]));
  };
  std::string written(meant);
  if (kind == TokenKind::kKeyword && at_ > 0 && (is_word(at_ - 1) || text_[at_ - 1] == ')'))
    written = " " + written;
  if (kind == TokenKind::kKeyword && at_ + length < end_ && text_[at_ + length] != ' ') written += " ";
  diagnostics.back().edits.push_back({span(at_, at_ + length), written, true});
  tokens.push_back({kind, span(at_, at_ + length), meant, 0});
  at_ += length;
}

bool Lexer::at_line_of_its_own() const {
  return !in_part_ && (tokens.empty() || tokens.back().kind == TokenKind::kNewline ||
                       tokens.back().kind == TokenKind::kIndent || tokens.back().kind == TokenKind::kDedent);
}

/// Of C and its heirs, of Python 2, MATLAB, R and Rust. False: the text here is none of theirs.
bool Lexer::read_foreign_operator() {
  const char c = peek(), next = peek(1);
  const auto translate = [&](TokenKind kind, size_t length, std::string_view meant) {
    add_translated(kind, length, meant);
    return true;
  };
  if (c == '&' && next == '&') return translate(TokenKind::kKeyword, 2, "and");
  if (c == '|' && next == '|') return translate(TokenKind::kKeyword, 2, "or");
  if ((c == '!' || c == '%') && is_name_start(static_cast<unsigned char>(next)) && at_line_of_its_own())
    return read_notebook_command(), true;
  if (c == '!' && (next == '(' || next == '[') && read_macro()) return true;
  // `3 =! 4`. Behind a name that begins the line it is an assignment of what is negated.
  const auto begins_line = [&](size_t token) {
    const TokenKind before = token == 0 ? TokenKind::kNewline : tokens[token - 1].kind;
    return before == TokenKind::kNewline || before == TokenKind::kIndent || before == TokenKind::kDedent;
  };
  const bool is_assignment =
      !tokens.empty() && tokens.back().kind == TokenKind::kName && begins_line(tokens.size() - 1);
  if (c == '=' && next == '!' && peek(2) == ' ' && !is_assignment)
    return translate(TokenKind::kOperator, 2, "!=");
  if (c == '!' && (next == '\n' || next == '\r' || next == ')') && !at_line_of_its_own()) {  // `5!`
    report(Message::kUnsupportedSyntax, at_, at_ + 1, {"`!` behind a value", "remove it"});
    diagnostics.back().edits.push_back({span(at_, at_ + 1), "", true});
    ++at_;
    return true;
  }
  if (c == '!' && next != '=') return translate(TokenKind::kKeyword, 1, "not");
  if (c == '<' && next == '>') return translate(TokenKind::kOperator, 2, "!=");
  if (c == '~' && next == '=') return translate(TokenKind::kOperator, 2, "!=");
  if (c == '=' && next == '=' && peek(2) == '=') return translate(TokenKind::kOperator, 3, "==");
  if (c == '!' && next == '=' && peek(2) == '=') return translate(TokenKind::kOperator, 3, "!=");
  if (c == '`') return read_backquotes(), true;
  if (c == '/' && next == '*') return read_block_comment(), true;
  if (c == '$') return read_dollar();
  return false;
}

/// `println!(…)`, `vec![…]`: what stands before the `!` decides. False: it is a negation.
bool Lexer::read_macro() {
  if (tokens.empty() || tokens.back().span.end != at_) return false;
  Token& name = tokens.back();
  if (name.kind != TokenKind::kName && name.text != "assert") return false;
  const std::string macro = std::string(name.text) + "!";
  const Span all{name.span.file, name.span.begin, static_cast<uint32_t>(at_ + 1)};
  const auto tell = [&](std::string help, std::vector<Edit> edits) {
    report(Message::kUnsupportedSyntax, all.begin, all.end, {"`" + macro + "`", std::move(help)});
    diagnostics.back().edits = std::move(edits);
    ++at_;
    return true;
  };
  constexpr std::array kPrints = {"println", "print", "eprintln", "eprint", "dbg"};
  constexpr std::array kStops = {"panic", "todo", "unimplemented", "unreachable"};
  if (std::ranges::find(kPrints, name.text) != kPrints.end()) {
    name.kind = TokenKind::kError;
    return tell("write `print(…)`", {{all, "print", true}});
  }
  if (name.text == "vec") {
    tokens.pop_back();
    return tell("write a list: `[…]`", {{all, "", true}});
  }
  if (name.text == "assert") return tell("write `assert …`", {{all, "assert ", true}});
  std::string help = "there are no macros: call a function";
  if (name.text == "format") help = "write `\"{}\".format(…)`, or an f-string: `f\"{x}\"`";
  if (name.text == "assert_eq") help = "write `assert a == b`";
  if (name.text == "assert_ne") help = "write `assert a != b`";
  if (std::ranges::find(kStops, name.text) != kStops.end()) help = "write `raise ValueError(…)`";
  name.kind = TokenKind::kError;
  return tell(std::move(help), {});
}

/// `$size` of Perl, PHP and shells is read as the name; `x$name` of R has no one meaning.
bool Lexer::read_dollar() {
  if (!is_name_start(static_cast<unsigned char>(peek(1)))) return false;
  const bool is_member =
      !tokens.empty() && tokens.back().span.end == at_ && !at_line_of_its_own() &&
      (tokens.back().kind == TokenKind::kName || tokens.back().text == ")" || tokens.back().text == "]");
  size_t end = at_ + 1;
  while (end < end_ && is_name_part(static_cast<unsigned char>(text_[end]))) ++end;
  const std::string name(text_.substr(at_ + 1, end - at_ - 1));
  report(Message::kUnsupportedSyntax, at_, at_ + 1,
         {"`$` before a name", is_member
                                   ? "write `[\"" + name + "\"]` for an element of a dict, or `." + name + "`"
                                   : "write `" + name + "`"});
  if (is_member) {
    add(TokenKind::kError, at_, at_ + 1);
  } else {
    diagnostics.back().edits.push_back({span(at_, at_ + 1), "", true});
  }
  ++at_;
  return true;
}

/// `/* … */`, which may go over several lines.
void Lexer::read_block_comment() {
  const size_t begin = at_, closed = text_.substr(0, end_).find("*/", at_ + 2);
  const size_t line = std::min(text_.find_first_of("\r\n", at_), end_);
  at_ = closed == std::string_view::npos ? line : closed + 2;
  report(Message::kUnsupportedSyntax, begin, std::min(at_, line),
         {"a comment between `/*` and `*/`", "a comment begins with `#`, and ends with its line"});
  // Where nothing follows it, it may stay where it is.
  if (at_ == line && at_ - begin >= 4) {
    std::string inside(text_.substr(begin + 2, at_ - begin - 4));
    inside.erase(0, std::min(inside.find_first_not_of(' '), inside.size()));
    inside.erase(inside.find_last_not_of(' ') + 1);
    diagnostics.back().edits.push_back({span(begin, at_), "# " + inside, true});
  }
}

/// `10L` of Python 2, `1.5f` and `3u` of C: numbers have no suffixes. `2x` of Julia is a product.
void Lexer::advise_on_suffix(const std::string& text) {
  Diagnostic& told = diagnostics.back();
  if (!tokens.empty() && (tokens.back().text == "def" || tokens.back().text == "class")) {
    told.help = "a name begins with a letter or `_`";
    return;
  }
  std::string bare;
  for (const char c : text)
    if (c != '_' || (!bare.empty() && bare.back() != '_')) bare += c;
  if (bare.ends_with('_')) bare.pop_back();
  if (bare != text && std::ranges::all_of(bare, [](char c) {
        return is_ascii_digit(static_cast<unsigned char>(c)) || c == '_';
      })) {
    told.help = "one `_` stands between two digits: write `" + bare + "`";
    told.edits = {{told.span, bare, true}};
    return;
  }
  if (text.size() > 1 && text[0] == '0' && !is_ascii_digit(static_cast<unsigned char>(text[1])))
    told.help = std::string_view("xX").contains(text[1])   ? "hexadecimal digits are 0 to 9 and a to f"
                : std::string_view("bB").contains(text[1]) ? "binary digits are 0 and 1"
                : std::string_view("oO").contains(text[1]) ? "octal digits are 0 to 7"
                                                           : "";
  const size_t end = number_length(text);
  if (end == 0 || end == text.size()) return;
  const std::string number = text.substr(0, end), rest = text.substr(end);
  if (std::ranges::any_of(rest, [](char c) { return !is_name_part(static_cast<unsigned char>(c)); })) return;
  Diagnostic& diagnostic = diagnostics.back();
  if (is_suffix(rest)) {
    diagnostic.help = "write `" + number + "`: numbers have no suffixes";
    diagnostic.edits = {{diagnostic.span, number, true}};
  } else if (is_name_start(static_cast<unsigned char>(rest[0])) && rest[0] != '_') {
    const bool is_based =
        number[0] == '0' && (number.size() > 1 || std::string_view("xXoObB").contains(rest[0]));
    const bool is_exponent = std::string_view("eEjJ").contains(rest[0]);
    if (is_based || is_exponent) return;
    diagnostic.help = "write `" + number + " * " + rest + "` for a product; a name begins with a letter";
  }
}

/// The string from `begin` is never closed: `x'` of MATLAB and Julia, `'it's'` with a quote inside.
void Lexer::advise_on_quote(size_t begin, size_t quote_at) {
  Diagnostic& diagnostic = diagnostics.back();
  const auto touches_before = [&](size_t token) {
    return tokens[token].span.end == (token + 1 < tokens.size() ? tokens[token + 1].span.begin : begin);
  };
  const std::string_view quote = text_.substr(quote_at, 1);
  if (tokens.size() > 1 && touches_before(tokens.size() - 1)) {
    // A name beside a string, and any words behind it, are the rest of that string.
    for (size_t i = tokens.size() - 1; i > 0 && tokens[i].kind != TokenKind::kNewline; --i) {
      if (tokens[i].kind != TokenKind::kName || tokens[i - 1].kind != TokenKind::kString ||
          !touches_before(i - 1))
        continue;
      if (!tokens[i - 1].text.ends_with(quote)) return;
      const std::string_view other = quote == "'" ? "\"" : "'";
      diagnostic.help = "a quote ends the text: write it in `" + std::string(other) + "`, or `\\" +
                        std::string(quote) + "` inside";
      for (size_t k = i; k < tokens.size(); ++k) tokens[k].kind = TokenKind::kError;
      return;
    }
  }
  const bool touches = begin > 0 && (is_name_part(static_cast<unsigned char>(text_[begin - 1])) ||
                                     text_[begin - 1] == ')' || text_[begin - 1] == ']');
  const std::string_view behind = text_.substr(quote_at + 1, at_ - quote_at - 1);
  if (quote == "'" && begin == quote_at && touches &&
      behind.find_first_not_of(" ;)") == std::string_view::npos)
    diagnostic.help = "write `fn.transpose(x, perm=[1, 0])` for a matrix that is turned over";
}

/// `3` in backquotes, which Python 2 wrote for repr(3); `size-${size}` of JavaScript.
void Lexer::read_backquotes() {
  const size_t begin = at_++;
  while (at_ < end_ && peek() != '`' && peek() != '\n' && peek() != '\r') ++at_;
  const std::string inside(text_.substr(begin + 1, at_ - begin - 1));
  const bool is_closed = peek() == '`';
  if (is_closed) ++at_;
  if (inside.contains("${") && is_closed) {
    std::string meant = "f\"" + inside + "\"";
    for (size_t at = meant.find("${"); at != std::string::npos; at = meant.find("${", at)) meant.erase(at, 1);
    report(Message::kUnsupportedSyntax, begin, at_, {"a text in backquotes", "write `" + meant + "`"});
    if (!inside.contains('"')) diagnostics.back().edits.push_back({span(begin, at_), meant, true});
  } else {
    report(Message::kUnsupportedSyntax, begin, at_,
           {"a text in backquotes",
            "write `repr(" + inside + ")` as Python 2 meant it, or `\"" + inside + "\"` for a text"});
  }
  add(TokenKind::kError, begin, at_);
}

/// `!pip install x` and `%matplotlib inline` of a notebook that was pasted.
void Lexer::read_notebook_command() {
  const size_t begin = at_;
  while (at_ < end_ && peek() != '\n' && peek() != '\r') ++at_;
  report(Message::kUnsupportedSyntax, begin, at_, {"a command of a notebook", "remove the line"});
  add(TokenKind::kError, begin, at_);
}

}  // namespace galatea::dsl
