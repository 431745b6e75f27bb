// Statements. In: tokens. Out: the statements of ast.h. See parser.h for recovery.
#include <algorithm>
#include <array>
#include <iterator>

#include "dsl/lookalikes.h"
#include "dsl/normal_form.h"
#include "dsl/parser.h"
#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

constexpr std::array kAugmented = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", "<<=", ">>=", "&=", "|=", "^=", "@="};

/// `a-b-c`, written as a name can be; empty: it is another expression.
std::string name_with_dashes(const Expression& e) {
  if (e.kind == ExpressionKind::kName) return e.text;
  if (e.kind != ExpressionKind::kBinary || e.text != "-") return {};
  const std::string left = name_with_dashes(*e.operands[0]), right = name_with_dashes(*e.operands[1]);
  return left.empty() || right.empty() ? "" : left + "_" + right;
}

bool has_return(const Suite& suite) {
  return std::ranges::any_of(suite, [](const StatementPtr& s) {
    const bool is_function = s->kind == StatementKind::kFunction;
    return s->kind == StatementKind::kReturn ||
           (!is_function && (has_return(s->body) || has_return(s->orelse)));
  });
}

}  // namespace

// ---- tokens and errors ----

std::string Parser::describe(const Token& t) const {
  switch (t.kind) {
    case TokenKind::kEnd:
      return "the end of the file";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of the block";
    default:
      return "`" + std::string(t.text.substr(0, 40)) + "`";
  }
}

Span Parser::end_of_previous() const {
  if (at_ == 0) return token().span;
  Span previous = tokens_[at_ - 1].span;
  return {previous.file, previous.end, previous.end};
}
Span Parser::since(Span first) const { return at_ == 0 ? first : cover(first, tokens_[at_ - 1].span); }
Span Parser::since(const Token& first) const { return since(first.span); }

void Parser::report(Message message, Span span, std::vector<std::string> arguments) {
  ++num_errors_;
  diagnostics_.push_back(diagnose(message, span, std::move(arguments)));
}

void Parser::fail(Message message, Span span, std::vector<std::string> arguments, const Label& label) {
  report(message, span, std::move(arguments));
  if (label.span.valid()) diagnostics_.back().labels.push_back(label);
  throw SyntaxError{};
}

void Parser::fail_expected(std::string_view wanted) {
  const Token& t = token();
  // What the lexer reported, and what does not fit behind a part that was told, is the same mistake.
  if (t.kind == TokenKind::kError || is_told_by_lexer() || (was_mended_ && open_brackets_ == 0)) {
    ++num_errors_;
    throw SyntaxError{};
  }
  bool nothing_to_show =
      t.kind == TokenKind::kNewline || t.kind == TokenKind::kEnd || t.kind == TokenKind::kDedent;
  report(Message::kExpected, nothing_to_show ? end_of_previous() : t.span,
         {std::string(wanted), describe(t)});
  advise(diagnostics_.back(), wanted);
  throw SyntaxError{};
}

// A token that is not expected, where nothing of the text is lost: a colon that is missing before a block,
// `size: 224` for `size=224`.
void Parser::report_read_as_meant(Span span, const std::string& wanted) {
  const int errors = num_errors_;
  report(Message::kExpected, span, {wanted, describe(token())});
  advise(diagnostics_.back(), wanted);
  num_errors_ = errors;
}

Token Parser::expect(std::string_view text, std::string_view context) {
  if (!is(text))
    fail_expected("`" + std::string(text) + "`" + (context.empty() ? "" : " " + std::string(context)));
  return tokens_[at_++];
}

std::vector<Token> Parser::with_normal_names(std::vector<Token> tokens) {
  const auto is_wide = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
  for (Token& t : tokens) {
    if (t.kind != TokenKind::kName || !std::ranges::any_of(t.text, is_wide)) continue;
    t.text = normal_names_.emplace_back(normal_form(without_invisible(t.text)));
    if (is_keyword(t.text)) t.kind = TokenKind::kKeyword;
  }
  return tokens;
}

