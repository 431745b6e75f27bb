// The lexer. In: text. Out: tokens. See lexer.h.
//
// Unclosed brackets: the first pass runs to the end of the file as Python would. If brackets are open there,
// a second pass closes each of them at the next line that is indented no deeper than the statement that holds
// the bracket, so that one missing
// `)` costs one statement and not the rest of the file.
#include "dsl/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "dsl/lexer_state.h"
#include "dsl/lookalikes.h"
#include "dsl/normal_form.h"

namespace galatea::dsl {
namespace {

// By length, which is what tells most names from them.
constexpr std::array<std::string_view, 35> kKeywords = {
    "as",     "if",     "in",     "is",     "or",     "and",     "def",      "del",     "for",
    "not",    "try",    "None",   "True",   "elif",   "else",    "from",     "pass",    "with",
    "False",  "async",  "await",  "break",  "class",  "raise",   "while",    "yield",   "assert",
    "except", "global", "import", "lambda", "return", "finally", "continue", "nonlocal"};

// Keywords that begin statements and never stand inside an expression: a line inside brackets that begins
// with one shows that a bracket was not closed.
constexpr std::array<std::string_view, 15> kStatementKeywords = {
    "def",   "return",   "import", "class", "while", "assert", "raise",   "pass",
    "break", "continue", "with",   "try",   "del",   "global", "nonlocal"};

}  // namespace

// Reads the blanks at the start of a line. False: the line is empty or a comment, and was skipped.
bool Lexer::read_indentation() {
  size_t begin = at_;
  int column = 0, ones = 0;
  for (;; ++at_) {
    char c = peek();
    if (c == ' ') {
      ++column, ++ones;
    } else if (c == '\t') {
      column = (column / 8 + 1) * 8, ++ones;
    } else if (c == '\f') {
      column = ones = 0;
    } else {
      break;
    }
  }
  if (peek() == '#') {
    while (at_ < end_ && peek() != '\n' && peek() != '\r') ++at_;
  }
  if (at_ >= end_) return false;
  if (peek() == '\n' || peek() == '\r') {
    at_ += peek() == '\r' && peek(1) == '\n' ? 2 : 1;
    return false;
  }
  set_indentation(column, ones, begin);
  at_line_start_ = false;
  return true;
}

void Lexer::set_indentation(int column, int ones, size_t begin) {
  if (column == indents_.back().first) {
    if (ones != indents_.back().second) report(Message::kInconsistentTabs, begin, at_);
    return;
  }
  if (column > indents_.back().first) {
    if (ones <= indents_.back().second) {
      report(Message::kInconsistentTabs, begin, at_);
      // Where no block begins, the line belongs to the one around it.
      const bool begins_block = tokens.size() > 1 && tokens[tokens.size() - 2].text == ":";
      if (!begins_block) return;
    }
    if (static_cast<int>(indents_.size()) == options_.max_indents)
      report(Message::kTooManyIndents, at_ - 1, at_, {std::to_string(options_.max_indents)});
    indents_.push_back({column, ones});
    add(TokenKind::kIndent, begin, at_);
    return;
  }
  std::pair<int, int> left;  // the block that was left last
  while (column < indents_.back().first) {
    left = indents_.back();
    indents_.pop_back();
    add(TokenKind::kDedent, at_, at_);
  }
  if (column != indents_.back().first) {
    // The line belongs to the nearer of two blocks, as do the lines after it that agree with either.
    const bool inner = left.first - column <= column - indents_.back().first;
    if (inner) {
      tokens.pop_back();
      indents_.push_back(left);
    }
    const std::pair<int, int> meant{column, indents_.back().first};
    if (meant != mended_indent_) report(Message::kUnindentMismatch, begin, at_);
    mended_indent_ = meant;
  } else if (ones != indents_.back().second) {
    report(Message::kInconsistentTabs, begin, at_);
  }
}

// Inside brackets, at the first token of a line: whether the brackets must have been meant to end before it.
bool Lexer::line_begins_statement() const {
  size_t word_end = at_;
  while (word_end < end_ && is_name_part(static_cast<unsigned char>(text_[word_end]))) ++word_end;
  std::string_view word = text_.substr(at_, word_end - at_);
  if (std::find(kStatementKeywords.begin(), kStatementKeywords.end(), word) != kStatementKeywords.end())
    return true;
  char c = peek();
  if (c == ')' || c == ']' || c == '}') return false;
  if (!unclosed_.contains(tokens[brackets_.front().token].span.begin)) return false;
  int column = 0;
  for (size_t i = at_; i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t'); --i) ++column;
  return column <= brackets_.front().statement_indent;
}

// `{` of a block of another language, which the parser tells of: behind a value, and the last of its line.
bool Lexer::opens_block(const Token& brace) const {
  const size_t index = static_cast<size_t>(&brace - tokens.data());
  const size_t behind = text_.find_first_not_of(" \t", brace.span.end);
  if (brace.text != "{" || index == 0 || behind == std::string_view::npos) return false;
  const Token& before = tokens[index - 1];
  const bool follows_value = before.kind == TokenKind::kName || before.kind == TokenKind::kInteger ||
                             before.text == ")" || before.text == "]" || before.text == "else";
  return follows_value && (text_[behind] == '\n' || text_[behind] == '\r');
}

// Reports and closes the brackets past the first `keep`.
void Lexer::close_open_brackets(size_t keep) {
  while (brackets_.size() > keep) {
    Token& open = tokens[brackets_.back().token];
    if (open.kind == TokenKind::kOperator) {
      report(Message::kUnclosedBracket, open.span.begin, open.span.end, {std::string(open.text)});
      const char closer = open.text[0] == '(' ? ')' : open.text[0] == '[' ? ']' : '}';
      diagnostics.back().help = std::string("write `") + closer + "` where it ends";
      open.kind = TokenKind::kError;  // the parser gives up there, silently
    }
    brackets_.pop_back();
  }
}

void Lexer::read_newline() {
  size_t begin = at_;
  at_ += peek() == '\r' && peek(1) == '\n' ? 2 : 1;
  if (in_part_) return;
  if (brackets_.empty()) {
    add(TokenKind::kNewline, begin, at_);
    at_line_start_ = true;
    return;
  }
  // Inside brackets a line break is a blank, unless the next line shows that a bracket is missing.
  size_t line_begin = at_;
  while (peek() == ' ' || peek() == '\t') ++at_;
  if (at_ < end_ && peek() != '\n' && peek() != '\r' && peek() != '#' && line_begins_statement()) {
    if (brackets_.size() == 1 && opens_block(tokens[brackets_[0].token])) {
      brackets_.clear();
      ++block_braces_;
    }
    for (const Bracket& bracket : brackets_) open_at_end.push_back(tokens[bracket.token].span.begin);
    close_open_brackets(0);
    add(TokenKind::kNewline, begin, begin + 1);
    at_ = line_begin;
    at_line_start_ = true;
  }
}

void Lexer::read_token() {
  char c = peek();
  switch (c) {
    case ' ':
    case '\t':
    case '\f':
      ++at_;
      return;
    case '\r':
    case '\n':
      return read_newline();
    case '#':
      while (at_ < end_ && peek() != '\n' && peek() != '\r') ++at_;
      return;
    case '\\': {
      size_t length = peek(1) == '\r' && peek(2) == '\n' ? 3 : peek(1) == '\n' || peek(1) == '\r' ? 2 : 0;
      if (length == 0 || at_ + length >= end_) {
        report(Message::kStrayBackslash, at_, at_ + 1);
        add(TokenKind::kError, at_, at_ + 1);
        length = std::max<size_t>(length, 1);
      }
      at_ += length;
      return;
    }
    case '"':
    case '\'':
      return read_string(at_, at_);
    default:
      break;
  }
  auto byte = static_cast<unsigned char>(c);
  if (is_ascii_digit(byte) || (c == '.' && is_ascii_digit(static_cast<unsigned char>(peek(1)))))
    return read_number();
  if (is_name_start(byte)) return read_name();
  read_operator();
}

void Lexer::read_name() {
  size_t begin = at_;
  bool has_invisible = false;
  while (at_ < end_ && is_name_part(static_cast<unsigned char>(peek()))) {
    if (static_cast<unsigned char>(peek()) < 0x80) {
      ++at_;
      continue;
    }
    uint32_t code_point = 0;
    const size_t length = std::max<size_t>(utf8_length(text_, at_, code_point), 1);
    if (length > 1 && !is_name_character(code_point, at_ == begin)) {
      const Lookalike* entry = find_lookalike(code_point);
      // What is meant as an operator or a blank ends the name.
      if (at_ > begin && entry && !entry->ascii.empty()) break;
      if (at_ == begin) return read_lookalike(code_point, length);
      if (!has_invisible) {
        report(Message::kBadCharacter, at_, at_ + length,
               {describe_character(code_point), advice_for(code_point)});
      }
      if (entry) diagnostics.back().edits.push_back({span(at_, at_ + length), "", true});
      const size_t end = at_;
      at_ += length;
      const bool goes_on = at_ < end_ && is_name_part(static_cast<unsigned char>(peek()));
      if (entry && !goes_on) return add(TokenKind::kName, begin, end);
      // The parser reads the name without it (with_normal_names).
      has_invisible = entry != nullptr;
      if (has_invisible) continue;
      while (at_ < end_ && is_name_part(static_cast<unsigned char>(peek()))) ++at_;
      return add(TokenKind::kError, begin, at_);
    }
    at_ += length;
  }
  std::string_view word = text_.substr(begin, at_ - begin);
  if ((peek() == '"' || peek() == '\'') && word.size() <= 2) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    constexpr std::array kPrefixes = {"r", "u", "b", "f", "br", "rb", "fr", "rf"};
    if (std::find(kPrefixes.begin(), kPrefixes.end(), lower) != kPrefixes.end())
      return read_string(begin, at_);
  }
  add(is_keyword(word) ? TokenKind::kKeyword : TokenKind::kName, begin, at_);
}

/// A character outside ASCII that is no letter: told by its name, and read as the ASCII that is meant.
void Lexer::read_lookalike(char32_t c, size_t length) {
  const size_t begin = at_;
  at_ += length;
  const Lookalike* entry = find_lookalike(c);
  // Blanks of another kind, side by side, are one mistake.
  while (entry && entry->ascii == " " && text_.substr(at_, length) == text_.substr(begin, length))
    at_ += length;
  report(Message::kBadCharacter, begin, at_, {describe_character(c), advice_for(c)});
  if (!entry) return add(TokenKind::kError, begin, at_);
  auto& edits = diagnostics.back().edits;
  std::string written;
  for (size_t i = begin; i < at_; i += length) written += entry->ascii;
  // These stand in few places: nobody knows that this is one.
  const bool fits = entry->ascii != "->" && entry->ascii != "...";
  if (fits) edits.push_back({span(begin, at_), written, true});
  if (entry->ascii.empty() || entry->ascii == " ") return;
  if (entry->ascii == "'" || entry->ascii == "\"") {
    // To the other quote of its kind, in the same line.
    for (size_t end = at_; end < end_ && text_[end] != '\n' && text_[end] != '\r';) {
      uint32_t other = 0;
      const size_t step = std::max<size_t>(utf8_length(text_, end, other), 1);
      end += step;
      const Lookalike* closer = find_lookalike(other);
      const std::string_view meant = closer ? closer->ascii : text_.substr(end - step, step);
      if (meant != entry->ascii) continue;
      if (closer) edits.push_back({span(end - step, end), std::string(closer->ascii), true});
      at_ = end;
      return add(TokenKind::kError, begin, at_);
    }
    return add(TokenKind::kError, begin, at_);
  }
  if (entry->ascii.size() == 1 && kBrackets.contains(entry->ascii[0])) {
    at_ = begin;
    return read_bracket(entry->ascii, length);
  }
  if (operator_length(entry->ascii) != entry->ascii.size()) return add(TokenKind::kError, begin, at_);
  tokens.push_back({TokenKind::kOperator, span(begin, at_), entry->ascii, 0});
}

void Lexer::read_number() {
  size_t begin = at_;
  auto digit = [&](size_t ahead) { return std::isdigit(static_cast<unsigned char>(peek(ahead))) != 0; };
  bool is_float = false, bad = false;
  auto digits = [&](auto accepted) {
    bool any = false, last_underscore = false;
    while (accepted(peek()) || (peek() == '_' && any)) {
      if (peek() == '_' && last_underscore) bad = true;
      last_underscore = peek() == '_';
      any = true;
      ++at_;
    }
    if (last_underscore) bad = true;
    return any;
  };
  auto decimal = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  char base = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
  if (peek() == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    at_ += 2;
    if (peek() == '_') ++at_;
    bad |= !digits([&](char c) {
      if (base == 'x') return std::isxdigit(static_cast<unsigned char>(c)) != 0;
      return c >= '0' && c <= (base == 'o' ? '7' : '1');
    });
  } else {
    digits(decimal);
    if (peek() == '.') {
      is_float = true;
      ++at_;
      digits(decimal);
    }
    if ((peek() == 'e' || peek() == 'E') && (digit(1) || ((peek(1) == '+' || peek(1) == '-') && digit(2)))) {
      is_float = true;
      at_ += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      digits(decimal);
    }
    std::string_view text = text_.substr(begin, at_ - begin);
    if (!is_float && text.size() > 1 && text[0] == '0' &&
        text.find_first_not_of("0_") != std::string_view::npos && peek() != 'j' && peek() != 'J')
      bad = true;
  }
  // `224）`: what is meant as a bracket or an operator, or cannot be seen, ends the number.
  const auto goes_on = [&] {
    uint32_t code_point = 0;
    if (at_ >= end_ || !is_name_part(static_cast<unsigned char>(peek()))) return false;
    if (utf8_length(text_, at_, code_point) <= 1) return true;
    return is_name_character(code_point, false) || find_lookalike(code_point) == nullptr;
  };
  for (; goes_on(); ++at_) bad = true;
  std::string text(text_.substr(begin, at_ - begin));
  if (bad) {
    bool imaginary = text.back() == 'j' || text.back() == 'J';
    const size_t first = text.find_first_not_of("0_");
    if (text[0] == '0' && first != std::string::npos &&
        text.find_first_not_of("01234567_") == std::string::npos) {  // an octal number of Python 2 and of C
      report(Message::kUnsupportedSyntax, begin, at_,
             {"`" + text + "`", "write `0o" + text.substr(first) + "` for an octal number, or `" +
                                    text.substr(first) + "` for a decimal one"});
      return add(TokenKind::kError, begin, at_);
    }
    report(imaginary ? Message::kUnsupportedSyntax : Message::kBadNumber, begin, at_,
           imaginary ? std::vector<std::string>{"a complex number",
                                                "data has real element types; keep two real values instead"}
                     : std::vector<std::string>{text});
    advise_on_suffix(text);
    return add(TokenKind::kError, begin, at_);
  }
  add(is_float ? TokenKind::kFloat : TokenKind::kInteger, begin, at_);
}

void Lexer::read_string(size_t begin, size_t quote_at) {
  at_ = quote_at;
  char quote = peek();
  bool triple = peek(1) == quote && peek(2) == quote;
  at_ += triple ? 3 : 1;
  while (at_ < end_) {
    char c = peek();
    if (c == '\\') {
      at_ += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
      continue;
    }
    if (!triple && (c == '\n' || c == '\r')) break;
    if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
      at_ += triple ? 3 : 1;
      return add(TokenKind::kString, begin, at_);
    }
    ++at_;
  }
  at_ = std::min(at_, end_);
  size_t shown = triple ? quote_at + 3 : at_;
  report(Message::kUnterminatedString, begin, shown,
         {triple ? std::string(3, quote) : std::string(1, quote)});
  if (!triple) advise_on_quote(begin, quote_at);
  // What would close the brackets around it may stand in it.
  for (const Bracket& bracket : brackets_) tokens[bracket.token].kind = TokenKind::kError;
  add(TokenKind::kError, begin, at_);
}

