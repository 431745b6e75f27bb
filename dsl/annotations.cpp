// Annotations of parameters and variables: whether they name a type, and whether a value is of it. In: the
// annotation as it is written, and a value. Out: diagnostics.
#include <algorithm>

#include "dsl/annotations.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

/// The type of this language that is called otherwise elsewhere.
std::string_view type_called(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"integer", "int"},  {"Integer", "int"},   {"string", "str"},   {"String", "str"},
      {"boolean", "bool"}, {"double", "float"},  {"number", "float"}, {"uint8", "int"},
      {"int32", "int"},    {"i32", "int"},       {"i64", "int"},      {"usize", "int"},
      {"f32", "float"},    {"f64", "float"},     {"Int", "int"},      {"Float", "float"},
      {"char", "str"},     {"Boolean", "bool"},  {"Double", "float"}, {"long", "int"},
      {"int64", "int"},    {"float32", "float"}, {"float64", "float"}};
  for (const auto& [other, ours] : kNames)
    if (other == name) return ours;
  return {};
}

/// Of data and of values that `check` does not know, the type is known only later; None stands for any.
bool is_of_type(const Value& value, std::string_view type) {
  if (value.is(ValueKind::kNone) || value.is(ValueKind::kUndefined) || value.is_poison() ||
      value.is(ValueKind::kUnknown) || value.is_node())
    return true;
  if (type == "int") return value.is_integral();
  if (type == "float") return value.is_number();
  if (type == "str") return value.is(ValueKind::kString);
  if (type == "bool") return value.is(ValueKind::kBool);
  if (type == "list" || type == "tuple") return value.is_sequence() || value.is(ValueKind::kArray);
  if (type == "dict") return value.is(ValueKind::kDict) || value.is(ValueKind::kStruct);
  return true;
}

}  // namespace

std::string annotated_type(const Expression* e) {
  if (!e) return {};
  if (e->kind == ExpressionKind::kBinary && e->text == "|") e = e->operands[0].get();
  if (e->kind == ExpressionKind::kSubscript && e->operands[0]->text == "Optional") e = e->operands[1].get();
  if (e->kind == ExpressionKind::kSubscript) e = e->operands[0].get();
  if (e->text == "List" || e->text == "Sequence") return "list";
  if (e->text == "Tuple") return "tuple";
  if (e->text == "Dict") return "dict";
  return e->text;
}

// A name alone must be one; what is more than a name is for Python's tools.
bool Evaluator::check_type_name(const Expression& annotation, const Frame* scope) {
  // `list[int]`, `dict[str, int]`, `int | None`: each of them.
  const bool is_made_of_types =
      annotation.kind == ExpressionKind::kSubscript || annotation.kind == ExpressionKind::kTuple ||
      annotation.kind == ExpressionKind::kList || annotation.kind == ExpressionKind::kBinary;
  if (is_made_of_types) {
    bool good = true;
    for (const ExpressionPtr& operand : annotation.operands)
      good = (!operand || check_type_name(*operand, scope)) && good;
    return good;
  }
  if (annotation.kind != ExpressionKind::kName) return true;
  constexpr std::string_view kAlso[] = {
      "list",     "tuple",    "dict",     "List",      "Tuple",    "Dict",     "Any",      "object",
      "DataNode", "Sequence", "Optional", "Union",     "Callable", "Iterable", "Iterator", "Literal",
      "Mapping",  "Set",      "set",      "frozenset", "bytes",    "complex",  "type",     "Generator"};
  if (std::ranges::find(kAlso, annotation.text) != std::end(kAlso) ||
      builtins_->names.contains(annotation.text))
    return true;
  for (const Frame* frame = scope; frame; frame = frame->parent)
    if (frame->env.contains(annotation.text)) return true;
  Diagnostic diagnostic = diagnose(Message::kUnknownName, annotation.span, {annotation.text});
  if (const std::string_view ours = type_called(annotation.text); !ours.empty())
    diagnostic.help = "write `" + std::string(ours) + "`";
  else
    diagnostic.help = did_you_mean(annotation.text, {"int", "float", "str", "bool", "list", "tuple", "dict"});
  report(std::move(diagnostic));
  return false;
}

// A value is of the type that its annotation names, None besides; numbers may be written as integers.
bool Evaluator::check_annotation(const Expression* annotation, const Value& value, const std::string& name,
                                 Span span, const Frame* scope) {
  if (!annotation || !annotation->span.valid()) return true;
  if (!check_type_name(*annotation, scope)) return false;
  const std::string type = annotated_type(annotation);
  if (!is_of_type(value, type)) {
    Diagnostic diagnostic = diagnose(Message::kParameterValue, span, {name, repr(value), type});
    if (type == "int" || type == "float")
      diagnostic.help = value.is(ValueKind::kFloat) ? "write an integer, or make it `" + name + ": float`"
                                                    : "write a number";
    if (type == "str" && value.is_number()) {
      const std::string text = "\"" + source_text(sources_, span) + "\"";
      diagnostic.help = "write it in quotes: `" + text + "`";
      diagnostic.edits.push_back({span, text, false});
    }
    report(std::move(diagnostic));
    return false;
  }
  return check_elements(*annotation, type, value, name, span);
}

// `list[int]`, `tuple[int, str]`, `dict[str, int]`: each element.
bool Evaluator::check_elements(const Expression& annotation, const std::string& type, const Value& value,
                               const std::string& name, Span span) {
  if (annotation.kind != ExpressionKind::kSubscript) return true;
  const Expression& inner = *annotation.operands[1];
  const auto type_at = [&](size_t i) -> std::string {
    if (type == "list" || inner.kind != ExpressionKind::kTuple) return annotated_type(&inner);
    const bool is_any_length = inner.operands.back()->kind == ExpressionKind::kEllipsis;
    if (is_any_length) return annotated_type(inner.operands[0].get());
    return i < inner.operands.size() ? annotated_type(inner.operands[i].get()) : "";
  };
  const auto wrong = [&] {
    const std::string written = source_text(sources_, annotation.span);
    return fail(Message::kParameterValue, span, {name, repr(value), written}), false;
  };
  if (type == "dict" && value.is(ValueKind::kDict) && inner.kind == ExpressionKind::kTuple &&
      inner.operands.size() == 2)
    return std::ranges::all_of(value.dict().entries,
                               [&](const auto& entry) {
                                 return is_of_type(entry.first, type_at(0)) &&
                                        is_of_type(entry.second, type_at(1));
                               }) ||
           wrong();
  if (!value.is_sequence() || (type != "list" && type != "tuple")) return true;
  for (size_t i = 0; i < value.elements().size(); ++i)
    if (!is_of_type(value.elements()[i], type_at(i))) return wrong();
  return true;
}

}  // namespace galatea::dsl