Token Parser::expect_name(std::string_view context) {
  if (token().kind == TokenKind::kKeyword)
    fail(Message::kKeywordAsName, token().span, {std::string(token().text)});
  if (token().kind != TokenKind::kName) fail_expected(context);
  return tokens_[at_++];
}

void Parser::check_chain(int length) {
  if (length > kMaxChainLength) fail(Message::kChainTooLong, token().span, {std::to_string(kMaxChainLength)});
}

void Parser::skip_line() {
  while (!at_end() && token().kind != TokenKind::kNewline) {
    if (token().kind == TokenKind::kIndent || token().kind == TokenKind::kDedent) return;
    ++at_;
  }
  if (token().kind == TokenKind::kNewline) ++at_;
}

StatementPtr Parser::make_statement(StatementKind kind, const Token& first) {
  count_bytes(sizeof(Statement) + sizeof(void*) * 3);
  auto statement = std::make_unique<Statement>();
  statement->kind = kind;
  statement->span = statement->keyword_span = first.span;
  return statement;
}

// ---- blocks and lines ----

std::unique_ptr<Module> Parser::parse_file() {
  auto module = std::make_unique<Module>();
  module->file = file_;
  try {
    while (!at_end()) parse_statement(module->body);
  } catch (const SyntaxError&) {  // the tree is too large
  }
  take_stray_return(module->body);
  module->bytes = bytes_;
  module->too_large = too_large_;
  if (!module->body.empty()) {
    const Statement& first = *module->body.front();
    if (first.kind == StatementKind::kExpression && first.value->kind == ExpressionKind::kString)
      module->docstring = first.value->text;
  }
  return module;
}

// A `return` outside of all functions, below a function that has none: it and the lines before it belong there.
void Parser::take_stray_return(Suite& module) {
  const auto is_function = [](const StatementPtr& s) { return s->kind == StatementKind::kFunction; };
  const auto is_simple = [](const StatementPtr& s) {
    return s->kind == StatementKind::kAssign || s->kind == StatementKind::kAugAssign ||
           s->kind == StatementKind::kAnnAssign || s->kind == StatementKind::kExpression ||
           s->kind == StatementKind::kIf || s->kind == StatementKind::kFor;
  };
  for (size_t i = 0; i < module.size(); ++i) {
    if (module[i]->kind != StatementKind::kReturn || !module[i]->value) continue;
    size_t first = i;
    while (first > 0 && is_simple(module[first - 1])) --first;
    if (first == 0 || !is_function(module[first - 1]) || has_return(module[first - 1]->body)) continue;
    Statement& function = *module[first - 1];
    // Of a function without a block, or with one that is not indented, that was told already.
    const uint32_t body = function.body.empty() ? 0 : function.body.front()->span.begin;
    if (body > 0 && text_[body - 1] != '\n') {
      report(Message::kReturnOutside, module[i]->span);
      if (i > first)
        diagnostics_.back().help =
            "indent it, and the lines before it, as the lines of `" + function.text + "` are";
    }
    function.has_syntax_error = true;
    for (size_t k = first; k <= i; ++k) function.body.push_back(std::move(module[k]));
    module.erase(module.begin() + static_cast<std::ptrdiff_t>(first),
                 module.begin() + static_cast<std::ptrdiff_t>(i + 1));
    i = first - 1;
  }
}