namespace {

char closer_of(char bracket) { return bracket == '(' ? ')' : bracket == '[' ? ']' : '}'; }

}  // namespace

void Lexer::read_bracket(std::string_view bracket, size_t length) {
  const char c = bracket[0];
  const size_t begin = at_;
  at_ += length;
  const auto add_bracket = [&](bool good) {
    tokens.push_back({good ? TokenKind::kOperator : TokenKind::kError, span(begin, at_), bracket, 0});
  };
  bool opens = c == '(' || c == '[' || c == '{';
  auto index = static_cast<uint32_t>(tokens.size());
  if (opens) {
    if (static_cast<int>(brackets_.size()) == options_.max_brackets)
      report(Message::kTooManyBrackets, begin, at_, {std::to_string(options_.max_brackets)});
    bool too_many = static_cast<int>(brackets_.size()) >= options_.max_brackets;
    brackets_.push_back({index, indents_.back().first});
    return add_bracket(!too_many);
  }
  char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
  auto matches = [&](const Bracket& open) { return tokens[open.token].text[0] == wanted; };
  auto found = std::find_if(brackets_.rbegin(), brackets_.rend(), matches);
  if (found == brackets_.rend()) {
    if (!brackets_.empty()) {
      // `(]`: the wrong closer; taken as the right one.
      const Token& open = tokens[brackets_.back().token];
      Diagnostic diagnostic = diagnose(Message::kMismatchedBracket, span(begin, at_),
                                       {std::string(1, c), std::string(open.text)});
      diagnostic.labels.push_back({open.span, "opened here"});
      const std::string meant(1, closer_of(open.text[0]));
      diagnostic.help = "write `" + meant + "`";
      diagnostic.edits.push_back({span(begin, at_), meant, false});
      diagnostics.push_back(std::move(diagnostic));
      brackets_.pop_back();
    } else if (c == '}' && block_braces_ > 0) {
      --block_braces_;
      return;
    } else {
      report(Message::kUnopenedBracket, begin, at_, {std::string(1, c)});
    }
    return add_bracket(false);
  }
  // `[3, 4))`: the wrong closer, where the right one makes all that follows fit.
  if (found != brackets_.rbegin() && fits_with_closer()) {
    const Token& inner = tokens[brackets_.back().token];
    const char meant = closer_of(inner.text[0]);
    Diagnostic diagnostic =
        diagnose(Message::kMismatchedBracket, span(begin, at_), {std::string(1, c), std::string(inner.text)});
    diagnostic.labels.push_back({inner.span, "opened here"});
    diagnostic.help = std::string("write `") + meant + "`";
    diagnostic.edits.push_back({span(begin, at_), std::string(1, meant), false});
    diagnostics.push_back(std::move(diagnostic));
    const uint32_t opened = brackets_.back().token;
    brackets_.pop_back();
    tokens.push_back({TokenKind::kOperator, span(begin, at_),
                      meant == ')'   ? ")"
                      : meant == ']' ? "]"
                                     : "}",
                      0});
    tokens[opened].partner = index;
    tokens[index].partner = opened;
    return;
  }
  // Inner brackets that were never closed.
  size_t keep = static_cast<size_t>(brackets_.rend() - found);
  close_open_brackets(keep);
  uint32_t open = brackets_.back().token;
  brackets_.pop_back();
  index = static_cast<uint32_t>(tokens.size());
  add_bracket(tokens[open].kind == TokenKind::kOperator);
  tokens[open].partner = index;
  tokens[index].partner = open;
}

