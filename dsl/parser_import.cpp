// Imports, and statements of Python that the language leaves out. In: tokens. Out: kImport, kImportFrom and
// kUnsupported statements.
#include <algorithm>
#include <array>
#include <iterator>

#include "dsl/parser_state.h"
#include "dsl/suggest.h"

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

// `from a import b.c`, read as `from a.b import c`.
ImportName Parser::parse_dotted_import(Statement& statement, const Token& begin) {
  std::string module = statement.text;
  Token last = begin;
  while (accept(".")) {
    module += "." + std::string(last.text);
    last = expect_name("a name after `.`");
  }
  const Span span = since(begin);
  const std::string meant = "from " + module + " import " + std::string(last.text);
  std::vector<Edit> edits;
  if (statement.names.empty() && !is(",")) {
    const Span whole{span.file, statement.keyword_span.begin, span.end};
    edits.push_back({whole, meant.substr(std::string_view("from ").size()), true});
  }
  report_translated(span, "a name with dots behind `import`", "write `" + meant + "`", std::move(edits));
  if (statement.names.empty()) statement.text = module;
  return {std::string(last.text), "", last.span};
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
    if (is(".") && statement->relative_level == 0) name = parse_dotted_import(*statement, begin);
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
  // `switch` of C, written as `match` is.
  if (token().kind != TokenKind::kName || (token().text != "match" && token().text != "switch")) return false;
  size_t at = at_;
  while (tokens_[at].kind != TokenKind::kNewline && tokens_[at].kind != TokenKind::kEnd) ++at;
  return at > at_ + 1 && tokens_[at - 1].text == ":" && at + 2 < tokens_.size() &&
         tokens_[at + 1].kind == TokenKind::kIndent && tokens_[at + 2].text == "case";
}

// A name that is poison after a construct that was refused, so that its uses say nothing more.
void Parser::add_lost_name(Statement& statement, const Token& name) {
  statement.targets.push_back(make(ExpressionKind::kName, name.span, std::string(name.text)));
}

// `expression as target, …`, in brackets or not. The first expression is kept.
void Parser::parse_with_items(Statement& statement) {
  size_t close = is("(") ? token().partner : 0;
  bool brackets = close > at_ && close + 1 < tokens_.size() && tokens_[close + 1].text == ":";
  if (brackets) {
    int depth = 0;
    brackets = false;
    for (size_t i = at_; i < close; ++i) {
      std::string_view text = tokens_[i].text;
      depth += text == "(" || text == "[" || text == "{"   ? 1
               : text == ")" || text == "]" || text == "}" ? -1
                                                           : 0;
      brackets = brackets || (depth == 1 && text == "as" && tokens_[i].kind == TokenKind::kKeyword);
    }
  }
  if (brackets) ++at_;
  do {
    if (brackets && at_ == close) break;
    ExpressionPtr entered = parse_expression();
    if (!statement.value) statement.value = std::move(entered);
    if (!accept("as")) continue;
    ExpressionPtr target = parse_primary();
    check_target(*target, "assign to");
    statement.targets.push_back(std::move(target));
  } while (accept(","));
  if (brackets) expect(")", "to close `(`");
}

// The header of a construct that is out, up to `:`; what it would bind becomes targets.
void Parser::parse_unsupported_header(Statement& statement) {
  const Token keyword = tokens_[at_++];
  if (keyword.text == "async") {
    if (is("def")) {
      ++at_;
      add_lost_name(statement, expect_name("the function's name after `def`"));
      expect("(", "after the function's name");
      parse_parameters(")", true);
      expect(")", "after the parameters");
      if (accept("->")) parse_expression();
    } else if (accept("for")) {
      statement.targets.push_back(parse_target_list());
      expect("in", "after the loop variable");
      parse_expression_list(true, "after `in`");
    } else {
      expect("with", "after `async`");
      parse_with_items(statement);
    }
  } else if (keyword.text == "class") {
    const Token name = expect_name("the name of the class");
    add_lost_name(statement, name);
    if (is("(")) parse_call(make(ExpressionKind::kName, name.span, std::string(name.text)));
  } else if (keyword.text == "with") {
    parse_with_items(statement);
  } else {
    parse_expression_list(true, "after `match`");
  }
}