void Parser::parse_statement(Suite& out) {
  size_t begin = at_;
  int block_depth = block_depth_;
  const int loop_depth = loop_depth_;
  const size_t statements = out.size();
  size_t functions = ordinals_.size();
  bool guard = in_main_guard_;
  was_mended_ = false;
  open_brackets_ = 0;
  try {
    const Token& t = token();
    if (t.kind == TokenKind::kIndent) {
      report(Message::kUnexpectedIndent, t.span);
      ++at_;
      while (!at_end() && token().kind != TokenKind::kDedent) parse_statement(out);
      if (token().kind == TokenKind::kDedent) ++at_;
      return;
    }
    if (t.kind == TokenKind::kDedent || t.kind == TokenKind::kNewline) {
      ++at_;
      return;
    }
    if (is("@")) return void(out.push_back(parse_decorated()));
    if (at_match_statement()) {
      return void(out.push_back(
          parse_unsupported_block("`" + std::string(t.text) + "`", {"use `if`/`elif` on the value"})));
    }
    refuse_foreign_line();
    correct_keyword();
    if (t.kind == TokenKind::kKeyword && is("=", 1))
      fail(Message::kKeywordAsName, t.span, {std::string(t.text)});
    if (t.kind == TokenKind::kKeyword) {
      if (StatementPtr compound = parse_compound(t.text)) return void(out.push_back(std::move(compound)));
    }
    if (StatementPtr compound = parse_foreign_compound()) return void(out.push_back(std::move(compound)));
    skip_foreign_word();
    if (parse_leading_increment()) return skip_line();
    parse_simple_line(out);
  } catch (const SyntaxError&) {
    block_depth_ = block_depth;
    loop_depth_ = loop_depth;
    ordinals_.resize(functions);
    in_main_guard_ = guard;
    // What stands before the text that does not fit was read as something else than is meant.
    if (out.size() > statements) out.pop_back();
    recover_statement(begin, out);
  }
}

// Names that the statement at `begin`, which failed to parse, would have bound or changed.
std::vector<ExpressionPtr> Parser::lost_names(size_t begin) {
  std::vector<ExpressionPtr> names;
  const auto add = [&](size_t at) {
    names.push_back(make(ExpressionKind::kName, tokens_[at].span, std::string(tokens_[at].text)));
  };
  const auto is_name = [&](size_t at) { return tokens_[at].kind == TokenKind::kName; };
  const auto ends = [&](size_t at) {
    return tokens_[at].kind == TokenKind::kNewline || tokens_[at].kind == TokenKind::kEnd;
  };
  const std::string_view first = tokens_[begin].text;
  size_t at = begin;
  if (first == "for") {
    for (++at; is_name(at) || tokens_[at].text == ","; ++at)
      if (is_name(at)) add(at);
    return names;
  }
  if (first == "import" || first == "from") {
    while (!ends(at) && tokens_[at].text != "import") ++at;
    for (; !ends(at); ++at)
      if (is_name(at)) add(at);
    return names;
  }
  for (; is_name(at) && (tokens_[at + 1].text == "," || tokens_[at + 1].text == "="); at += 2) add(at);
  const bool by_arrow = is_name(begin) && tokens_[begin + 1].text.starts_with('<') &&
                        tokens_[begin + 2].text == "-" && touches(tokens_[begin + 1], tokens_[begin + 2]);
  if (by_arrow) return add(begin), std::move(names);
  const bool assigned = at > begin && tokens_[at - 1].text == "=";
  if (!assigned) names.clear();
  if (assigned || !is_name(begin)) return names;
  constexpr std::array kChange = {"append", "extend",     "insert", "pop",     "remove", "clear",
                                  "update", "setdefault", "sort",   "reverse", "add"};
  const std::string_view next = tokens_[begin + 1].text;
  const bool is_changed =
      next == "[" || next == ":" || next == ":=" || std::ranges::find(kAugmented, next) != kAugmented.end() ||
      (next == "." && std::ranges::find(kChange, tokens_[begin + 2].text) != kChange.end());
  if (is_changed) add(begin);
  return names;
}

// A block below a statement that failed, read for its own errors; empty: there is none.
Suite Parser::parse_lost_block() {
  Suite suite;
  if (token().kind != TokenKind::kIndent) return suite;
  ++at_;
  while (!at_end() && token().kind != TokenKind::kDedent) parse_statement(suite);
  if (token().kind == TokenKind::kDedent) ++at_;
  return suite;
}

