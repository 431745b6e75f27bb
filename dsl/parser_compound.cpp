// Compound statements: those with blocks, and parameter lists. In: tokens. Out: the statements of ast.h.
#include <algorithm>
#include <utility>

#include "dsl/host_modules.h"
#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

bool is_main_guard(const Expression& condition) {
  auto names_module = [](const ExpressionPtr& e) {
    return e && e->kind == ExpressionKind::kName && e->text == "__name__";
  };
  return condition.kind == ExpressionKind::kCompare &&
         std::any_of(condition.operands.begin(), condition.operands.end(), names_module);
}

}  // namespace

// The statement that a keyword begins; nullptr: a simple statement or an expression.
StatementPtr Parser::parse_compound(std::string_view keyword) {
  if (keyword == "if") return parse_if();
  if (keyword == "for") return parse_for();
  if (keyword == "while") return parse_while();
  if (keyword == "def") return parse_function({}, token().span);
  if (keyword == "class") return parse_unsupported_block("`class`", advice_for_class());
  if (keyword == "with") {
    return parse_unsupported_block("`with`", advice_for_with());
  }
  if (keyword == "try") return parse_try();
  if (keyword == "async")
    return parse_unsupported_block("`async`",
                                   {"a pipeline is evaluated before it runs; use plain `def` and `for`"});
  if (keyword == "elif" || keyword == "else")
    fail(Message::kStrayClause, token().span, {std::string(keyword), "an `if`, `for` or `while`"});
  if (keyword == "except" || keyword == "finally")
    fail(Message::kStrayClause, token().span, {std::string(keyword), "a `try`"});
  return nullptr;
}

// `with pipe:` and `with Pipeline(…):` build a pipeline; files are opened, and all else is of the host program.
Advice Parser::advice_for_with() const {
  if (token(1).text == "open") return {python_name_advice("open"), in_plain_function_};
  const bool is_name = token(1).kind == TokenKind::kName && (is(":", 2) || is("as", 2));
  if (is_name || token(1).text == "Pipeline" || token(3).text == "Pipeline")
    return {"write a function decorated with `@pipeline_def` and return its outputs"};
  return {
      "a pipeline has no state to enter: write the lines of the block without it, or leave them to the "
      "host program",
      in_plain_function_};
}

// What `if` and `while` ask; `=` in place of `==` is told and read as that.
ExpressionPtr Parser::parse_condition() {
  const Token first = token();
  ExpressionPtr value = parse_named();
  if (!is("=")) return value;
  const Token equals = tokens_[at_++];
  report_translated(equals.span, "`=` in a condition", "write `==` to compare", {{equals.span, "==", false}});
  ExpressionPtr comparison = make(ExpressionKind::kCompare, first.span);
  comparison->text_span = equals.span;
  comparison->ops.emplace_back("==");
  comparison->operands.push_back(std::move(value));
  comparison->operands.push_back(parse_expression());
  comparison->span = since(first);
  return comparison;
}

// `elif`, or what other languages write for it: told, and read as that.
bool Parser::accept_elif() {
  if (is("elif")) return true;  // it begins the inner statement
  const Token& t = token();
  const bool one_word =
      t.kind == TokenKind::kName && (t.text == "elseif" || t.text == "elsif") && !is("=", 1) && !is(".", 1);
  if (!one_word && !(is("else") && is("if", 1))) return false;
  const Span span = one_word ? t.span : cover(t.span, token(1).span);
  report_translated(span, one_word ? "`" + std::string(t.text) + "`" : "`else if`", "write `elif`",
                    {{span, "elif", true}});
  if (!one_word) ++at_;
  return true;
}

// `: statement; …` or `:` and an indented block.
Suite Parser::parse_block(std::string_view owner, bool colon_is_told) {
  Suite suite;
  const bool lacks_colon = token().kind == TokenKind::kNewline && token(1).kind == TokenKind::kIndent;
  if (lacks_colon && colon_is_told) {
    // the edit of what was told writes it
  } else if (lacks_colon && !was_mended_) {
    report_read_as_meant(end_of_previous(), "`:` after " + std::string(owner));
  } else {
    expect(":", "after " + std::string(owner));
  }
  if (token().kind != TokenKind::kNewline) {
    parse_simple_line(suite);
    return suite;
  }
  ++at_;
  if (token().kind != TokenKind::kIndent) {
    Span colon = tokens_[at_ - 2].span;
    report(Message::kExpectedBlock, colon, {std::string(owner)});
    const bool begins_other = token().kind != TokenKind::kName && !is("return") && !is("for") && !is("if");
    if (begins_other) throw SyntaxError{};
    diagnostics_.back().help = "indent the lines that belong to it by four blanks, or write at least `pass`";
    take_unindented(suite, owner == "the function's header");
    return suite;
  }
  ++at_;
  ++block_depth_;
  const size_t told = diagnostics_.size();
  while (!at_end() && token().kind != TokenKind::kDedent) parse_statement(suite);
  --block_depth_;
  if (diagnostics_.size() == told) warn_unreachable(suite);
  if (token().kind == TokenKind::kDedent) ++at_;
  return suite;
}

