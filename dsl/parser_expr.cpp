// Expressions. In: tokens. Out: the expressions of ast.h. Python's grammar, by recursive descent.
#include <algorithm>
#include <array>

#include "dsl/parser.h"
#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

// Precedence of a binary operator; all associate to the left. -1: it is none.
int binary_level(std::string_view op) {
  switch (op[0]) {
    case '|':
      return op.size() == 1 ? 0 : -1;
    case '^':
      return op.size() == 1 ? 1 : -1;
    case '&':
      return op.size() == 1 ? 2 : -1;
    case '<':
    case '>':
      return op == "<<" || op == ">>" ? 3 : -1;
    case '+':
    case '-':
      return op.size() == 1 ? 4 : -1;
    case '*':
    case '%':
    case '@':
      return op.size() == 1 ? 5 : -1;
    case '/':
      return op.size() == 1 || op == "//" ? 5 : -1;
    default:
      return -1;
  }
}

}  // namespace

// Past the bound nothing can be made any more: parsing ends with one report.
void Parser::count_bytes(size_t bytes) {
  bytes_ += bytes;
  if (bound_.used <= bound_.most && bytes_ <= bound_.most - bound_.used) return;
  if (!too_large_)
    report(Message::kTooMuchMemory, token().span, {bytes_text(static_cast<int64_t>(bound_.most))});
  too_large_ = true;
  throw SyntaxError{};
}

ExpressionPtr Parser::make(ExpressionKind kind, Span span, std::string text) {
  count_bytes(sizeof(Expression) + text.size() + sizeof(void*) * 3);
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->span = span;
  expression->text = std::move(text);
  return expression;
}

bool Parser::at_expression_start() const {
  const Token& t = token();
  switch (t.kind) {
    case TokenKind::kName:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kString:
    case TokenKind::kError:
      return true;
    case TokenKind::kKeyword: {
      constexpr std::array kStarts = {"None", "True", "False", "not", "lambda", "await", "yield"};
      return std::find(kStarts.begin(), kStarts.end(), t.text) != kStarts.end();
    }
    case TokenKind::kOperator: {
      constexpr std::array kStarts = {"(", "[", "{", "-", "+", "~", "..."};
      return std::find(kStarts.begin(), kStarts.end(), t.text) != kStarts.end();
    }
    default:
      return false;
  }
}

ExpressionPtr Parser::parse_only_expression() {
  try {
    ExpressionPtr expression = parse_expression_list(false, "");
    if (!at_end()) fail_expected("the end of the value");
    return expression;
  } catch (const SyntaxError&) {
    return nullptr;
  }
}

// `a`, `a, b`, `*a, b`: a tuple if there is a comma.
ExpressionPtr Parser::parse_expression_list(bool star_allowed, std::string_view context) {
  const Token first = token();
  if (is("yield")) {
    report_unsupported(first.span, "`yield`", "return a list or a tuple instead");
    if (!in_main_guard_) throw SyntaxError{};
    ++at_;
    accept("from");
    if (at_expression_start()) parse_expression_list(star_allowed, context);
    return make(ExpressionKind::kError, since(first));
  }
  if (!at_expression_start() && !is("*"))
    fail_expected("an expression" + (context.empty() ? "" : " " + std::string(context)));
  // `:=` needs brackets here.
  auto element = [&] { return is("*") ? parse_star_or_named() : parse_expression(); };
  ExpressionPtr value = element();
  if (!star_allowed && value->kind == ExpressionKind::kStarred && !is(","))
    fail(Message::kStarredAlone, value->span);
  if (!is(",")) return value;
  ExpressionPtr tuple = make(ExpressionKind::kTuple, first.span);
  tuple->operands.push_back(std::move(value));
  while (accept(",")) {
    if (!at_expression_start() && !is("*")) break;
    tuple->operands.push_back(element());
  }
  tuple->span = since(first);
  return tuple;
}