// Goes on after a failed statement: what it would have bound, changed or returned is poison, an indented block
// below it is still read for its own errors.
void Parser::recover_statement(size_t begin, Suite& out) {
  const Token& first = tokens_[begin];
  auto poison = std::make_unique<Statement>();
  poison->kind = StatementKind::kUnsupported;
  poison->span = poison->keyword_span = first.span;
  if (first.text == "def" && tokens_[begin + 1].kind == TokenKind::kName) {
    poison->kind = StatementKind::kFunction;
    poison->text = tokens_[begin + 1].text;
    poison->has_syntax_error = true;
  } else if (first.text == "return") {
    poison->kind = StatementKind::kReturn;
    poison->value = make(ExpressionKind::kError, first.span);
  } else {
    poison->targets = lost_names(begin);
  }
  if (at_ == begin) ++at_;
  // A block may have begun already.
  const bool in_block = at_ > begin && (tokens_[at_ - 1].kind == TokenKind::kNewline ||
                                        tokens_[at_ - 1].kind == TokenKind::kIndent);
  if (!in_block) skip_line();
  Suite body = parse_lost_block(), orelse;
  while (is("else") || is("elif") || is("except") || is("finally")) {
    skip_line();
    Suite more = parse_lost_block();
    std::ranges::move(more, std::back_inserter(orelse));
  }
  if (poison->kind == StatementKind::kUnsupported) {
    poison->body = std::move(body);
    poison->orelse = std::move(orelse);
  }
  out.push_back(std::move(poison));
}

void Parser::parse_simple_line(Suite& out) {
  for (;;) {
    out.push_back(parse_simple());
    if (!accept(";")) break;
    if (token().kind == TokenKind::kNewline) break;
  }
  if (token().kind == TokenKind::kNewline) {
    ++at_;
  } else if (!at_end()) {
    const StatementPtr& last = out.back();
    if (last->kind != StatementKind::kExpression || !last->value || !parse_foreign_statement(*last->value))
      fail_expected("the end of the statement");
    out.pop_back();  // what was told is no expression of its own
  }
}

// `i++` at the end of a statement or of an element. (`a ++ b` is Python: a plus plus b.)
bool Parser::is_increment() const {
  if (!is("+") && !is("-")) return false;
  if (!is(token().text, 1) || token().span.end != token(1).span.begin) return false;
  const Token& after = token(2);
  return after.kind == TokenKind::kNewline || after.kind == TokenKind::kEnd ||
         (after.kind == TokenKind::kOperator &&
          std::string_view(";,)]}").find(after.text[0]) != std::string_view::npos);
}

// What follows an expression that was read, where people of other languages and of Python 2 go on.
// True: it was told, and the line is left.
bool Parser::parse_foreign_statement(const Expression& value) {
  if (is_increment()) {
    const Span span = cover(token().span, token(1).span);
    const std::string op(token().text),
        what(text_.substr(value.span.begin, value.span.end - value.span.begin));
    report_unsupported(span, "`" + op + op + "`", "write `" + what + " " + op + "= 1`",
                       {{cover(value.span, span), what + " " + op + "= 1", true}});
    skip_line();
    return true;
  }
  const bool is_call = value.kind == ExpressionKind::kName && (value.text == "print" || value.text == "exec");
  if (is_call && at_expression_start()) {
    report_unsupported(value.span, "`" + value.text + "` without brackets", "write `" + value.text + "(…)`");
    skip_line();
    return true;
  }
  return false;
}

// ---- simple statements ----