// What stands behind a statement that leaves its block, once for all of it.
void Parser::warn_unreachable(const Suite& suite) {
  const auto leaves = [](const StatementPtr& s) {
    return s->kind == StatementKind::kReturn || s->kind == StatementKind::kRaise ||
           s->kind == StatementKind::kBreak || s->kind == StatementKind::kContinue;
  };
  const auto last = std::ranges::find_if(suite, leaves);
  if (in_main_guard_ || last == suite.end() || last + 1 == suite.end()) return;
  // Outside of a loop, that is told of the statement itself.
  const bool leaves_loop =
      (*last)->kind == StatementKind::kBreak || (*last)->kind == StatementKind::kContinue;
  if (leaves_loop && loop_depth_ == 0) return;
  const Statement& rest = **(last + 1);
  const Span keyword = (*last)->keyword_span;
  Diagnostic warning = diagnose(Message::kUnreachable, rest.body.empty() ? rest.span : rest.keyword_span);
  warning.labels.push_back(
      {keyword, "`" + std::string(text_.substr(keyword.begin, keyword.end - keyword.begin)) +
                    "` leaves the block here"});
  diagnostics_.push_back(std::move(warning));
}

// The lines below a header that should be indented: of a function up to its `return` or an empty line, else one.
void Parser::take_unindented(Suite& suite, bool is_function) {
  const auto ends = [&] {
    const std::string_view gap = written({file_, end_of_previous().begin, token().span.begin});
    return at_end() || token().kind == TokenKind::kDedent || is("def") || is("class") || is("@") ||
           gap.contains("\n") || gap.contains("\r");
  };
  DepthGuard depth(*this);
  do {
    if (token().kind == TokenKind::kIndent)
      std::ranges::move(parse_lost_block(), std::back_inserter(suite));
    else
      parse_statement(suite);
  } while (is_function && !ends() && (suite.empty() || suite.back()->kind != StatementKind::kReturn));
}

StatementPtr Parser::parse_if() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kIf, first);
  statement->value = parse_condition();
  bool guard = in_main_guard_;
  if (block_depth_ == 0 && is_main_guard(*statement->value)) in_main_guard_ = true;
  statement->body = parse_block("the condition of `" + std::string(first.text) + "`");
  in_main_guard_ = guard;
  if (accept_elif()) {
    DepthGuard depth(*this);
    statement->orelse.push_back(parse_if());
  } else if (accept("else")) {
    statement->orelse = parse_block("`else`");
  }
  statement->span = since(first);
  return statement;
}

StatementPtr Parser::parse_while() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kWhile, first);
  statement->value = parse_condition();
  ++loop_depth_;
  statement->body = parse_block("the condition of `while`");
  --loop_depth_;
  if (accept("else")) statement->orelse = parse_block("`else`");
  statement->span = since(first);
  return statement;
}

StatementPtr Parser::parse_for() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kFor, first);
  refuse_loop_in_brackets();
  statement->targets.push_back(parse_target_list());
  expect("in", "after the loop variable");
  statement->value = parse_expression_list(true, "after `in`");
  const bool is_counted = accept_counted_range(*statement->value);
  if (is_counted) statement->value = make(ExpressionKind::kError, statement->value->span);
  ++loop_depth_;
  statement->body = parse_block("the header of `for`", is_counted);
  --loop_depth_;
  if (accept("else")) statement->orelse = parse_block("`else`");
  statement->span = since(first);
  return statement;
}

StatementPtr Parser::parse_decorated() {
  const Token first = token();
  std::vector<ExpressionPtr> decorators;
  while (accept("@")) {
    decorators.push_back(parse_named());
    if (token().kind != TokenKind::kNewline) fail_expected("the end of the line after the decorator");
    ++at_;
  }
  if (is("class") || is("async")) return parse_compound(token().text);
  if (token().kind == TokenKind::kName && is("(", 1)) {
    report_translated(token().span, "a function without `def`", "write `def` before its name",
                      {{{token().span.file, token().span.begin, token().span.begin}, "def ", true}});
    --at_;  // which parse_function() takes for `def`
  } else if (!is("def")) {
    fail_expected("`def` after the decorator");
  }
  return parse_function(std::move(decorators), first.span);
}

