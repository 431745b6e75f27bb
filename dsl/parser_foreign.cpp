// What people write who come from other languages, where this one has another spelling: told with the edit, and
// read as it is meant, or added to what the parser says of a token that it did not expect. In: tokens. Out:
// diagnostics.
#include <algorithm>
#include <array>

#include "dsl/parser_state.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

constexpr std::array kDeclarations = {"var",  "let",   "const", "auto",   "val",      "final",  "int",
                                      "long", "short", "char",  "double", "float",    "string", "String",
                                      "bool", "local", "my",    "static", "unsigned", "size_t", "mutable"};

}  // namespace

std::string_view Parser::written(Span span) const { return text_.substr(span.begin, span.end - span.begin); }
Span Parser::up_to_next(const Token& t) const { return {t.span.file, t.span.begin, token(1).span.begin}; }

// What was read as it is meant leaves nothing out of the function around it.
void Parser::report_translated(Span span, std::string construct, std::string advice,
                               std::vector<Edit> edits) {
  const int errors = num_errors_;
  report_unsupported(span, std::move(construct), std::move(advice), std::move(edits));
  num_errors_ = errors;
}

size_t Parser::begin_of_line() const {
  const auto ends = [](TokenKind kind) {
    return kind == TokenKind::kNewline || kind == TokenKind::kIndent || kind == TokenKind::kDedent;
  };
  size_t begin = at_;
  while (begin > 0 && !ends(tokens_[begin - 1].kind)) --begin;
  return begin;
}
std::string_view Parser::word_of_line() const { return tokens_[begin_of_line()].text; }

// `image` where `image = …` is being read.
std::string Parser::assigned_name() const {
  const size_t begin = begin_of_line();
  const bool assigns =
      tokens_[begin].kind == TokenKind::kName && begin + 1 < at_ && tokens_[begin + 1].text == "=";
  return assigns ? std::string(tokens_[begin].text) : "";
}

// `size` for a token `"size"`; empty: it is no name in quotes.
std::string Parser::name_in_quotes() const {
  const Token& t = token();
  const bool is_short =
      t.kind == TokenKind::kString && t.text.size() > 2 && (t.text[0] == '"' || t.text[0] == '\'');
  const std::string_view inner = is_short ? t.text.substr(1, t.text.size() - 2) : "";
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return std::ranges::all_of(inner, is_part) ? std::string(inner) : "";
}

// Whether this line goes on with the word, before a comment or a string has it.
bool Parser::line_holds(std::string_view word) const {
  for (size_t i = at_; tokens_[i].kind != TokenKind::kNewline && tokens_[i].kind != TokenKind::kEnd; ++i)
    if (tokens_[i].text == word && tokens_[i].kind != TokenKind::kString) return true;
  return false;
}

// Whether the lexer told of this token, or of what stands between it and the one before.
bool Parser::is_told_by_lexer() const {
  const auto told = std::ranges::lower_bound(told_by_lexer_, end_of_previous().begin);
  return told != told_by_lexer_.end() && *told < token().span.end;
}

// Whether the file defines or imports a name that is spelt so.
bool Parser::is_defined(std::string_view name) const {
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].text != name || tokens_[i].kind != TokenKind::kName) continue;
    const std::string_view before = i > 0 ? tokens_[i - 1].text : "", behind = tokens_[i + 1].text;
    if (before == "def" || before == "import" || before == "as" || before == "for" || before == "," ||
        before == "(" || behind == "=" || behind == ",")
      return true;
  }
  return false;
}

// `retrun (x)`: what looks like a call, alone on its line, of a name that nothing defines.
bool Parser::is_return_in_brackets() const {
  const Token& t = token();
  if (block_depth_ == 0 || t.kind != TokenKind::kName || !is("(", 1) || token(1).partner == 0 ||
      !is_slip_of(t.text, "return"))
    return false;
  const TokenKind behind = tokens_[token(1).partner + 1].kind;
  return (behind == TokenKind::kNewline || behind == TokenKind::kEnd) && !is_defined(t.text);
}