// Where the block ends that begins behind tokens_[at].
size_t Parser::end_of_block(size_t at) const {
  for (int depth = 0; at < tokens_.size(); ++at) {
    depth += tokens_[at].kind == TokenKind::kIndent ? 1 : tokens_[at].kind == TokenKind::kDedent ? -1 : 0;
    if (depth == 0 && tokens_[at].kind != TokenKind::kNewline) return at;
  }
  return at;
}

// Whether a class, whose block begins behind tokens_[at], is iterated or called for data.
bool Parser::feeds_data(size_t at) const {
  constexpr std::array kMethods = {"__next__", "__iter__", "__getitem__", "__call__"};
  for (const size_t end = end_of_block(at); at < end; ++at)
    if (tokens_[at].text == "def" && std::ranges::find(kMethods, tokens_[at + 1].text) != kMethods.end())
      return true;
  return false;
}

// The method of a class, whose block begins behind tokens_[at], that fills a pipeline: `with self.pipe:` stands in
// it; "": none does.
std::string Parser::method_with_pipeline(size_t at) const {
  std::string method;
  for (const size_t end = end_of_block(at); at < end; ++at) {
    if (tokens_[at].text == "def") method = tokens_[at + 1].text;
    if (tokens_[at].text != "with") continue;
    for (++at; at < end && tokens_[at].text != ":" && tokens_[at].text != "("; ++at)
      if (tokens_[at].text.contains("pipe") || tokens_[at].text == "Pipeline") return method;
  }
  return {};
}

// The first function under `@pipeline_def` of a class whose block begins behind tokens_[at]; "": it has none.
std::string Parser::pipeline_within(size_t at) const {
  bool is_decorated = false;
  for (const size_t end = end_of_block(at); at < end; ++at) {
    is_decorated = is_decorated || tokens_[at].text == "pipeline_def";
    if (is_decorated && tokens_[at].text == "def") return std::string(tokens_[at + 1].text);
  }
  return {};
}

// "size=224, crop=200" of a class, whose block begins behind tokens_[at], that holds nothing but values, as a
// dataclass does; "": it holds something else.
std::string Parser::fields_of(size_t at) const {
  const size_t end = end_of_block(at);
  while (at < end && (tokens_[at].kind == TokenKind::kNewline || tokens_[at].kind == TokenKind::kIndent))
    ++at;
  std::string fields;
  while (at + 1 < end && tokens_[at].kind == TokenKind::kName) {
    const std::string name(tokens_[at].text);
    size_t last = at;
    while (last < end && tokens_[last].kind != TokenKind::kNewline) ++last;
    size_t equals = at + 1;
    while (equals < last && tokens_[equals].text != "=") ++equals;
    const bool begins_well = tokens_[at + 1].text == ":" || tokens_[at + 1].text == "=";
    if (!begins_well || equals + 1 >= last) return {};
    fields += (fields.empty() ? "" : ", ") + name + "=" +
              std::string(written(cover(tokens_[equals + 1].span, tokens_[last - 1].span)));
    at = last + 1;
  }
  const bool is_all = at >= end || tokens_[at].kind == TokenKind::kDedent;
  return is_all ? fields : "";
}

