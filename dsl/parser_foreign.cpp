// What people write who come from other languages, where this one has another spelling: told with the edit, and
// read as it is meant, or added to what the parser says of a token that it did not expect. In: tokens. Out:
// diagnostics.
#include <algorithm>
#include <array>

#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

constexpr std::array kDeclarations = {"var", "let",    "const", "auto",   "val",    "final",
                                      "int", "double", "float", "string", "String", "bool"};

bool begins_value(const Token& t) {
  constexpr std::array kWords = {"None", "True", "False", "not", "lambda"};
  return t.kind == TokenKind::kName || t.kind == TokenKind::kString || t.kind == TokenKind::kInteger ||
         t.kind == TokenKind::kFloat ||
         (t.kind == TokenKind::kKeyword && std::ranges::find(kWords, t.text) != kWords.end());
}

bool touches(const Token& left, const Token& right) { return left.span.end == right.span.begin; }

}  // namespace

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

// Whether the word is another one with two letters exchanged, or with one that is lost or too much.
bool is_slip_of(std::string_view word, std::string_view meant) {
  const std::string_view shorter = word.size() < meant.size() ? word : meant;
  const std::string_view longer = word.size() < meant.size() ? meant : word;
  if (shorter.size() == longer.size()) return std::ranges::is_permutation(word, meant) && word != meant;
  if (shorter.size() + 1 != longer.size()) return false;
  const auto differ = std::ranges::mismatch(shorter, longer);
  return std::ranges::equal(differ.in1, shorter.end(), differ.in2 + 1, longer.end());
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
  const auto written = [&](Span span) {
    return std::string(text_.substr(span.begin, span.end - span.begin));
  };
  const std::string meant = "lambda" + (names.begin < names.end ? " " + written(names) : "") + ": ";
  const Span header{first.span.file, first.span.begin, tokens_[body].span.begin};
  const bool has_braces = tokens_[body].text == "{";
  report_translated(sign, "`" + written(sign) + "`",
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
  if (std::ranges::find(kDeclarations, word) != kDeclarations.end() && is("=", words + 1)) {
    const Span all{t.span.file, t.span.begin, token(words).span.begin};
    report_translated(cover(t.span, token(words - 1).span), "`" + word + "` before a name",
                      "write `" + name + " = …`: names are not declared", {{all, "", true}});
    at_ += words;
  }
}

// A statement that another language begins with another word; nullptr: there is none.
StatementPtr Parser::parse_foreign_compound() {
  const Token& t = token();
  if (t.kind != TokenKind::kName || token(1).kind != TokenKind::kName) return nullptr;
  const bool is_loop = t.text == "foreach" && is("in", 2);
  const bool is_function = (t.text == "function" || t.text == "func" || t.text == "fn") && is("(", 2);
  if (!is_loop && !is_function) return nullptr;
  const std::string meant = is_loop ? "for" : "def";
  // Braces behind it are the same habit.
  size_t behind = is_function ? tokens_[at_ + 2].partner + 1 : 0;
  if (is_function && tokens_[behind].text == "->")
    while (tokens_[behind].text == "->" || tokens_[behind].kind == TokenKind::kName) ++behind;
  const bool has_braces = is_function && tokens_[behind].text == "{";
  report_translated(t.span, "`" + std::string(t.text) + "`",
                    has_braces ? "write `def`, `:` at the end of the line, and indent the lines of the block"
                               : "write `" + meant + "`",
                    has_braces ? std::vector<Edit>{} : std::vector<Edit>{{t.span, meant, true}});
  was_mended_ = has_braces;
  return is_loop ? parse_for() : parse_function({}, t.span);
}

// `for (i = 0; i < n; i++)`: the statement is left.
void Parser::refuse_counting_loop() {
  if (!is("(") || token().partner == 0) return;
  const size_t end = token().partner;
  const bool counts = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                                  tokens_.begin() + static_cast<std::ptrdiff_t>(end),
                                  [](const Token& t) { return t.text == ";"; });
  if (!counts) return;
  report_unsupported(cover(token().span, tokens_[end].span), "a loop that counts by `;`",
                     "write `for i in range(3):`");
  throw SyntaxError{};
}