// Whether the text that follows closes all brackets but the innermost one, each by its own closer,
// before the next statement.
bool Lexer::fits_with_closer() const {
  std::string open;
  for (size_t i = 0; i + 1 < brackets_.size(); ++i) open += tokens[brackets_[i].token].text[0];
  constexpr size_t kFarthest = 4000;
  const size_t end = std::min(end_, at_ + kFarthest);
  for (size_t i = at_; i < end && !open.empty(); ++i) {
    const char c = text_[i];
    if (c == '"' || c == '\'' || c == '#') {
      const char stop = c == '#' ? '\n' : c;
      for (++i; i < end && text_[i] != stop && text_[i] != '\n'; ++i) i += text_[i] == '\\' ? 1 : 0;
    } else if (c == '(' || c == '[' || c == '{') {
      open += c;
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{')) return false;
      open.pop_back();
    }
    if (i < end && text_[i] == '\n') {
      const size_t word = text_.find_first_not_of(" \t", i + 1);
      const bool begins = word < end && is_name_start(static_cast<unsigned char>(text_[word]));
      if (begins && static_cast<int>(word - i - 1) <= brackets_.front().statement_indent) return false;
    }
  }
  return open.empty();
}

void Lexer::read_operator() {
  if (read_foreign_operator()) return;
  const char c = peek();
  if (c == '?') {  // a choice by `?` and `:`, of which the parser knows the parts
    add(TokenKind::kOperator, at_, at_ + 1);
    ++at_;
    return;
  }
  if (const size_t length = operator_length(text_.substr(at_, end_ - at_)); length > 0) {
    if (length == 1 && kBrackets.contains(c)) return read_bracket(text_.substr(at_, 1), 1);
    add(TokenKind::kOperator, at_, at_ + length);
    at_ += length;
    return;
  }
  report(Message::kBadCharacter, at_, at_ + 1,
         {describe_character(static_cast<unsigned char>(c)), advice_for(static_cast<unsigned char>(c))});
  add(TokenKind::kError, at_, at_ + 1);
  ++at_;
}

void Lexer::finish_file() {
  for (const Bracket& bracket : brackets_) open_at_end.push_back(tokens[bracket.token].span.begin);
  close_open_brackets(0);
  if (!tokens.empty() && tokens.back().kind != TokenKind::kNewline &&
      tokens.back().kind != TokenKind::kDedent)
    add(TokenKind::kNewline, end_, end_);
  for (size_t i = 1; i < indents_.size(); ++i) add(TokenKind::kDedent, end_, end_);
  add(TokenKind::kEnd, end_, end_);
}

bool is_keyword(std::string_view word) { return std::ranges::find(kKeywords, word) != kKeywords.end(); }

std::vector<Token> lex(uint32_t file, std::string_view text, std::vector<Diagnostic>& diagnostics,
                       LexerOptions options) {
  std::set<uint32_t> unclosed;
  // Every further pass closes at least one more bracket; a few suffice for what people write.
  for (int pass = 0;; ++pass) {
    Lexer lexer(file, text, options, unclosed);
    constexpr size_t kBytesPerToken = 6;  // about, in code without comments
    lexer.tokens.reserve(text.size() / kBytesPerToken);
    lexer.run_file();
    size_t known = unclosed.size();
    if (pass < 8) unclosed.insert(lexer.open_at_end.begin(), lexer.open_at_end.end());
    if (unclosed.size() > known && pass < 8) continue;
    diagnostics.insert(diagnostics.end(), lexer.diagnostics.begin(), lexer.diagnostics.end());
    return std::move(lexer.tokens);
  }
}

std::vector<Token> lex_expression(uint32_t file, std::string_view text, uint32_t begin, uint32_t end,
                                  std::vector<Diagnostic>& diagnostics) {
  Lexer lexer(file, text, {}, {});
  lexer.run_part(begin, end);
  diagnostics.insert(diagnostics.end(), lexer.diagnostics.begin(), lexer.diagnostics.end());
  return std::move(lexer.tokens);
}

}  // namespace galatea::dsl