// `retrun x`, `fro i in xs:`. A name with a value behind it begins no statement of Python; the keyword like it
// that the rest of the line fits is meant.
void Parser::correct_keyword() {
  const Token t = token();
  const bool in_brackets = is_return_in_brackets();
  if (!in_brackets && (t.kind != TokenKind::kName || !begins_value(token(1)) || is("=", 2))) return;
  std::vector<std::string> fitting = {"return", "import", "raise", "assert"};
  if (line_holds(":"))
    fitting = line_holds("in") ? std::vector<std::string>{"for"}
                               : std::vector<std::string>{"while", "if", "def", "class", "with"};
  if (line_holds("import")) fitting = {"from"};
  if (in_brackets) fitting = {"return"};
  const auto meant = closest_match(t.text, fitting);
  if (!meant) return;
  report_translated(t.span, "`" + std::string(t.text) + "`", "write `" + *meant + "`",
                    {{t.span, *meant, true}});
  tokens_[at_].kind = TokenKind::kKeyword;
  tokens_[at_].text = normal_names_.emplace_back(*meant);
}

// `yield x` as a statement, read as `return x`. In a loop or under a condition nobody knows what it stands for.
StatementPtr Parser::parse_yield() {
  const Token first = tokens_[at_++];
  const bool is_return = block_depth_ == 1 && !is("from");
  report_translated(first.span, "`yield`",
                    is_return ? "write `return`: a function gives all of its values at once"
                              : "return a list or a tuple instead",
                    is_return ? std::vector<Edit>{{first.span, "return", false}} : std::vector<Edit>{});
  if (block_depth_ == 0) throw SyntaxError{};
  accept("from");
  auto statement = make_statement(StatementKind::kReturn, first);
  if (at_expression_start() || is("*")) statement->value = parse_expression_list(true, "after `yield`");
  if (!is_return) statement->value = make(ExpressionKind::kError, since(first));
  return statement;
}

// `x?.y`, read as `x.y`.
bool Parser::accept_question_member() {
  if (!is("?") || !is(".", 1) || !touches(token(), token(1))) return false;
  const Span span = cover(token().span, token(1).span);
  report_translated(span, "`?.`", "write `.`", {{span, ".", true}});
  at_ += 2;
  return true;
}

// `a =< b` of Prolog and Erlang, `3 => b`: read as `<=` and `>=`. Behind a name `=>` begins a function.
void Parser::tell_turned_comparison(const Expression& left) {
  const bool is_less = is("=") && is("<", 1), is_greater = is("=") && is(">", 1);
  if ((!is_less && !is_greater) || !touches(token(), token(1)) || at_ <= begin_of_line() + 1 ||
      (is_greater && left.kind == ExpressionKind::kName))
    return;
  const Span sign = cover(token().span, token(1).span);
  const std::string meant = is_less ? "<=" : ">=";
  report_translated(sign, "`" + std::string(written(sign)) + "`", "write `" + meant + "`",
                    {{sign, meant, true}});
  ++at_;
  tokens_[at_].text = is_less ? "<=" : ">=";
}

// The number of tokens of `->` or `=>`; 0: another one stands there.
size_t Parser::arrow_at(size_t ahead) const {
  if (is("->", ahead)) return 1;
  return is("=", ahead) && is(">", ahead + 1) && touches(token(ahead), token(ahead + 1)) ? 2 : 0;
}