StatementPtr Parser::parse_simple() {
  const Token first = token();
  if (first.kind != TokenKind::kKeyword) return parse_expression_statement();
  std::string_view word = first.text;
  StatementPtr statement;
  if (word == "pass" || word == "break" || word == "continue") {
    StatementKind kind = word == "pass"    ? StatementKind::kPass
                         : word == "break" ? StatementKind::kBreak
                                           : StatementKind::kContinue;
    statement = make_statement(kind, first);
    ++at_;
  } else if (word == "return") {
    statement = make_statement(StatementKind::kReturn, first);
    ++at_;
    if (at_expression_start() || is("*")) statement->value = parse_expression_list(true, "after `return`");
  } else if (word == "yield" && !in_main_guard_) {
    statement = parse_yield();
  } else if (word == "raise") {
    statement = make_statement(StatementKind::kRaise, first);
    ++at_;
    if (at_expression_start()) statement->value = parse_expression();
    if (is(",") && statement->value) {
      refuse_old_raise(*statement->value);
      statement->value = make(ExpressionKind::kError, since(first));  // told; it says nothing more
    }
    if (accept("from")) parse_expression();
  } else if (word == "assert") {
    statement = make_statement(StatementKind::kAssert, first);
    ++at_;
    statement->value = parse_expression();
    warn_asserted_tuple(*statement->value);
    if (accept(",")) statement->message = parse_expression();
  } else if (word == "import") {
    statement = parse_import();
  } else if (word == "from") {
    statement = parse_import_from();
  } else if (word == "del") {
    statement = parse_unsupported_line(
        "`del`", "names end with their function; use `xs.pop(i)` or build a new list or dict");
  } else if (word == "global" || word == "nonlocal") {
    statement = parse_unsupported_line("`" + std::string(word) + "`",
                                       "return the value and assign it where the function is called");
  } else {
    return parse_expression_statement();
  }
  statement->span = since(first);
  return statement;
}

// `assert (x, "message")`.
void Parser::warn_asserted_tuple(const Expression& value) {
  if (value.kind != ExpressionKind::kTuple || value.operands.empty()) return;
  Diagnostic warning = diagnose(Message::kAssertsTuple, value.span);
  const Span inside = cover(value.operands.front()->span, value.operands.back()->span);
  warning.help = "leave the brackets out: `assert " + std::string(written(inside)) + "`";
  if (value.operands.size() == 2) warning.edits.push_back({value.span, std::string(written(inside)), false});
  diagnostics_.push_back(std::move(warning));
}

// `raise ValueError, "text"` of Python 2, read as it is meant.
void Parser::refuse_old_raise(const Expression& kind) {
  const Token comma = tokens_[at_++];
  const ExpressionPtr text = parse_expression();
  const std::string meant = std::string(written(kind.span)) + "(" + std::string(written(text->span)) + ")";
  report_translated(comma.span, "`,` behind an exception", "write `raise " + meant + "`",
                    {{cover(kind.span, text->span), meant, true}});
}

StatementPtr Parser::parse_expression_statement() {
  const size_t begin = at_;
  const Token first = token();
  auto statement = make_statement(StatementKind::kExpression, first);
  if (parse_arrow_assignment(*statement)) return statement;
  ExpressionPtr value = parse_expression_list(true, "");
  if (is(":") && value->kind != ExpressionKind::kTuple) {
    statement->kind = StatementKind::kAnnAssign;
    check_target(*value, "annotate");
    if (value->kind == ExpressionKind::kList) fail(Message::kBadTarget, value->span, {"annotate", "a list"});
    ++at_;
    statement->targets.push_back(std::move(value));
    statement->annotation = parse_expression();
    if (accept("=")) statement->value = parse_expression_list(true, "after `=`");
  } else if (is("=")) {
    statement->kind = StatementKind::kAssign;
    while (accept("=")) {
      mend_dashes(*value);
      check_target(*value, "assign to");
      statement->targets.push_back(std::move(value));
      value = parse_expression_list(true, "after `=`");
    }
    if (value->kind == ExpressionKind::kStarred) fail(Message::kStarredAlone, value->span);
    statement->value = std::move(value);
  } else if (std::find(kAugmented.begin(), kAugmented.end(), token().text) != kAugmented.end() &&
             token().kind == TokenKind::kOperator) {
    statement->kind = StatementKind::kAugAssign;
    check_target(*value, "assign to");
    if (value->kind == ExpressionKind::kTuple || value->kind == ExpressionKind::kList)
      fail(Message::kBadTarget, value->span, {"update", "several values at once"});
    statement->keyword_span = token().span;
    statement->text = tokens_[at_++].text;
    statement->targets.push_back(std::move(value));
    statement->value = parse_expression_list(false, "after `" + statement->text + "`");
  } else {
    if (value->kind == ExpressionKind::kStarred) fail(Message::kStarredAlone, value->span);
    // `xs.append(1 +)`: nobody knows the list any more.
    if (has_lost_argument(*value) && !lost_names(begin).empty()) throw SyntaxError{};
    statement->value = std::move(value);
  }
  statement->span = since(first);
  return statement;
}