// What to do about a token that was not expected, where that is known.
void Parser::advise(Diagnostic& diagnostic, std::string_view wanted) const {
  const Token &t = token(), &next = token(1), &before = tokens_[at_ > 0 ? at_ - 1 : 0];
  const auto say = [&](std::string help, std::vector<Edit> edits = {}) {
    diagnostic.help = std::move(help);
    diagnostic.edits = std::move(edits);
  };
  const bool wants_colon = wanted.starts_with("`:`"), wants_end = wanted == "the end of the statement";
  const bool in_call = wanted == "`,` or `)`";
  const bool is_double_colon = is(":") && is(":", 1) && touches(t, next);
  if (wants_colon && is("{")) return say("write `:` and indent the lines of the block; it has no braces");
  if (wants_colon && t.text == "then")
    return say("write `:`", {{{t.span.file, before.span.end, t.span.end}, ":", true}});
  if (wants_colon && t.kind == TokenKind::kNewline)
    return say("write `:` at the end of the line", {{diagnostic.span, ":", true}});
  if (is(">") && before.text == "=" && touches(before, t)) return say("write `lambda x: …` for a function");
  const bool names_member = before.kind == TokenKind::kName && touches(before, t) &&
                            token(is_double_colon ? 2 : 1).kind == TokenKind::kName;
  if ((is("->") || is_double_colon) && names_member)
    return say("write `.`", {{is("->") ? t.span : cover(t.span, next.span), ".", true}});
  if (in_call && is(":") && before.kind == TokenKind::kName)
    return say("write `" + std::string(before.text) + "=…`", {{t.span, "=", true}});
  if (wanted.starts_with("`,` or `") && is(";")) return say("write `,`", {{t.span, ",", true}});
  if (is(">") && before.text == "|" && touches(before, t))
    return say("write `f(x)` for `x |> f()`: what an operator reads is its first argument");
  if (wanted == "an expression" && t.text == "return")
    return say("a `lambda` gives the value of its expression: leave `return` out",
               {{up_to_next(t), "", true}});
  if (t.text == "?" && before.text == "?") return say("write `b if a is None else a` for `a ?? b`");
  if (wanted.starts_with("an expression") && is("|") && next.kind == TokenKind::kName &&
      (is("|", 2) || is(",", 2)))
    return say("write `lambda " + std::string(next.text) + ": …` for a function");
  if (wants_colon && t.kind == TokenKind::kFloat && t.text.starts_with('.') && before.text.ends_with('.') &&
      touches(before, t)) {
    const std::string range = "range(" + std::string(before.text.substr(0, before.text.size() - 1)) + ", " +
                              std::string(t.text.substr(1)) + ")";
    return say("write `" + range + "`", {{cover(before.span, t.span), range, true}});
  }
  if (wanted == "`(` after the function's name" && is(":"))
    return say("write `" + std::string(before.text) + "():`", {{end_of_previous(), "()", true}});
  if (t.kind == TokenKind::kNewline && before.text == "?") return say("leave the `?` out");
  if (wants_end && (before.text == "unless" || before.text == "until")) {
    const std::string meant = before.text == "unless" ? "if not" : "while not";
    return say("write `" + meant + " …:`", {{before.span, meant, false}});
  }
  if (wants_end && is("as"))
    return say("types are converted by an operator: write `fn.cast(x, dtype=types.FLOAT)`");
  if (wants_end && is("{") && before.text == "do")
    return say("write `while True:`, and leave it with `break`");
  if (wants_end && before.text == "match") return say("choose with `if` and `elif`");
  if (wanted.starts_with("an expression") && is("&") && touches(t, next))
    return say("names have no addresses: leave the `&` out", {{t.span, "", true}});
  if (wanted == "an expression" && is("%")) return say("a comment begins with `#`");
  if (wants_colon && is(",") && next.kind == TokenKind::kName && wanted.ends_with("the clause of `try`"))
    return say("write `as`", {{cover(t.span, {t.span.file, t.span.begin, next.span.begin}), " as ", true}});
  if (is(";") && before.text == ";") return say("remove it", {{t.span, "", true}});
  if (is(":") && before.text == ":" && touches(before, t) && next.kind == TokenKind::kName)
    return say("write `.`");
  if (wants_end && is("{") && before.text == ")")
    return say("choose with `if` and `elif`; blocks have no braces");
  if (wants_end && is(":=")) return say("write `=`", {{t.span, "=", true}});
  if (wants_end && before.text == "new")
    return say("call it without `new`", {{{t.span.file, before.span.begin, t.span.begin}, "", true}});
  if (is("//") || (is("/") && is("*", 1))) {
    if (wanted == "an expression") return say("a comment begins with `#`");
  }
  if (wanted == "an expression" && is("/") && touches(t, next) && next.kind == TokenKind::kName)
    return say("a path is a text: write it in quotes");
  if (in_call && is(":"))
    return say("elements from one place to another stand in brackets behind what holds them: `x[0:10]`");
  if (wanted == "the name of an argument")
    return say("write `" + name_in_quotes() + "=…`", {{t.span, name_in_quotes(), true}});
  if (wanted.starts_with("`else`")) {
    const std::string name = assigned_name();
    if (name.empty()) return say("write `else` and the value for the other case behind it");
    return say("write `else " + name + "` behind it", {{end_of_previous(), " else " + name, false}});
  }
  const bool is_typed = std::ranges::find(kDeclarations, before.text) != kDeclarations.end();
  const bool in_list = wanted.starts_with("`,` or `") || (wants_end && word_of_line() == "return");
  if (in_list && begins_value(t) && !is_typed)
    return say("write `,` between them", {{end_of_previous(), ",", false}});
}

}  // namespace galatea::dsl
