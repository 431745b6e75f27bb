#include "tools/lsp/operator_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/dtype.h"
#include "compiler/ir/attr.h"
#include "compiler/op/schema.h"

namespace galatea::tools::lsp {

namespace {

/// A value as a text would say it: `True`, `types.FLOAT`, `[0.5, 1.0]`.
std::string written(const ir::Attr& value) {
  if (std::holds_alternative<ir::None>(value)) return "None";
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const DType* dtype = std::get_if<DType>(&value)) return fmt::format("types.{}", types_name(*dtype));
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  if ((numbers && numbers->empty()) || (texts && texts->empty())) return "[]";
  return ir::to_text(value);
}

/// What a number of this kind is called in the module `types`; empty: it is a number.
std::string name_of(op::ArgKind kind, const ir::Attr& value) {
  constexpr const char* kImageTypes[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"};
  constexpr const char* kFilters[] = {"NN",         "LINEAR",   "CUBIC", "LANCZOS3",
                                      "TRIANGULAR", "GAUSSIAN", "BOX",   "HAMMING"};
  const int64_t* number = std::get_if<int64_t>(&value);
  if (!number || *number < 0) return {};
  if (kind == op::ArgKind::kImageType && *number < std::ssize(kImageTypes))
    return fmt::format("types.{}", kImageTypes[*number]);
  if (kind == op::ArgKind::kInterp && *number < std::ssize(kFilters))
    return fmt::format("types.INTERP_{}", kFilters[*number]);
  return {};
}

}  // namespace

std::string argument_label(const op::ArgSpec& argument) {
  std::string label = argument.name + ": " + std::string(op::kind_name(argument.kind));
  if (argument.required) return label;
  const std::string name = name_of(argument.kind, argument.default_value);
  return label + " = " + (name.empty() ? written(argument.default_value) : name);
}

std::string signature_of(const op::Operator& op) {
  std::vector<std::string> parts;
  for (const Port& input : op.inputs) parts.push_back(input.name + (input.optional ? "=None" : ""));
  const std::vector<op::ArgSpec> arguments = op::all_arguments(op);
  if (!arguments.empty()) parts.emplace_back("*");
  for (const op::ArgSpec& argument : arguments)
    if (argument.refused.empty() && !argument.no_effect) parts.push_back(argument_label(argument));
  return fmt::format("fn.{}({})", op.name, fmt::join(parts, ", "));
}

std::string argument_markdown(const op::ArgSpec& argument) {
  std::string text = "`" + argument_label(argument) + "`";
  if (argument.required) text += ", required";
  if (argument.per_sample) text += ", may be per sample";
  if (!argument.documentation.empty()) text += "\n\n" + argument.documentation;
  if (!argument.refused.empty()) text += "\n\nRefused here: " + argument.refused;
  if (argument.no_effect) text += "\n\nAccepted for compatibility; has no effect.";
  return text;
}

std::string operator_markdown(const op::Operator& op) {
  std::string text = "**fn." + op.name + "**: " + op.summary;
  if (!op.documentation.empty()) text += "\n\n" + op.documentation;
  for (const Port& input : op.inputs) {
    text += fmt::format("\n\n`{}`{}", input.name,
                        input.layouts.empty() ? "" : fmt::format(" ({})", fmt::join(input.layouts, ", ")));
    if (!input.documentation.empty()) text += ": " + input.documentation;
  }
  for (const op::ArgSpec& argument : op::all_arguments(op))
    if (argument.refused.empty() && !argument.no_effect)
      text += "\n- `" + argument_label(argument) + "`: " + argument.documentation;
  if (!op.example.empty()) text += "\n\n```python\n" + op.example + "\n```";
  return text;
}

}  // namespace galatea::tools::lsp