bool Parser::has_lost_argument(const Expression& call) {
  return call.kind == ExpressionKind::kCall &&
         std::ranges::any_of(call.arguments, [](const Argument& argument) {
           return argument.value->kind == ExpressionKind::kError;
         });
}

// `my-image = …` binds `my_image`.
void Parser::mend_dashes(Expression& target) {
  if (target.kind != ExpressionKind::kBinary) return;
  std::string name = name_with_dashes(target);
  if (name.empty()) return;
  report(Message::kBadTarget, target.span, {"assign to", "an expression"});
  diagnostics_.back().help = "a name has no `-`: write `" + name + "`";
  diagnostics_.back().edits = {{target.span, name, false}};
  target.kind = ExpressionKind::kName;
  target.text = std::move(name);
  target.operands.clear();
}

// Whether an expression may stand on the left of `=`.
void Parser::check_target(const Expression& target, std::string_view action, bool starred_allowed) {
  switch (target.kind) {
    case ExpressionKind::kName:
    case ExpressionKind::kAttribute:
    case ExpressionKind::kSubscript:
    case ExpressionKind::kError:
      return;
    case ExpressionKind::kTuple:
    case ExpressionKind::kList: {
      const Expression* starred = nullptr;
      for (const ExpressionPtr& element : target.operands) {
        check_target(*element, action, true);
        if (element->kind != ExpressionKind::kStarred) continue;
        if (starred) fail(Message::kTwoStars, element->span, {}, {starred->span, "the first one"});
        starred = element.get();
      }
      return;
    }
    case ExpressionKind::kStarred:
      if (!starred_allowed) fail(Message::kStarredAlone, target.span);
      return check_target(*target.operands[0], action, false);
    case ExpressionKind::kCall:
      report(Message::kBadTarget, target.span, {std::string(action), "the result of a call"});
      if (target.operands[0]->kind == ExpressionKind::kName &&
          std::ranges::all_of(target.arguments,
                              [](const Argument& a) { return a.value->kind == ExpressionKind::kName; }))
        diagnostics_.back().help = "a function is defined by `def " + std::string(written(target.span)) +
                                   ":` and `return …`; elements are taken in brackets: `xs[0]`";
      throw SyntaxError{};
    case ExpressionKind::kCompare:
    case ExpressionKind::kBinary:
    case ExpressionKind::kUnary:
    case ExpressionKind::kBoolOp:
      fail(Message::kBadTarget, target.span, {std::string(action), "an expression"});
    default:
      fail(Message::kBadTarget, target.span, {std::string(action), "a value"});
  }
}

// ---- entries ----

std::unique_ptr<Module> parse_module(uint32_t file, std::string_view text,
                                     std::vector<Diagnostic>& diagnostics, MemoryBound bound) {
  std::vector<Diagnostic> own;
  std::vector<Token> tokens = lex(file, text, own);
  std::unique_ptr<Module> module = Parser(file, text, std::move(tokens), own, bound).parse_file();
  // In the order of the text: the lexer's and the parser's messages.
  std::vector<std::pair<uint32_t, size_t>> order;
  for (size_t i = 0; i < own.size(); ++i) order.emplace_back(own[i].span.begin, i);
  std::sort(order.begin(), order.end());
  for (const auto& [begin, i] : order) diagnostics.push_back(std::move(own[i]));
  return module;
}

ExpressionPtr parse_single_expression(uint32_t file, std::string_view text,
                                      std::vector<Diagnostic>& diagnostics) {
  std::vector<Token> tokens = lex_expression(file, text, 0, static_cast<uint32_t>(text.size()), diagnostics);
  return Parser(file, text, std::move(tokens), diagnostics).parse_only_expression();
}

}  // namespace galatea::dsl