// The number of tokens of `x` or `(x, y)` that an arrow follows; 0: none does. `->` is one where a value is wanted:
// not in `x->y`, nor behind what a function returns.
size_t Parser::before_arrow() const {
  const Token& t = token();
  const size_t parameters = t.kind == TokenKind::kName   ? 1
                            : is("(") && t.partner > at_ ? t.partner - at_ + 1
                                                         : 0;
  if (parameters == 0 || arrow_at(parameters) == 0) return 0;
  const bool is_value = open_brackets_ > 0 || (at_ > 0 && tokens_[at_ - 1].text == "=");
  const bool is_member = parameters == 1 && touches(t, token(1));
  return is("->", parameters) && (!is_value || is_member) ? 0 : parameters;
}

// `(x, y) => x + y`, read as `lambda x, y: x + y`.
ExpressionPtr Parser::parse_arrow_function(size_t parameters) {
  const Token first = token();
  const size_t arrow = at_ + parameters, body = arrow + arrow_at(parameters);
  const Span sign = cover(tokens_[arrow].span, tokens_[body - 1].span);
  const Span names =
      is("(") ? Span{first.span.file, first.span.end, tokens_[arrow - 1].span.begin} : first.span;
  const std::string meant =
      "lambda" + (names.begin < names.end ? " " + std::string(written(names)) : "") + ": ";
  const Span header{first.span.file, first.span.begin, tokens_[body].span.begin};
  const bool has_braces = tokens_[body].text == "{";
  report_translated(sign, "`" + std::string(written(sign)) + "`",
                    has_braces ? "write a function with `def`" : "write `" + meant + "…`",
                    has_braces ? std::vector<Edit>{} : std::vector<Edit>{{header, meant, true}});
  if (has_braces) throw SyntaxError{};
  ExpressionPtr lambda = make(ExpressionKind::kLambda, first.span);
  lambda->text_span = sign;
  if (accept("(")) {
    lambda->parameters = parse_parameters(")", true);
    expect(")", "after the parameters");
  } else {
    lambda->parameters.emplace_back();
    lambda->parameters.back().name = first.text;
    lambda->parameters.back().span = first.span;
  }
  at_ = body;
  parse_body(*lambda);
  return lambda;
}

// `let x = 3`, `foreach x in xs:`, `function f():`. Two names beside each other begin no statement of Python.
void Parser::skip_foreign_word() {
  const Token& t = token();
  if (t.kind != TokenKind::kName || token(1).kind != TokenKind::kName) return;
  size_t words = 1;  // `let mut`, `const auto`
  while (token(words + 1).kind == TokenKind::kName) ++words;
  const std::string word(t.text), name(token(words).text);
  if (std::ranges::find(kDeclarations, word) == kDeclarations.end()) return;
  const TokenKind behind = token(words + 1).kind;
  if (is(";", words + 1) || behind == TokenKind::kNewline || behind == TokenKind::kEnd) {
    report_unsupported(cover(t.span, token(words).span), "`" + word + "` before a name",
                       "remove the line: names are not declared");
    throw SyntaxError{};
  }
  if (is("=", words + 1) || is(":", words + 1)) {
    const Span all{t.span.file, t.span.begin, token(words).span.begin};
    report_translated(cover(t.span, token(words - 1).span), "`" + word + "` before a name",
                      "write `" + name + " = …`: names are not declared", {{all, "", true}});
    at_ += words;
  }
}

