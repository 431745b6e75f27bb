// In: a file's text. Out: its canonical form, checked against the text. See formatter.h.
#include "dsl/formatter/formatter.h"

#include <algorithm>
#include <array>

#include "base/result.h"
#include "dsl/ast_printer.h"
#include "dsl/deep_stack.h"
#include "dsl/formatter/file_formatter.h"
#include "dsl/formatter/literals.h"
#include "dsl/frontend.h"
#include "dsl/lexer.h"
#include "dsl/lexer_bytes.h"
#include "dsl/messages.h"
#include "dsl/parser.h"

namespace galatea::dsl {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Warnings are about a text that has a form all the same.
bool is_error(const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; }

// The first line says how lines end.
bool ends_lines_with_crlf(const std::string& text) {
  size_t line_break = text.find('\n');
  return line_break != std::string::npos && line_break > 0 && text[line_break - 1] == '\r';
}

std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

void normalize_numbers(Expression* expression);

void normalize_numbers(std::vector<FStringPart>& parts) {
  for (FStringPart& part : parts) {
    normalize_numbers(part.value.get());
    normalize_numbers(part.format);
  }
}

void normalize_numbers(std::vector<Parameter>& parameters) {
  for (Parameter& parameter : parameters) {
    normalize_numbers(parameter.annotation.get());
    normalize_numbers(parameter.default_value.get());
  }
}

// `1E5` and `1e5` are one number.
void normalize_numbers(Expression* expression) {
  if (!expression) return;
  if (expression->kind == ExpressionKind::kInteger || expression->kind == ExpressionKind::kFloat)
    expression->text = formatter::normalize_number(expression->text);
  for (ExpressionPtr& operand : expression->operands) normalize_numbers(operand.get());
  for (Argument& argument : expression->arguments) normalize_numbers(argument.value.get());
  for (Comprehension& part : expression->comprehensions) {
    normalize_numbers(part.target.get());
    normalize_numbers(part.iterable.get());
    for (ExpressionPtr& condition : part.conditions) normalize_numbers(condition.get());
  }
  normalize_numbers(expression->parameters);
  normalize_numbers(expression->parts);
}

// What the form may change without changing the meaning: the spelling of numbers, and blanks in docstrings.
void normalize_meaning(Suite& suite) {
  for (StatementPtr& statement : suite) {
    if (statement->kind == StatementKind::kExpression && statement->value &&
        statement->value->kind == ExpressionKind::kString)
      std::erase_if(statement->value->text,
                    [](char c) { return std::string_view(" \t\n\r\f\v").find(c) != std::string_view::npos; });
    statement->docstring.clear();
    for (std::vector<ExpressionPtr>* several : {&statement->targets, &statement->decorators}) {
      for (ExpressionPtr& expression : *several) normalize_numbers(expression.get());
    }
    for (ExpressionPtr* one :
         {&statement->value, &statement->annotation, &statement->message, &statement->returns})
      normalize_numbers(one->get());
    normalize_numbers(statement->parameters);
    normalize_meaning(statement->body);
    normalize_meaning(statement->orelse);
  }
}

/// The syntax tree as text, and the words of what the tree leaves out (host code).
struct Substance {
  std::string tree, words;
};

Substance substance_of(const std::string& text, std::vector<Diagnostic>& diagnostics) {
  Substance substance;
  std::unique_ptr<Module> module = parse_module(1, text, diagnostics);
  normalize_meaning(module->body);
  substance.tree = print_module(*module);
  std::vector<Diagnostic> known;
  for (const Token& token : lex(1, text, known)) {
    constexpr std::array<std::string_view, 5> kOptional = {"(", ")", ",", ";", "\\"};
    if (token.kind != TokenKind::kName && token.kind != TokenKind::kKeyword &&
        token.kind != TokenKind::kOperator)
      continue;
    if (std::find(kOptional.begin(), kOptional.end(), token.text) == kOptional.end())
      substance.words += std::string(token.text) + " ";
  }
  return substance;
}

FormatResult format_on_this_stack(const std::string& file_name, const std::string& text, SourceMap& sources) {
  FormatResult result;
  if (static_cast<int64_t>(text.size()) > Limits{}.max_file_bytes) {
    result.diagnostics.push_back(
        diagnose(Message::kFileTooLarge, {}, {file_name, std::to_string(Limits{}.max_file_bytes)}));
    return result;
  }
  const uint32_t file = sources.add(file_name, text);
  const std::string& source = sources.file(file)->text();
  if (size_t offset = 0; find_invalid_utf8(source, offset)) {
    const auto at = static_cast<uint32_t>(offset);
    result.diagnostics.push_back(diagnose(Message::kNotUtf8, {file, at, at + 1}, {std::to_string(offset)}));
    return result;
  }
  parse_module(file, source, result.diagnostics);
  if (std::ranges::any_of(result.diagnostics, is_error)) return result;
  result.diagnostics.clear();

  const bool crlf = ends_lines_with_crlf(text);
  const bool marked = text.starts_with(kByteOrderMark);
  const std::string plain =
      with_line_feeds(std::string_view(text).substr(marked ? kByteOrderMark.size() : 0));
  const std::string formatted = formatter::format_text(plain);

  std::vector<Diagnostic> wrong;
  const Substance before = substance_of(plain, wrong), after = substance_of(formatted, wrong);
  GALATEA_CHECK(
      std::ranges::none_of(wrong, is_error) && before.tree == after.tree && before.words == after.words,
      "the formatter would change what " + file_name + " means");
  result.text = marked ? std::string(kByteOrderMark) : std::string();
  result.text += crlf ? with_crlf(formatted) : formatted;
  result.changed = result.text != text;
  return result;
}

}  // namespace

FormatResult format_source(const std::string& file_name, const std::string& text, SourceMap& sources) {
  FormatResult result;
  run_deep([&] { result = format_on_this_stack(file_name, text, sources); });
  return result;
}

}  // namespace galatea::dsl