ExpressionPtr Parser::parse_target_list() {
  const Token first = token();
  auto element = [&] {
    const Token star = token();
    if (!accept("*")) return parse_primary();
    ExpressionPtr starred = make(ExpressionKind::kStarred, star.span);
    starred->operands.push_back(parse_primary());
    starred->span = since(star);
    return starred;
  };
  ExpressionPtr target = element();
  if (is(",")) {
    ExpressionPtr tuple = make(ExpressionKind::kTuple, first.span);
    tuple->operands.push_back(std::move(target));
    while (accept(",")) {
      if (is("in")) break;
      tuple->operands.push_back(element());
    }
    tuple->span = since(first);
    target = std::move(tuple);
  }
  check_target(*target, "assign to");
  return target;
}

ExpressionPtr Parser::parse_star_or_named() {
  const Token first = token();
  if (!accept_spread("*")) return parse_named();
  ExpressionPtr starred = make(ExpressionKind::kStarred, first.span);
  starred->operands.push_back(parse_binary(0));
  starred->span = since(first);
  return starred;
}

ExpressionPtr Parser::parse_named() {
  const Token first = token();
  if (first.kind == TokenKind::kName && is(":=", 1)) {
    at_ += 2;
    ExpressionPtr named = make(ExpressionKind::kNamed, first.span, std::string(first.text));
    named->text_span = first.span;
    named->operands.push_back(parse_expression());
    named->span = since(first);
    return named;
  }
  return parse_expression();
}

ExpressionPtr Parser::parse_expression() {
  DepthGuard guard(*this);
  const Token first = token();
  if (is("lambda")) return parse_lambda();
  if (const size_t parameters = before_arrow()) return parse_arrow_function(parameters);
  ExpressionPtr value = parse_or();
  if (is("?")) return parse_question(first, std::move(value));
  if (!is("if")) return value;
  Span keyword = tokens_[at_++].span;
  ExpressionPtr conditional = make(ExpressionKind::kConditional, first.span);
  conditional->text_span = keyword;
  conditional->operands.push_back(std::move(value));
  conditional->operands.push_back(parse_or());
  expect("else", "in `value if condition else value`");
  conditional->operands.push_back(parse_expression());
  conditional->span = since(first);
  return conditional;
}

// `condition ? value : value` of C and its heirs, read as what it means.
ExpressionPtr Parser::parse_question(const Token& first, ExpressionPtr condition) {
  const Token question = tokens_[at_++];
  ExpressionPtr conditional = make(ExpressionKind::kConditional, first.span);
  conditional->text_span = question.span;
  ExpressionPtr value = parse_expression();
  const auto text = [&](const ExpressionPtr& e) {
    return std::string(text_.substr(e->span.begin, e->span.end - e->span.begin));
  };
  std::string advice = "write `value if condition else value`";
  std::vector<Edit> edits;
  ExpressionPtr otherwise;
  if (accept(":")) {
    otherwise = parse_expression();
    const std::string written = text(value) + " if " + text(condition) + " else " + text(otherwise);
    advice = "write `" + written + "`";
    edits.push_back({since(first), written, true});
  }
  report_unsupported(question.span, "`?`", std::move(advice), std::move(edits));
  if (!otherwise) throw SyntaxError{};
  conditional->operands.push_back(std::move(value));
  conditional->operands.push_back(std::move(condition));
  conditional->operands.push_back(std::move(otherwise));
  conditional->span = since(first);
  return conditional;
}

ExpressionPtr Parser::parse_lambda() {
  const Token first = tokens_[at_++];
  ExpressionPtr lambda = make(ExpressionKind::kLambda, first.span);
  lambda->text_span = first.span;
  lambda->parameters = parse_parameters(":", false);
  expect(":", "after the parameters of `lambda`");
  parse_body(*lambda);
  return lambda;
}

void Parser::parse_body(Expression& lambda) {
  ordinals_.emplace_back();
  lambda.operands.push_back(parse_expression());
  ordinals_.pop_back();
  lambda.span = since(lambda.span);
}