// A statement that another language begins with another word; nullptr: there is none.
StatementPtr Parser::parse_foreign_compound() {
  const Token first = token();
  if (first.kind != TokenKind::kName) return nullptr;
  constexpr std::array kModifiers = {"pub",    "public", "private", "protected", "static",
                                     "export", "inline", "virtual", "override",  "constexpr"};
  constexpr std::array kFunctions = {"function", "func", "fn", "fun", "sub", "proc", "define", "procedure"};
  const auto is_one_of = [](const auto& words, const Token& t) {
    return t.kind == TokenKind::kName && std::ranges::find(words, t.text) != words.end();
  };
  size_t at = 0;
  while (is_one_of(kModifiers, token(at)) && token(at + 1).kind == TokenKind::kName) ++at;
  const Token word = token(at);
  const bool is_loop = at == 0 && word.text == "foreach" && token(1).kind == TokenKind::kName && is("in", 2);
  const bool is_loop_in_brackets = at == 0 && word.text == "foreach" && is("(", 1) && !is_defined("foreach");
  const bool is_function =
      is_one_of(kFunctions, word) && token(at + 1).kind == TokenKind::kName && is("(", at + 2);
  if (is_loop_in_brackets) {
    ++at_;
    refuse_loop_in_brackets();
    --at_;
  }
  if (!is_loop && !is_function) return nullptr;
  at_ += at;
  const std::string meant = is_loop ? "for" : "def";
  const Span all = cover(first.span, word.span);
  // Braces, or a type with `=`, behind it are the same habit.
  size_t behind = is_function ? tokens_[at_ + 2].partner + 1 : 0;
  const auto is_of_type = [&] {
    const Token& t = tokens_[behind];
    return t.kind == TokenKind::kName || t.text == "->" ||
           (t.text == ":" && tokens_[behind + 1].kind == TokenKind::kName);
  };
  if (is_function && behind > 1)
    while (is_of_type()) ++behind;
  const bool has_body = is_function && (tokens_[behind].text == "{" || tokens_[behind].text == "=");
  if (!has_body) {
    report_translated(all, "`" + std::string(written(all)) + "`", "write `" + meant + "`",
                      {{all, meant, true}});
    if (is_loop) return parse_for();
    StatementPtr function = parse_function({}, first.span);
    function->has_syntax_error = true;  // its types may be those of the other language
    return function;
  }
  report_unsupported(all, "`" + std::string(written(all)) + "`",
                     "write `def`, `:` at the end of the line, and indent the lines of the block");
  was_mended_ = true;
  StatementPtr function = parse_function({}, first.span);
  function->has_syntax_error = true;
  return function;
}

// `for (i = 0; i < n; i++)` and `for (const x of xs)`: the statement is left.
void Parser::refuse_loop_in_brackets() {
  if (!is("(") || token().partner == 0 || tokens_[token().partner + 1].text == "in") return;
  const size_t end = token().partner;
  const Span all = cover(token().span, tokens_[end].span);
  size_t parted = at_ + 1;  // where the elements come from
  bool counts = false;
  for (size_t i = at_ + 1; i < end; ++i) {
    const std::string_view word = tokens_[i].text;
    counts = counts || word == ";";
    const bool parts =
        word == "in" || word == ":" || (word == "of" && tokens_[i - 1].kind == TokenKind::kName);
    if (parted == at_ + 1 && i > at_ + 1 && parts) parted = i;
  }
  if (counts) {
    report_unsupported(all, "a loop that counts by `;`", "write `for i in range(3):`");
    throw SyntaxError{};
  }
  if (parted == at_ + 1 || tokens_[parted - 1].kind != TokenKind::kName || parted + 1 >= end) return;
  const std::string range = range_of(parted + 1);
  const std::string from =
      range.empty() ? std::string(written({file_, tokens_[parted].span.end, tokens_[end].span.begin}))
                    : " " + range;
  const std::string meant =
      std::string(tokens_[parted - 1].text) + " in" + (from.starts_with(' ') ? "" : " ") + from;
  const bool has_colon = tokens_[end + 1].text == ":";
  report_unsupported(all, "a loop in brackets", "write `for " + meant + ":`",
                     has_colon ? std::vector<Edit>{{all, meant, true}} : std::vector<Edit>{});
  throw SyntaxError{};
}