// A class that inherits from Pipeline is a function here: what `__init__` takes are its parameters.
Advice Parser::advice_for_class() const {
  size_t at = at_ + 1;
  const std::string name(tokens_[at].text);
  bool of_pipeline = false, extends_others = false;
  constexpr std::array kBasesOfRecords = {
      "object", "NamedTuple", "TypedDict", "Enum", "IntEnum", "ABC",  "Protocol",  "Generic", "typing",
      "enum",   "abc",        "T",         "str",  "int",     "dict", "metaclass", "total"};
  for (++at; at < tokens_.size() && tokens_[at].kind != TokenKind::kNewline; ++at) {
    of_pipeline = of_pipeline || tokens_[at].text == "Pipeline";
    const bool names_base = tokens_[at].kind == TokenKind::kName && tokens_[at - 1].text != "=";
    extends_others = extends_others || (names_base && std::ranges::find(kBasesOfRecords, tokens_[at].text) ==
                                                          kBasesOfRecords.end());
  }
  if (const std::string pipeline = of_pipeline ? "" : pipeline_within(at); !pipeline.empty())
    return {"move `" + pipeline +
            "` out of the class, as a function without `self`: what it reads of `self` " +
            "are its parameters"};
  if (const std::string method = of_pipeline ? "" : method_with_pipeline(at); !method.empty())
    return {
        "write what `" + method +
        "` does under `with` as a function under `@pipeline_def` that returns the outputs; the rest of the "
        "class belongs to the host program"};
  bool calls_operators = false;
  for (size_t i = at, last = end_of_block(at); i + 1 < last; ++i)
    calls_operators = calls_operators || (tokens_[i].text == "fn" && tokens_[i + 1].text == ".");
  if (!of_pipeline && calls_operators)
    return {
        "write a function: what `__init__` took are its parameters, what `self` held are names of its own"};
  if (!of_pipeline && extends_others && !feeds_data(at))
    return {
        "what other code calls belongs to the host program; what a pipeline needs of it, write as functions",
        true};
  if (const std::string fields = of_pipeline ? "" : fields_of(at); !fields.empty())
    return {"write a record: `" + name + " = galatea.struct(" + fields + ")`"};
  if (!of_pipeline)
    return {feeds_data(at) ? "it belongs to the host program, which feeds what it gives: "
                             "`fn.external_source(name=\"data\")`"
                           : "use functions, and `galatea.struct(name=value)` for records"};
  std::string parameters;
  constexpr std::array kOfThePipeline = {"self",      "batch_size", "num_threads",
                                         "device_id", "seed",       "max_batch_size"};
  for (const size_t last = end_of_block(at); at < last; ++at) {
    if (tokens_[at].text != "__init__" || tokens_[at - 1].text != "def" || tokens_[at + 1].partner == 0)
      continue;
    const size_t end = tokens_[at + 1].partner;
    for (size_t i = at + 1; i < end; ++i) {
      const bool begins = tokens_[i].text == "(" || tokens_[i].text == ",";
      const std::string_view parameter = tokens_[i + 1].text;
      if (i > at + 1 && tokens_[i].partner > i) i = tokens_[i].partner;  // a default in brackets
      if (!begins || tokens_[i + 1].kind != TokenKind::kName) continue;
      if (std::ranges::find(kOfThePipeline, parameter) != kOfThePipeline.end()) continue;
      parameters += (parameters.empty() ? "" : ", ") + std::string(parameter);
    }
    break;
  }
  return {
      "write a function: `@pipeline_def(batch_size=…)` above `def " + snake_case(name) + "(" + parameters +
      "):`, which does what `define_graph` did and returns its outputs; what `__init__` took are its parameters"};
}

void Parser::report_unsupported(Span span, std::string construct, std::string advice,
                                std::vector<Edit> edits) {
  if (in_main_guard_) return;
  report(Message::kUnsupportedSyntax, span, {std::move(construct), std::move(advice)});
  diagnostics_.back().edits = std::move(edits);
}

// What the host program does is no mistake where no pipeline comes by.
void Parser::report_where_it_runs(Statement& statement, Advice advice) {
  if (advice.may_be_of_host)
    statement.advice = std::move(advice.text);
  else
    report_unsupported(statement.keyword_span, statement.text, std::move(advice.text));
}

StatementPtr Parser::parse_unsupported_line(std::string construct, std::string advice) {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kUnsupported, first);
  statement->text = construct;
  size_t names = at_;
  parse_expression_list(true, "after " + construct);
  for (size_t i = names; i < at_ && first.text != "del"; ++i) {
    if (tokens_[i].kind == TokenKind::kName) add_lost_name(*statement, tokens_[i]);
  }
  report_where_it_runs(*statement, {std::move(advice), in_plain_function_});
  return statement;
}

