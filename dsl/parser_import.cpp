// Imports, and statements of Python that the language leaves out. In: tokens. Out: kImport, kImportFrom and
// kUnsupported statements.
#include "dsl/parser_state.h"

namespace galatea::dsl {

// ---- imports ----

std::string Parser::parse_dotted_name() {
  std::string name(expect_name("a module name").text);
  while (accept(".")) name += "." + std::string(expect_name("a name after `.`").text);
  return name;
}

StatementPtr Parser::parse_import() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kImport, first);
  do {
    ImportName name;
    const Token begin = token();
    name.name = parse_dotted_name();
    if (accept("as")) name.alias = expect_name("a name after `as`").text;
    name.span = since(begin);
    statement->names.push_back(std::move(name));
  } while (accept(","));
  statement->text = statement->names.front().name;
  return statement;
}

StatementPtr Parser::parse_import_from() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kImportFrom, first);
  const Token path = token();
  for (;; ++at_) {
    if (is("."))
      statement->relative_level += 1;
    else if (is("..."))
      statement->relative_level += 3;
    else
      break;
  }
  if (statement->relative_level == 0 || token().kind == TokenKind::kName)
    statement->text = parse_dotted_name();
  statement->keyword_span = since(path);
  expect("import", "after the module");
  if (is("*")) {
    statement->names.push_back({"*", "", tokens_[at_++].span});
    return statement;
  }
  bool parenthesized = accept("(");
  do {
    if (parenthesized && is(")")) break;
    const Token begin = expect_name("a name to import");
    ImportName name{std::string(begin.text), "", begin.span};
    if (accept("as")) name.alias = expect_name("a name after `as`").text;
    name.span = since(begin);
    statement->names.push_back(std::move(name));
  } while (accept(","));
  if (parenthesized) {
    if (statement->names.empty()) fail_expected("a name to import");
    expect(")", "after the names");
  } else if (tokens_[at_ - 1].text == ",") {
    fail_expected("a name to import");
  }
  return statement;
}

// ---- valid Python outside the language ----

bool Parser::at_match_statement() const {
  if (token().kind != TokenKind::kName || token().text != "match") return false;
  size_t at = at_;
  while (tokens_[at].kind != TokenKind::kNewline && tokens_[at].kind != TokenKind::kEnd) ++at;
  return at > at_ + 1 && tokens_[at - 1].text == ":" && at + 2 < tokens_.size() &&
         tokens_[at + 1].kind == TokenKind::kIndent && tokens_[at + 2].text == "case";
}

// A header up to `:` that is not looked at, and a block that is read for syntax errors only.
StatementPtr Parser::parse_unsupported_block(std::string construct, std::string advice) {
  const Token first = token();
  auto statement = make_statement(StatementKind::kUnsupported, first);
  statement->text = construct;
  report_unsupported(first.span, construct, std::move(advice));
  while (!at_end() && token().kind != TokenKind::kNewline && !is(":")) {
    bool jump = token().partner > at_;
    at_ = jump ? token().partner + 1 : at_ + 1;
  }
  bool guard = in_main_guard_;
  in_main_guard_ = true;  // one message is enough: the construct itself is out
  bool is_match = first.text == "match";
  if (is_match) {
    while (token().kind != TokenKind::kIndent) ++at_;
    int depth = 0;
    do {
      if (token().kind == TokenKind::kIndent) ++depth;
      if (token().kind == TokenKind::kDedent) --depth;
      ++at_;
    } while (depth > 0 && !at_end());
  } else {
    ordinals_.emplace_back();
    statement->body = parse_block(construct);
    ordinals_.pop_back();
  }
  if (first.text != "class" && accept("else")) parse_block("`else`");
  in_main_guard_ = guard;
  statement->span = since(first);
  return statement;
}

StatementPtr Parser::parse_try() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kUnsupported, first);
  statement->text = "`try`";
  report_unsupported(first.span, "`try`",
                     "nothing is caught at compile time; test with `if` before the call, and use `on_error=` "
                     "for broken samples");
  bool guard = in_main_guard_;
  in_main_guard_ = true;
  statement->body = parse_block("`try`");
  bool any = false;
  while (is("except") || is("else") || is("finally")) {
    any = true;
    while (!at_end() && token().kind != TokenKind::kNewline && !is(":")) ++at_;
    parse_block("the clause of `try`");
  }
  in_main_guard_ = guard;
  if (!any) fail_expected("`except` or `finally` after `try`");
  statement->span = since(first);
  return statement;
}

}  // namespace galatea::dsl