ExpressionPtr Parser::parse_or() {
  const Token first = token();
  ExpressionPtr value = parse_and();
  if (!is("or")) return value;
  ExpressionPtr all = make(ExpressionKind::kBoolOp, first.span, "or");
  all->text_span = token().span;
  all->operands.push_back(std::move(value));
  for (int length = 0; accept("or"); check_chain(++length)) all->operands.push_back(parse_and());
  all->span = since(first);
  return all;
}

ExpressionPtr Parser::parse_and() {
  const Token first = token();
  ExpressionPtr value = parse_not();
  if (!is("and")) return value;
  ExpressionPtr all = make(ExpressionKind::kBoolOp, first.span, "and");
  all->text_span = token().span;
  all->operands.push_back(std::move(value));
  for (int length = 0; accept("and"); check_chain(++length)) all->operands.push_back(parse_not());
  all->span = since(first);
  return all;
}

ExpressionPtr Parser::parse_not() {
  const Token first = token();
  if (!accept("not")) return parse_comparison();
  DepthGuard guard(*this);
  ExpressionPtr negation = make(ExpressionKind::kUnary, first.span, "not");
  negation->text_span = first.span;
  negation->operands.push_back(parse_not());
  negation->span = since(first);
  return negation;
}

ExpressionPtr Parser::parse_comparison() {
  const Token first = token();
  ExpressionPtr value = parse_binary(0);
  ExpressionPtr comparison;
  constexpr std::array kComparisons = {"<", ">", "==", ">=", "<=", "!=", "in", "not", "is"};
  for (;;) {
    tell_turned_comparison(comparison ? *comparison->operands.back() : *value);
    const Token op = token();
    bool is_comparison = (op.kind == TokenKind::kOperator || op.kind == TokenKind::kKeyword) &&
                         std::string_view("<>=!in").find(op.text[0]) != std::string_view::npos &&
                         std::find(kComparisons.begin(), kComparisons.end(), op.text) != kComparisons.end();
    if (!is_comparison || (op.text == "not" && !is("in", 1))) break;
    std::string text(op.text);
    ++at_;
    if (text == "not")
      ++at_, text = "not in";
    else if (text == "is" && accept("not"))
      text = "is not";
    if (!comparison) {
      comparison = make(ExpressionKind::kCompare, first.span);
      comparison->text_span = since(op);
      comparison->operands.push_back(std::move(value));
    }
    comparison->ops.push_back(std::move(text));
    comparison->operands.push_back(parse_binary(0));
    check_chain(static_cast<int>(comparison->ops.size()));
  }
  if (!comparison) return value;
  comparison->span = since(first);
  return comparison;
}

// Operators of `least` precedence and above. What follows an operand binds no tighter than what stands before
// it, so the levels of the operators that are met here only fall.
ExpressionPtr Parser::parse_binary(int least) {
  const Token first = token();
  ExpressionPtr value = parse_unary();
  int length = 0;  // of the chain of one level
  for (int before = -1;;) {
    const int level = token().kind == TokenKind::kOperator ? binary_level(token().text) : -1;
    if (level < 0 || level < least) return value;
    if (level != before) length = 0;
    before = level;
    if (is_increment()) return value;
    const Token op = tokens_[at_++];
    check_chain(++length);
    ExpressionPtr binary = make(ExpressionKind::kBinary, first.span, std::string(op.text));
    binary->text_span = op.span;
    binary->operands.push_back(std::move(value));
    binary->operands.push_back(parse_binary(level + 1));
    binary->span = since(first);
    value = std::move(binary);
  }
}

ExpressionPtr Parser::parse_unary() {
  const Token first = token();
  if (!is("-") && !is("+") && !is("~")) return parse_power();
  DepthGuard guard(*this);
  ++at_;
  ExpressionPtr unary = make(ExpressionKind::kUnary, first.span, std::string(first.text));
  unary->text_span = first.span;
  unary->operands.push_back(parse_unary());
  unary->span = since(first);
  return unary;
}