// A header, and a block that is read for syntax errors only.
StatementPtr Parser::parse_unsupported_block(std::string construct, Advice advice) {
  const Token first = token();
  auto statement = make_statement(StatementKind::kUnsupported, first);
  statement->text = construct;
  report_where_it_runs(*statement, std::move(advice));
  bool names_itself = first.text == "class" || (first.text == "async" && is("def", 1));
  parse_unsupported_header(*statement);
  bool guard = in_main_guard_;
  in_main_guard_ = true;  // one message is enough: the construct itself is out
  bool is_match = first.text == "match" || first.text == "switch";
  if (is_match) {
    while (token().kind != TokenKind::kIndent) ++at_;
    int depth = 0;
    do {
      if (token().kind == TokenKind::kIndent) ++depth;
      if (token().kind == TokenKind::kDedent) --depth;
      if (token().kind == TokenKind::kName && is("=", 1)) add_lost_name(*statement, token());
      ++at_;
    } while (depth > 0 && !at_end());
  } else {
    ordinals_.emplace_back();
    statement->body = parse_block(construct);
    ordinals_.pop_back();
    // What a class or a function defines inside stays inside.
    if (names_itself) statement->body.clear();
  }
  if (first.text != "class" && accept("else")) parse_block("`else`");
  in_main_guard_ = guard;
  statement->span = since(first);
  return statement;
}

// `try: import … except ImportError: …` begins many files; there is nothing to catch, so the imports stand as
// they are, with what else is tried. Any other `try` is out.
StatementPtr Parser::parse_try() {
  const Token first = tokens_[at_++];
  auto statement = make_statement(StatementKind::kTryImport, first);
  bool guard = in_main_guard_;
  // Around imports it runs, and what stands in it is checked; one message is enough for any other.
  bool has_import = false;
  for (size_t i = at_, depth = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].kind == TokenKind::kIndent) ++depth;
    if (tokens_[i].kind == TokenKind::kDedent && --depth == 0) break;
    has_import = has_import || (tokens_[i].text == "import" && tokens_[i].kind == TokenKind::kKeyword);
  }
  in_main_guard_ = guard || !has_import;
  statement->body = parse_block("`try`");
  in_main_guard_ = true;
  Suite handlers;  // not kept for imports: one that fails is an error here
  bool any = false;
  auto move_into = [](Suite& out, Suite suite) {
    std::move(suite.begin(), suite.end(), std::back_inserter(out));
  };
  while (is("except") || is("else") || is("finally")) {
    any = true;
    bool handler = is("except");
    ++at_;
    if (handler) accept("*");
    if (handler && !is(":")) parse_expression();
    if (handler && accept("as")) add_lost_name(*statement, expect_name("a name after `as`"));
    Suite suite = parse_block("the clause of `try`");
    move_into(handler ? handlers : statement->orelse, std::move(suite));
  }
  in_main_guard_ = guard;
  if (!any) fail_expected("`except` or `finally` after `try`");
  statement->span = since(first);
  bool imports = std::any_of(statement->body.begin(), statement->body.end(), [](const StatementPtr& s) {
    return s->kind == StatementKind::kImport || s->kind == StatementKind::kImportFrom;
  });
  // What stands beside the imports and in `else` runs: an import that fails is an error of its own.
  if (imports) {
    move_into(statement->body, std::move(statement->orelse));
    statement->orelse.clear();
    return statement;
  }
  statement->kind = StatementKind::kUnsupported;
  statement->text = "`try`";
  move_into(statement->orelse, std::move(handlers));
  report_where_it_runs(*statement,
                       {"nothing is caught at compile time; test with `if` before the call, and use "
                        "`on_error=` for broken samples",
                        in_plain_function_});
  return statement;
}

}  // namespace galatea::dsl