// `range(1, 11)` for the tokens `1:10` of R, MATLAB and Julia, which count to the end; empty: others stand there.
std::string Parser::range_of(size_t at) const {
  if (at + 2 >= tokens_.size() || tokens_[at + 1].text != ":") return {};
  const Token &low = tokens_[at], &high = tokens_[at + 2];
  const auto is_bound = [](const Token& t) {
    return t.kind == TokenKind::kInteger || t.kind == TokenKind::kName;
  };
  if (!is_bound(low) || !is_bound(high) || !touches(low, tokens_[at + 1]) || !touches(tokens_[at + 1], high))
    return {};
  constexpr size_t kMostDigits = 9;
  const bool is_small = high.kind == TokenKind::kInteger && high.text.size() <= kMostDigits &&
                        std::ranges::all_of(high.text, [](char c) { return c >= '0' && c <= '9'; });
  const std::string end =
      is_small ? std::to_string(std::stol(std::string(high.text)) + 1) : std::string(high.text) + " + 1";
  return "range(" + std::string(low.text) + ", " + end + ")";
}

// `for i in 1:10`, read as `for i in range(1, 11):`.
bool Parser::accept_counted_range(const Expression& first) {
  const std::string range = at_ > 0 ? range_of(at_ - 1) : "";
  if (range.empty() || first.span.begin != tokens_[at_ - 1].span.begin) return false;
  const Span span = cover(first.span, token(1).span);
  const bool has_colon = is(":", 2),
             ends = token(2).kind == TokenKind::kNewline && token(3).kind == TokenKind::kIndent;
  if (!has_colon && !ends) return false;
  report_translated(span, "a range with `:`", "write `" + range + "`",
                    {{span, has_colon ? range : range + ":", true}});
  at_ += 2;
  return true;
}

// `x <- 3` of R. True: the statement was read as an assignment.
bool Parser::parse_arrow_assignment(Statement& statement) {
  const Token first = token();
  const bool is_global = is("<<", 1);
  if (first.kind != TokenKind::kName || (!is("<", 1) && !is_global) || !is("-", 2) ||
      !touches(token(1), token(2)))
    return false;
  const Span sign = cover(token(1).span, token(2).span);
  if (token(3).text == "function" && is("(", 4) && token(4).partner > 0) {
    const Span parameters{file_, token(4).span.end, tokens_[token(4).partner].span.begin};
    report_unsupported(cover(sign, token(3).span), "a function that is assigned",
                       "write `" + std::string(first.text) + " = lambda " + std::string(written(parameters)) +
                           ": …`, or a function with `def`");
    throw SyntaxError{};
  }
  report_translated(sign, "`" + std::string(written(sign)) + "`", "write `=`", {{sign, "=", true}});
  at_ += 3;
  statement.kind = StatementKind::kAssign;
  statement.targets.push_back(make(ExpressionKind::kName, first.span, std::string(first.text)));
  statement.value = parse_expression_list(true, "after `=`");
  statement.span = since(first);
  return true;
}

// `...xs` of JavaScript, read as `*xs`, or in a dict as `**d`.
bool Parser::accept_spread(std::string_view star) {
  if (accept(star)) return true;
  const bool is_spread = is("...") && touches(token(), token(1)) &&
                         (begins_value(token(1)) || is("(", 1) || is("[", 1) || is("{", 1));
  if (!is_spread) return false;
  report_translated(token().span, "`...`", "write `" + std::string(star) + "`",
                    {{token().span, std::string(star), true}});
  ++at_;
  return true;
}

// `++i` alone on its line. True: it was told, and read as `i += 1`.
bool Parser::parse_leading_increment() {
  if ((!is("+") && !is("-")) || !is(token().text, 1) || !touches(token(), token(1)) ||
      token(2).kind != TokenKind::kName)
    return false;
  const Token& behind = token(3);
  if (behind.kind != TokenKind::kNewline && behind.text != ";" && behind.kind != TokenKind::kEnd)
    return false;
  const std::string op(token().text), meant = std::string(token(2).text) + " " + op + "= 1";
  report_translated(cover(token().span, token(1).span), "`" + op + op + "`", "write `" + meant + "`",
                    {{cover(token().span, token(2).span), meant, true}});
  at_ += 3;
  return true;
}

}  // namespace galatea::dsl