ExpressionPtr Parser::parse_power() {
  const Token first = token();
  if (is("await")) {
    report_unsupported(first.span, "`await`",
                       "a pipeline is evaluated before it runs; call the function without `await`");
    if (!in_main_guard_) throw SyntaxError{};
    ++at_;
  }
  ExpressionPtr base = parse_primary();
  if (!is("**")) return base;
  DepthGuard guard(*this);
  ExpressionPtr power = make(ExpressionKind::kBinary, first.span, "**");
  power->text_span = tokens_[at_++].span;
  power->operands.push_back(std::move(base));
  power->operands.push_back(parse_unary());
  power->span = since(first);
  return power;
}

ExpressionPtr Parser::parse_primary() {
  ExpressionPtr value = parse_atom();
  for (int length = 0;; check_chain(++length)) {
    if (is("(")) {
      value = parse_call(std::move(value));
    } else if (is("[")) {
      value = parse_subscript(std::move(value));
    } else if (accept(".") || accept_question_member()) {
      const Token name = expect_name("an attribute name after `.`");
      ExpressionPtr attribute =
          make(ExpressionKind::kAttribute, cover(value->span, name.span), std::string(name.text));
      attribute->text_span = name.span;
      attribute->operands.push_back(std::move(value));
      value = std::move(attribute);
    } else {
      return value;
    }
  }
}

ExpressionPtr Parser::parse_atom() {
  Token t = token();
  switch (t.kind) {
    case TokenKind::kName:
      ++at_;
      for (; t.text == "new" && token().kind == TokenKind::kName; t = tokens_[at_++])
        report_translated(t.span, "`new`", "call it without `new`",
                          {{{file_, t.span.begin, token().span.begin}, "", true}});
      return make(ExpressionKind::kName, t.span, std::string(t.text));
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return parse_number();
    case TokenKind::kString:
      return parse_strings();
    case TokenKind::kKeyword:
      if (t.text == "None") return ++at_, make(ExpressionKind::kNone, t.span);
      if (t.text == "True") return ++at_, make(ExpressionKind::kTrue, t.span);
      if (t.text == "False") return ++at_, make(ExpressionKind::kFalse, t.span);
      break;
    case TokenKind::kOperator:
      if (t.text == "(") return parse_parenthesized();
      if (t.text == "[") return parse_list();
      if (t.text == "{") return parse_dict_or_set();
      if (t.text == "...") return ++at_, make(ExpressionKind::kEllipsis, t.span);
      break;
    default:
      break;
  }
  fail_expected("an expression");
}

