// Calls, their arguments, and subscripts. In: tokens. Out: kCall, kSubscript and kSlice expressions.
#include <algorithm>

#include "dsl/parser_state.h"

namespace galatea::dsl {
namespace {

std::string last_name(const Expression& callee) {
  return callee.kind == ExpressionKind::kName || callee.kind == ExpressionKind::kAttribute ? callee.text
                                                                                           : std::string();
}

/// `angle`, `-angle`, by position.
bool is_name_alone(const Argument& argument) {
  const Expression& e = *argument.value;
  const bool is_unary = e.kind == ExpressionKind::kUnary && e.text == "-";
  return argument.kind == Argument::Kind::kPositional &&
         (is_unary ? *e.operands[0] : e).kind == ExpressionKind::kName;
}

}  // namespace

ExpressionPtr Parser::parse_call(ExpressionPtr callee) {
  size_t open = at_++;
  ExpressionPtr call = make(ExpressionKind::kCall, callee->span);
  call->text_span = tokens_[open].span;
  call->ordinal = ordinals_.back()[last_name(*callee)]++;
  size_t before = 0;
  parse_bracketed(
      open,
      [&] {
        before = call->arguments.size();
        call->arguments.push_back(parse_argument());
      },
      [&](ExpressionPtr bad) {
        // `angle->3.0`: a name that something else than `,` follows is the name of an argument.
        if (call->arguments.size() > before && is_name_alone(call->arguments.back()))
          call->arguments.pop_back();
        before = call->arguments.size() + 1;
        Argument argument;
        argument.name_span = bad->span;
        argument.kind = Argument::Kind::kDoubleStar;  // whatever else follows
        argument.value = std::move(bad);
        call->arguments.push_back(std::move(argument));
      });
  bool trailing_comma = at_ > 0 && tokens_[at_ - 1].text == ",";
  expect(")", "to close `(`");
  if (trailing_comma && call->arguments.size() == 1 &&
      call->arguments[0].value->kind == ExpressionKind::kGenerator &&
      !call->arguments[0].value->parenthesized)
    fail(Message::kBareGenerator, call->arguments[0].value->span);
  call->operands.push_back(std::move(callee));
  call->span = since(call->operands[0]->span);
  check_arguments(*call);
  return call;
}

Argument Parser::parse_argument() {
  Argument argument;
  const Token first = token();
  argument.name_span = first.span;
  if (accept_spread("*")) {
    argument.kind = Argument::Kind::kStar;
    argument.value = parse_expression();
  } else if (accept("**")) {
    argument.kind = Argument::Kind::kDoubleStar;
    argument.value = parse_expression();
  } else if ((first.kind == TokenKind::kName || first.kind == TokenKind::kKeyword) && is("=", 1) &&
             before_arrow() == 0) {
    if (first.kind == TokenKind::kKeyword)
      fail(Message::kKeywordAsName, first.span, {std::string(first.text)});
    at_ += 2;
    argument.kind = Argument::Kind::kKeyword;
    argument.name = first.text;
    argument.value = parse_expression();
  } else if (const std::string name = name_in_quotes(); !name.empty() && is("=", 1)) {
    report_read_as_meant(first.span, "the name of an argument");
    at_ += 2;
    argument.kind = Argument::Kind::kKeyword;
    argument.name = name;
    argument.value = parse_expression();
  } else if (first.kind == TokenKind::kName && is(":", 1)) {
    ++at_;
    report_read_as_meant(token().span, "`,` or `)`");
    ++at_;
    argument.kind = Argument::Kind::kKeyword;
    argument.name = first.text;
    argument.value = parse_expression();
  } else {
    argument.value = parse_named();
    if (is("for") || is("async")) {
      ExpressionPtr generator = make(ExpressionKind::kGenerator, first.span);
      generator->operands.push_back(std::move(argument.value));
      generator->comprehensions = parse_comprehensions();
      generator->span = since(first);
      argument.value = std::move(generator);
    }
  }
  return argument;
}

// `brightness=0,5`: a comma where a number has its point.
bool Parser::tell_decimal_comma(const Expression& call, const Argument& argument) {
  const auto* before = &argument - 1;
  if (before < call.arguments.data() || before->kind != Argument::Kind::kKeyword ||
      before->value->kind != ExpressionKind::kInteger || argument.value->kind != ExpressionKind::kInteger)
    return false;
  const Span whole = cover(before->value->span, argument.value->span);
  std::string meant(written(whole));
  const size_t comma = meant.find(',');
  if (meant.size() != before->value->text.size() + 1 + argument.value->text.size()) return false;
  meant[comma] = '.';
  report(Message::kPositionalAfterKeyword, argument.value->span, {});
  diagnostics_.back().help = "numbers have a point: write `" + meant + "`";
  diagnostics_.back().edits.push_back({whole, meant, false});
  return true;
}

// What CPython's parser refuses in a call.
void Parser::check_arguments(const Expression& call) {
  auto is_bad = [](const Argument& argument) { return argument.value->kind == ExpressionKind::kError; };
  if (std::any_of(call.arguments.begin(), call.arguments.end(), is_bad)) return;
  bool keyword = false, double_star = false;
  Span before;  ///< the argument that ends the positional ones
  std::vector<const Argument*> named;
  for (const Argument& argument : call.arguments) {
    using Kind = Argument::Kind;
    if (argument.kind == Kind::kPositional) {
      if (keyword && tell_decimal_comma(call, argument)) throw SyntaxError{};
      if (double_star || keyword)
        fail(Message::kPositionalAfterKeyword, argument.value->span, {}, {before, "given by name before it"});
      if (argument.value->kind == ExpressionKind::kGenerator && !argument.value->parenthesized &&
          call.arguments.size() > 1 && argument.value->span.begin == argument.value->operands[0]->span.begin)
        fail(Message::kBareGenerator, argument.value->span);
    } else if (argument.kind == Kind::kStar) {
      if (double_star) fail(Message::kPositionalAfterKeyword, argument.value->span);
    } else if (argument.kind == Kind::kDoubleStar) {
      double_star = true;
      before = argument.value->span;
    } else {
      keyword = true;
      before = argument.name_span;
      for (const Argument* earlier : named) {
        if (earlier->name == argument.name)
          fail(Message::kRepeatedKeyword, argument.name_span, {argument.name},
               {earlier->name_span, "given here first"});
      }
      named.push_back(&argument);
    }
  }
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr base) {
  size_t open = at_++;
  ExpressionPtr subscript = make(ExpressionKind::kSubscript, base->span);
  subscript->text_span = tokens_[open].span;
  Span inside = token().span;
  std::vector<ExpressionPtr> selectors;
  bool comma = false;
  size_t before = 0;
  if (is("]")) fail_expected("an index");
  parse_bracketed(
      open,
      [&] {
        before = selectors.size();
        selectors.push_back(parse_slice());
        comma = comma || is(",");
      },
      [&](ExpressionPtr bad) {
        selectors.resize(std::min(selectors.size(), before));  // `x[0:1:2:3]`: one bad selector
        selectors.push_back(std::move(bad));
        before = selectors.size();
      });
  inside = since(inside);
  expect("]", "to close `[`");
  ExpressionPtr index;
  if (selectors.size() == 1 && !comma) {
    index = std::move(selectors[0]);
  } else {
    index = make(selectors.empty() ? ExpressionKind::kError : ExpressionKind::kTuple, inside);
    index->operands = std::move(selectors);
  }
  subscript->operands.push_back(std::move(base));
  subscript->operands.push_back(std::move(index));
  subscript->span = since(subscript->operands[0]->span);
  return subscript;
}

ExpressionPtr Parser::parse_slice() {
  const Token first = token();
  ExpressionPtr lower, upper, step;
  if (!is(":")) {
    lower = parse_named();
    if (!is(":")) return lower;
  }
  expect(":", "");
  if (!is(":") && !is("]") && !is(",")) upper = parse_expression();
  if (accept(":") && !is("]") && !is(",")) step = parse_expression();
  ExpressionPtr slice = make(ExpressionKind::kSlice, since(first));
  slice->operands.push_back(std::move(lower));
  slice->operands.push_back(std::move(upper));
  slice->operands.push_back(std::move(step));
  return slice;
}

}  // namespace galatea::dsl
