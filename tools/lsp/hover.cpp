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

const dsl::Meaning* meaning_at(const Query& query, Span span) {
  const Evaluation* evaluation = query.document.evaluation();
  return evaluation ? evaluation->meanings.at(span) : nullptr;
}

/// Whether each sample has its own. What is counted over a batch is that of all of its samples.
const char* whose_it_is(const ir::Node* node) {
  if (!node || !node->op) return "Per sample";
  if (node->op->name == "constant") return "The same for every sample";
  if (node->op->name.starts_with("batch.")) return "Per batch";
  return op::sees_batch(*node) ? "Per sample, from its whole batch" : "Per sample";
}

/// Whether each sample has its own, and where it lies: "\n\nPer sample, on the CPU."; empty: it is no tensor.
std::string where_it_lies(const Query& query, Span span) {
  const dsl::Meaning* meaning = meaning_at(query, span);
  if (!meaning || meaning->kind != dsl::Meaning::Kind::kData) return {};
  const Evaluation& evaluation = *query.document.evaluation();
  const auto graph = std::ranges::find_if(evaluation.graphs,
                                          [&](const auto& one) { return one->name == meaning->pipeline; });
  const bool is_in_graph = graph != evaluation.graphs.end() && meaning->node < (*graph)->values.size();
  const char* const whose = is_in_graph ? whose_it_is((*graph)->defining_node(meaning->node)) : "Per sample";
  const char* const device = evaluation.type_text(*meaning).ends_with(" gpu") ? "GPU" : "CPU";
  return fmt::format("\n\n{}, on the {}.", whose, device);
}

/// `name: type` of what the evaluation met at a place; empty: nothing is known.
std::string what_stood(const Query& query, Span span, const std::string& name) {
  const dsl::Meaning* meaning = meaning_at(query, span);
  if (!meaning) return {};
  const Evaluation* evaluation = query.document.evaluation();
  const std::string text = evaluation->type_text(*meaning);
  return meaning->kind == dsl::Meaning::Kind::kFunction ? text : name + ": " + text;
}

const op::Operator* operator_met(const Query& query, Span span) {
  const dsl::Meaning* meaning = meaning_at(query, span);
  return meaning ? meaning->op : nullptr;
}

/// What the call of this name gives, above what its operator does; empty: it is no tensor, or there is no call.
std::string type_of_call(const Query& query, const dsl::Token& name) {
  const std::optional<Span> call = call_of(query.document.syntax().tokens, name);
  const dsl::Meaning* meaning = call ? meaning_at(query, *call) : nullptr;
  if (!meaning || meaning->kind != dsl::Meaning::Kind::kData) return {};
  return in_code(fmt::format("{}(…): {}", name.text, query.document.evaluation()->type_text(*meaning))) +
         where_it_lies(query, *call) + "\n\n";
}

/// The expression that a sign, a bracket or a literal belongs to.
Json of_expression(const Query& query, const dsl::Token& token) {
  constexpr std::string_view kBetween[] = {",", ":", "=", ";", "@", "->"};
  const bool is_sign = token.kind == dsl::TokenKind::kOperator || token.kind == dsl::TokenKind::kKeyword;
  const bool is_literal = token.kind == dsl::TokenKind::kInteger || token.kind == dsl::TokenKind::kFloat ||
                          token.kind == dsl::TokenKind::kString;
  const Evaluation* evaluation = query.document.evaluation();
  if (!evaluation || !(is_sign || is_literal) ||
      std::ranges::find(kBetween, token.text) != std::end(kBetween))
    return nullptr;
  const Span span = evaluation->meanings.around(token.span.begin, token.span.end);
  const std::string& text = query.document.syntax().text;
  if (!span.valid() || span.end > text.size()) return nullptr;
  constexpr size_t kMost = 60;
  std::string shown = text.substr(span.begin, span.end - span.begin);
  if (shown.size() > kMost || shown.contains('\n')) shown = "…";
  const std::string stood = what_stood(query, span, shown);
  return stood.empty() ? Json() : markdown(in_code(stood) + where_it_lies(query, span), query.range(span));
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
  if (!token) return nullptr;
  if (!is_word) return of_expression(query, *token);
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
    text = in_code(stood) + where_it_lies(query, token->span);
    const bool is_of_library = !symbol || symbol->kind == Symbol::Kind::kImport;
    const bool is_function = stood.contains('(') || stood.ends_with(": Augmentation");
    const std::string known = is_of_library && is_function ? library_text_markdown(token->text) : "";
    if (!known.empty()) text += "\n\n" + known;
  }
  const bool has_docstring = symbol && symbol->function && !symbol->function->docstring.empty();
  if (symbol && (text.empty() || has_docstring)) text = of_symbol(*symbol);
  if (text.empty())
    text = module_markdown(query.vocabulary.modules(), fmt::format("{}", fmt::join(dotted, ".")));
  if (text.empty()) return of_expression(query, *token);
  return markdown(text, range);
}

}  // namespace galatea::tools::lsp
