// Hover: what stands under the pointer.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/op/operator_json.h"
#include "compiler/op/schema.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/features.h"
#include "tools/lsp/operator_text.h"
#include "tools/lsp/words.h"

namespace galatea::tools::lsp {
namespace {

Json markdown(const std::string& text, Range range) {
  return {{"contents", {{"kind", "markdown"}, {"value", text}}}, {"range", to_json(range)}};
}

std::string in_code(const std::string& text) { return "```python\n" + text + "\n```"; }

/// `name: type` of what the evaluation met at a place; empty: nothing is known.
std::string what_stood(const Query& query, Span span, const std::string& name) {
  const Evaluation* evaluation = query.document.evaluation();
  if (!evaluation) return {};
  span.file = evaluation->file;
  const dsl::Meaning* meaning = evaluation->meanings.at(span);
  if (!meaning) return {};
  const std::string text = evaluation->type_text(*meaning);
  return meaning->kind == dsl::Meaning::Kind::kFunction ? text : name + ": " + text;
}

const op::Operator* operator_met(const Query& query, Span span) {
  const Evaluation* evaluation = query.document.evaluation();
  if (!evaluation) return nullptr;
  span.file = evaluation->file;
  const dsl::Meaning* meaning = evaluation->meanings.at(span);
  return meaning ? meaning->op : nullptr;
}

/// What the call of this name gives, above what its operator does; empty: it is no tensor, or there is no call.
std::string type_of_call(const Query& query, const dsl::Token& name) {
  const Evaluation* evaluation = query.document.evaluation();
  std::optional<Span> call = call_of(query.document.syntax().tokens, name);
  if (!evaluation || !call) return {};
  call->file = evaluation->file;
  const dsl::Meaning* meaning = evaluation->meanings.at(*call);
  if (!meaning || meaning->kind != dsl::Meaning::Kind::kData) return {};
  return in_code(fmt::format("{}(…): {}", name.text, evaluation->type_text(*meaning))) + "\n\n";
}

/// A function of the library that stood here; empty: none, or there is nothing to say of it.
std::string of_library_function(const std::string& stood) {
  constexpr std::string_view kBegin = "function `";
  if (!stood.starts_with(kBegin) || !stood.ends_with('`')) return {};
  return library_function_markdown(
      std::string_view(stood).substr(kBegin.size(), stood.size() - kBegin.size() - 1));
}

std::string of_symbol(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::kFunction:
    case Symbol::Kind::kPipeline: {
      std::string text = "def " + symbol.name + "(";
      std::string separator;
      for (const dsl::Parameter& parameter : symbol.function->parameters) {
        text += separator + parameter.name;
        separator = ", ";
      }
      text = in_code(text + ")");
      if (!symbol.function->docstring.empty()) text += "\n\n" + symbol.function->docstring;
      return text;
    }
    case Symbol::Kind::kParameter:
      return in_code("parameter " + symbol.name);
    case Symbol::Kind::kVariable:
      return in_code("variable " + symbol.name);
    case Symbol::Kind::kImport:
      break;
  }
  const std::string from = std::string(static_cast<size_t>(symbol.level), '.') + symbol.module;
  return in_code(symbol.imported.empty() ? "import " + from : "from " + from + " import " + symbol.imported);
}

/// The argument `size=` under the pointer, of the operator, the pipeline or the function that is called.
std::string of_argument(const Query& query, const dsl::Token& token) {
  const Syntax& syntax = query.document.syntax();
  const dsl::Token* next = &token + 1;
  const bool is_keyword = next < syntax.tokens.data() + syntax.tokens.size() && next->text == "=";
  if (!is_keyword) return {};
  const auto call = call_around(syntax.tokens, token.span.begin);
  if (!call) return {};
  const std::string name(token.text);
  if (is_pipeline_def(*syntax.names, *call)) {
    const dsl::PipelineOption* option = dsl::find_pipeline_option(name);
    return option ? option_markdown(*option) : "";
  }
  const op::Operator* op =
      query.vocabulary.operator_at(imported_path(*syntax.names, call->callee, token.span.begin));
  if (!op) {
    const std::string callee = what_stood(query, call->callee_span, call->callee.back());
    const bool is_of_file = syntax.names->at(query.offset) != nullptr;
    if (callee.empty() || is_of_file) return "";
    const std::string known = of_library_function(callee);
    return fmt::format("`{}=`, an argument of\n\n{}", name, known.empty() ? in_code(callee) : known);
  }
  const std::vector<op::ArgSpec> arguments = op::all_arguments(*op);
  const auto argument = std::ranges::find(arguments, name, &op::ArgSpec::name);
  return argument == arguments.end() ? call_argument_markdown(name) : argument_markdown(*argument);
}

}  // namespace

Json hover(const Query& query) {
  const Syntax& syntax = query.document.syntax();
  const dsl::Token* token = syntax.token_at(query.offset);
  const bool is_word =
      token && (token->kind == dsl::TokenKind::kName || token->kind == dsl::TokenKind::kKeyword);
  if (!is_word) return nullptr;
  const Range range = query.range(token->span);
  if (const std::string argument = of_argument(query, *token); !argument.empty())
    return markdown(argument, range);
  const std::vector<std::string> dotted = dotted_up_to(syntax.tokens, *token);
  const op::Operator* op = operator_met(query, token->span);
  if (!op) op = query.vocabulary.operator_at(imported_path(*syntax.names, dotted, query.offset));
  if (op) return markdown(type_of_call(query, *token) + operator_markdown(*op), range);
  const Symbol* symbol = syntax.names->at(query.offset);
  const std::string stood = what_stood(query, token->span, std::string(token->text));
  std::string text = symbol ? "" : constant_or_type_markdown(token->text);
  if (text.empty()) text = of_library_function(stood);
  if (text.empty() && !stood.empty()) {
    text = in_code(stood);
    const bool is_of_library = !symbol || symbol->kind == Symbol::Kind::kImport;
    const bool is_function = stood.contains('(') || stood.ends_with(": Augmentation");
    const std::string known = is_of_library && is_function ? library_text_markdown(token->text) : "";
    if (!known.empty()) text += "\n\n" + known;
  }
  const bool has_docstring = symbol && symbol->function && !symbol->function->docstring.empty();
  if (symbol && (text.empty() || has_docstring)) text = of_symbol(*symbol);
  if (text.empty())
    text = module_markdown(query.vocabulary.modules(), fmt::format("{}", fmt::join(dotted, ".")));
  if (text.empty()) return nullptr;
  return markdown(text, range);
}

}  // namespace galatea::tools::lsp
