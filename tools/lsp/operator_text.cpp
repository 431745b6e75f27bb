#include "tools/lsp/operator_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "compiler/op/operator_json.h"
#include "compiler/op/schema.h"

namespace galatea::tools::lsp {

std::string argument_label(const op::ArgSpec& argument) {
  std::string label = argument.name + ": " + std::string(op::kind_name(argument.kind));
  if (argument.required) return label;
  const bool is_none = std::holds_alternative<ir::None>(argument.default_value);
  return label + " = " + (is_none ? "None" : json_text(op::to_json(argument.default_value)));
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
