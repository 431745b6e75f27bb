#include "tools/serve/parameters.h"

#include <algorithm>

#include "dsl/parser.h"

namespace galatea::tools::serve {
namespace {

using dsl::Expression;
using dsl::ExpressionKind;

/// `pipeline_def`, with what it may be called with, and of which module it may be.
bool is_pipeline_def(const Expression& decorator) {
  const Expression* e = &decorator;
  if (e->kind == ExpressionKind::kCall) e = e->operands[0].get();
  return e->text == "pipeline_def" || e->text == "pipeline_class";
}

bool is_pipeline(const dsl::Statement& statement) {
  return statement.kind == dsl::StatementKind::kFunction &&
         std::ranges::any_of(statement.decorators, [](const auto& d) { return is_pipeline_def(*d); });
}

/// `int` of `int | None` and of `Optional[int]`, `list` of `list[int]`.
std::string kind_of_annotation(const Expression& annotation) {
  const Expression* e = &annotation;
  if (e->kind == ExpressionKind::kBinary && e->text == "|") e = e->operands[0].get();
  if (e->kind == ExpressionKind::kSubscript && e->operands[0]->text == "Optional") e = e->operands[1].get();
  if (e->kind == ExpressionKind::kSubscript) e = e->operands[0].get();
  return e->text;
}

std::string kind_of_default(const Expression& value) {
  const Expression* e = &value;
  if (e->kind == ExpressionKind::kUnary) e = e->operands[0].get();
  switch (e->kind) {
    case ExpressionKind::kTrue:
    case ExpressionKind::kFalse:
      return "bool";
    case ExpressionKind::kInteger:
      return "int";
    case ExpressionKind::kFloat:
      return "float";
    case ExpressionKind::kString:
      return "str";
    case ExpressionKind::kList:
    case ExpressionKind::kTuple:
      return "list";
    default:
      return {};
  }
}

std::string text_at(const std::string& text, Span span) {
  return text.substr(std::min<size_t>(span.begin, text.size()), span.end - span.begin);
}

ParameterText parameter_text(const dsl::Parameter& parameter, const std::string& text) {
  ParameterText out;
  out.name = parameter.name;
  const Expression* value = parameter.default_value.get();
  out.is_required = value == nullptr;
  if (const Expression* annotation = parameter.annotation.get()) {
    out.annotation = text_at(text, annotation->span);
    out.kind = kind_of_annotation(*annotation);
  } else if (value) {
    out.kind = kind_of_default(*value);
  }
  if (value)
    out.default_value = value->kind == ExpressionKind::kString ? value->text : text_at(text, value->span);
  return out;
}

}  // namespace

std::vector<ParameterText> parameters_of(const std::string& text, const std::string& pipeline) {
  std::vector<Diagnostic> ignored;  // staging has reported them
  SourceMap sources;
  const auto module = dsl::parse_module(sources.add("", text), text, ignored);
  const auto found = std::ranges::find_if(module->body, [&](const dsl::StatementPtr& statement) {
    return is_pipeline(*statement) && (pipeline.empty() || statement->text == pipeline);
  });
  std::vector<ParameterText> parameters;
  if (found == module->body.end()) return parameters;
  for (const dsl::Parameter& parameter : (*found)->parameters)
    parameters.push_back(parameter_text(parameter, text));
  return parameters;
}

}  // namespace galatea::tools::serve