ExpressionPtr Parser::parse_number() {
  const Token t = tokens_[at_++];
  std::string digits;
  std::copy_if(t.text.begin(), t.text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  return make(t.kind == TokenKind::kInteger ? ExpressionKind::kInteger : ExpressionKind::kFloat, t.span,
              digits);
}

// ---- brackets ----

// After an error inside brackets: to the next `,` of these brackets, or to their end.
void Parser::skip_to_separator(size_t bracket_end) {
  while (at_ < bracket_end && !is(",")) {
    size_t partner = token().partner;
    at_ = partner > at_ && partner < bracket_end ? partner + 1 : at_ + 1;
  }
  at_ = std::min(at_, bracket_end);
}

ExpressionPtr Parser::parse_parenthesized() {
  size_t open = at_++;
  const Token first = tokens_[open];
  if (accept(")")) return make(ExpressionKind::kTuple, since(first));
  if (is("yield")) {
    ExpressionPtr value = parse_expression_list(true, "");
    expect(")", "after the expression");
    return value;
  }
  std::vector<ExpressionPtr> elements;
  bool comma = false;
  ExpressionPtr generator;
  parse_bracketed(
      open,
      [&] {
        ExpressionPtr element = parse_star_or_named();
        if ((is("for") || is("async")) && elements.empty()) {
          generator = make(ExpressionKind::kGenerator, first.span);
          generator->operands.push_back(std::move(element));
          generator->comprehensions = parse_comprehensions();
          return;
        }
        elements.push_back(std::move(element));
        comma = comma || is(",");
      },
      [&](ExpressionPtr bad) { elements.push_back(std::move(bad)); });
  expect(")", "to close `(`");
  if (generator) {
    generator->span = since(first);
    generator->parenthesized = true;
    return generator;
  }
  if (elements.size() == 1 && !comma) {
    if (elements[0]->kind == ExpressionKind::kStarred) fail(Message::kStarredAlone, elements[0]->span);
    elements[0]->parenthesized = true;
    return std::move(elements[0]);
  }
  ExpressionPtr tuple =
      make(elements.empty() ? ExpressionKind::kError : ExpressionKind::kTuple, since(first));
  tuple->operands = std::move(elements);
  tuple->parenthesized = true;
  return tuple;
}

ExpressionPtr Parser::parse_list() {
  size_t open = at_++;
  const Token first = tokens_[open];
  ExpressionPtr list = make(ExpressionKind::kList, first.span);
  bool in_clauses = false;
  parse_bracketed(
      open,
      [&] {
        list->operands.push_back(parse_star_or_named());
        if ((is("for") || is("async")) && list->operands.size() == 1) {
          in_clauses = true;
          list->comprehensions = parse_comprehensions();
          list->kind = ExpressionKind::kListComp;
          in_clauses = false;
        }
      },
      [&](ExpressionPtr bad) {
        if (in_clauses) list->operands.clear();  // what its variables are, nobody knows
        list->operands.push_back(std::move(bad));
      });
  expect("]", "to close `[`");
  list->span = since(first);
  return list;
}

ExpressionPtr Parser::parse_dict_or_set() {
  size_t open = at_++;
  const Token first = tokens_[open];
  ExpressionPtr dict = make(ExpressionKind::kDict, first.span);
  bool is_set = false, in_clauses = false;
  const int errors = num_errors_;
  parse_bracketed(
      open,
      [&] {
        if (accept_spread("**")) {
          dict->operands.push_back(nullptr);
          dict->operands.push_back(parse_binary(0));
          return;
        }
        ExpressionPtr key = parse_star_or_named();
        if (is_set || (!is(":") && !is("=") && dict->operands.empty())) {
          is_set = true;
          if (is("for")) parse_comprehensions();
          return;
        }
        expect(":", "after the key");
        dict->operands.push_back(std::move(key));
        dict->operands.push_back(parse_expression());
        if ((is("for") || is("async")) && dict->operands.size() == 2) {
          in_clauses = true;
          dict->comprehensions = parse_comprehensions();
          dict->kind = ExpressionKind::kDictComp;
          in_clauses = false;
        }
      },
      [&](ExpressionPtr bad) {
        // `{**<error>}`: the whole dict is poison.
        if (in_clauses) dict->operands.clear();
        if (dict->operands.size() % 2 != 0) dict->operands.pop_back();
        dict->operands.push_back(nullptr);
        dict->operands.push_back(std::move(bad));
      });
  expect("}", "to close `{`");
  dict->span = since(first);
  if (!is_set) return dict;
  if (num_errors_ > errors) throw SyntaxError{};  // told: what it was meant to be, nobody knows
  const std::string list =
      "[" + std::string(text_.substr(dict->span.begin + 1, dict->span.end - dict->span.begin - 2)) + "]";
  report_unsupported(dict->span, "a set", "write a list, `[…]`, or a dict", {{dict->span, list, false}});
  if (!in_main_guard_) throw SyntaxError{};
  return make(ExpressionKind::kError, dict->span);
}

std::vector<Comprehension> Parser::parse_comprehensions() {
  std::vector<Comprehension> clauses;
  while (is("for") || is("async")) {
    if (is("async")) {
      report_unsupported(token().span, "`async for`", "write `for`");
      ++at_;
    }
    expect("for", "");
    Comprehension clause;
    clause.target = parse_target_list();
    expect("in", "after the variable of `for`");
    clause.iterable = parse_or();
    while (accept("if")) {
      // A condition may not be `a if b else c` without brackets, as in Python.
      clause.conditions.push_back(token().kind == TokenKind::kName && is(":=", 1) ? parse_named()
                                                                                  : parse_or());
    }
    clauses.push_back(std::move(clause));
    check_chain(static_cast<int>(clauses.size()));
  }
  return clauses;
}

}  // namespace galatea::dsl