StatementPtr Parser::parse_function(std::vector<ExpressionPtr> decorators, Span begin) {
  int errors_before = num_errors_;
  ++at_;
  const Token name = expect_name("the function's name after `def`");
  auto statement = make_statement(StatementKind::kFunction, name);
  statement->text = name.text;
  statement->decorators = std::move(decorators);
  size_t functions = ordinals_.size();
  const bool was_plain = in_plain_function_;
  const int loops = std::exchange(loop_depth_, 0);
  try {
    expect("(", "after the function's name");
    statement->parameters = parse_parameters(")", true);
    expect(")", "after the parameters");
    if (accept("->")) statement->returns = parse_expression();
    ordinals_.emplace_back();
    bool guard = in_main_guard_;
    in_plain_function_ = statement->decorators.empty();
    statement->body = parse_block("the function's header");
    in_main_guard_ = guard;
    in_plain_function_ = was_plain;
    ordinals_.pop_back();
  } catch (const SyntaxError&) {
    // The header is wrong: the body is still read for its own errors; the name is bound to poison.
    ordinals_.resize(functions);
    in_plain_function_ = was_plain;
    Suite ignored;
    recover_statement(at_ > 0 ? at_ - 1 : 0, ignored);
  }
  loop_depth_ = loops;
  if (!statement->body.empty()) {
    const Statement& doc = *statement->body.front();
    if (doc.kind == StatementKind::kExpression && doc.value->kind == ExpressionKind::kString)
      statement->docstring = doc.value->text;
  }
  statement->has_syntax_error = num_errors_ > errors_before;
  statement->span = since(begin);
  return statement;
}

// A parameter list up to `closer`, which stays.
std::vector<Parameter> Parser::parse_parameters(std::string_view closer, bool annotated) {
  std::vector<Parameter> parameters;
  ParameterKind kind = ParameterKind::kNormal;
  bool bare_star = false;
  while (!is(closer)) {
    Parameter parameter;
    parameter.kind = kind;
    if (is("/")) {
      if (parameters.empty() || kind != ParameterKind::kNormal ||
          parameters.front().kind == ParameterKind::kPositionalOnly)
        fail_expected("a parameter");
      for (Parameter& earlier : parameters) earlier.kind = ParameterKind::kPositionalOnly;
      ++at_;
      if (!accept(",")) break;
      continue;
    }
    bool star = false;
    if (accept("*")) {
      if (kind != ParameterKind::kNormal) {
        const Span span = tokens_[at_ - 1].span;
        report_unsupported(span, "a second `*` among the parameters",
                           "keep one: `*` alone, or `*args`, which takes what is given by position");
        throw SyntaxError{};
      }
      kind = ParameterKind::kKeywordOnly;
      if (is(",")) {
        bare_star = true;
        ++at_;
        if (is(closer)) fail_expected("a parameter after `*,`");
        continue;
      }
      if (is(closer)) fail_expected("a parameter after `*`");
      parameter.kind = ParameterKind::kVarArgs;
      star = true;
    } else if (accept("**")) {
      parameter.kind = ParameterKind::kKwArgs;
      star = true;
    }
    const Token name = expect_name("a parameter");
    parameter.name = name.text;
    parameter.span = name.span;
    if (annotated && accept(":")) parameter.annotation = parse_expression();
    if (!star && accept("=")) parameter.default_value = parse_expression();
    bool last = parameter.kind == ParameterKind::kKwArgs;
    if (parameter.kind == ParameterKind::kKeywordOnly) bare_star = false;
    parameters.push_back(std::move(parameter));
    if (!accept(",")) break;
    if (last && !is(closer)) fail_expected("the end of the parameters after `**`");
  }
  if (bare_star) fail_expected("a parameter after `*,`");
  check_parameters(parameters);
  return parameters;
}

void Parser::check_parameters(const std::vector<Parameter>& parameters) {
  const Parameter* with_default = nullptr;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    for (size_t k = 0; k < i; ++k) {
      if (parameters[k].name == p.name)
        fail(Message::kDuplicateParameter, p.span, {p.name}, {parameters[k].span, "the first one"});
    }
    if (p.kind != ParameterKind::kNormal && p.kind != ParameterKind::kPositionalOnly) continue;
    if (p.default_value)
      with_default = &p;
    else if (with_default)
      fail(Message::kDefaultOrder, p.span, {p.name}, {with_default->span, "this one has a default"});
  }
}

}  // namespace galatea::dsl
