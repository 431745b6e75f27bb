#include "tools/operator_page.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/source.h"
#include "compiler/op/operator_json.h"
#include "compiler/op/recipe.h"
#include "compiler/op/schema.h"
#include "dsl/frontend.h"

namespace galatea::tools {
namespace {

/// Text in lines of at most 96 columns, each indented.
std::string wrapped(const std::string& text, int indent) {
  constexpr size_t kColumns = 96;
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out, line;
  auto end_line = [&] {
    if (!line.empty()) out += margin + line + "\n";
    line.clear();
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      end_line();
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() + margin.size() > kColumns) end_line();
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    at = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
  }
  end_line();
  return out;
}

std::string indented(const std::string& lines, const std::string& margin) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    out += margin + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string default_of(const op::ArgSpec& arg) {
  if (arg.required) return "required";
  if (std::holds_alternative<ir::None>(arg.default_value)) return "not given";
  return "default " + json_text(op::to_json(arg.default_value));
}

/// What is to be said of an argument beside its documentation.
std::string remark_of(const op::ArgSpec& arg) {
  if (!arg.refused.empty()) return "Refused here: " + arg.refused;
  return arg.no_effect ? "Accepted for compatibility; has no effect." : "";
}

std::string difference_of(const op::Preset& preset) {
  return preset.refused.empty() ? preset.differs : "Refused here: " + preset.refused;
}

/// "HWC, CHW or HW".
std::string choice_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string layouts_of(const Port& port) { return choice_of(port.layouts); }

std::string types_of(const Port& port) {
  std::vector<std::string> names;
  for (const DType type : port.dtypes) names.emplace_back(types_name(type));
  return choice_of(names);
}

std::string number_of_inputs(const op::Operator& op) {
  return op.min_inputs == op.max_inputs ? std::to_string(op.max_inputs)
                                        : fmt::format("{} to {}", op.min_inputs, op.max_inputs);
}

std::string properties_of(const op::Operator& op) {
  return fmt::format("kind: {}; devices: {}{}", op::kind_name(op.kind), fmt::join(op.devices, ", "),
                     op.random ? "; draws random numbers" : "");
}

/// A cell of a table: on one line, and no end of the cell before its own.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

constexpr const char* kStrengths[] = {"weak", "medium", "strong"};

}  // namespace

std::string page_file(const op::Operator& op, const char* ending) { return op.name + ending; }

std::string example_file(const op::Operator& op) {
  return "from galatea import fn, math, pipeline_def, types\n\n\n@pipeline_def(batch_size=4)\n"
         "def example(data: str = \"photos\"):\n" +
         indented(op.example, "    ");
}

std::string effect_file(const op::Operator& op) {
  if (op.effect.empty()) return {};
  std::string text =
      "from galatea import fn, pipeline_def, types\n\n\n@pipeline_def(batch_size=1, seed=1)\n"
      "def effect(data: str):\n"
      "    encoded, label = fn.readers.file(file_root=data)\n"
      "    image = fn.resize(fn.decoders.image(encoded), size=[160, 240], mode=\"not_smaller\")\n";
  std::vector<std::string> names = {"image"};
  for (size_t k = 0; k < op.effect.size(); ++k) {
    names.emplace_back(kStrengths[k]);
    text += fmt::format("    {} = {}\n", names.back(), op.effect[k]);
  }
  return text + fmt::format("    return {}\n", fmt::join(names, ", "));
}

std::vector<Failure> failures_of(const op::Operator& op, const op::Registry& registry) {
  std::vector<Failure> found;
  if (!op.define) return found;  // a source
  SourceMap sources;
  dsl::FrontendOptions options;
  options.unknown_parameters_allowed = true;
  const dsl::FrontendResult result =
      dsl::stage_all("example.dali-dsl", example_file(op), options, registry, sources);
  for (const auto& graph : result.graphs) {
    for (ir::BlockId block : graph->topological_order()) {
      for (ir::NodeId id : graph->block(block).nodes) {
        if (graph->node(id).op != &op) continue;
        for (const op::Check& check : op::lower_node(*graph, id).checks) {
          std::string message = check.message;
          for (size_t at; (at = message.find("{}")) != std::string::npos;) message.replace(at, 2, "…");
          const bool is_new = std::none_of(found.begin(), found.end(),
                                           [&](const Failure& other) { return other.message == message; });
          if (is_new) found.push_back({std::move(message), check.help});
        }
      }
    }
  }
  return found;
}

std::string terminal_page(const op::Operator& op, const std::vector<Failure>& failures) {
  std::string text = fmt::format("fn.{}: {}\n", op.name, op.summary);
  if (!op.documentation.empty()) text += "\n" + wrapped(op.documentation, 0);
  text += "\n" + properties_of(op) + "\n";
  if (!op.aliases.empty()) text += fmt::format("also called: {}\n", fmt::join(op.aliases, ", "));
  if (op.max_inputs > 0) {
    text += fmt::format("\ninputs ({}):\n", number_of_inputs(op));
    for (const Port& input : op.inputs) {
      text += fmt::format("  {}{}\n", input.name, input.optional ? ", optional" : "");
      text += wrapped(input.documentation, 6);
      if (!input.layouts.empty()) text += wrapped("layout: " + layouts_of(input), 6);
      if (!input.dtypes.empty()) text += wrapped("element type: " + types_of(input), 6);
    }
  }
  if (!op.outputs.empty()) text += "\noutputs:\n";
  for (const Port& output : op.outputs) {
    text += fmt::format("  {}, {}{}\n", output.name, to_text(output), output.optional ? ", optional" : "");
    text += wrapped(output.documentation, 6);
  }
  const std::vector<op::ArgSpec> arguments = op::all_arguments(op);
  if (!arguments.empty()) text += "\narguments:\n";
  for (const op::ArgSpec& arg : arguments) {
    text += fmt::format("  {}: {}, {}{}\n", arg.name, op::kind_name(arg.kind), default_of(arg),
                        arg.per_sample ? ", may be per sample" : "");
    text += wrapped(arg.documentation, 6);
    if (const std::string remark = remark_of(arg); !remark.empty()) text += wrapped(remark, 6);
  }
  if (!op.presets.empty()) text += "\npresets (compat=):\n";
  for (const op::Preset& preset : op.presets) {
    text += fmt::format("  \"{}\", {}\n", op::name_of(preset.peer), op::library_of(preset.peer));
    text += wrapped(difference_of(preset), 6);
  }
  if (!failures.empty()) text += "\na sample fails where, for example:\n";
  for (const Failure& failure : failures) {
    text += wrapped(failure.message, 2);
    if (!failure.help.empty()) text += wrapped(failure.help, 6);
  }
  if (!op.example.empty()) text += "\nexample:\n" + indented(op.example, "  ");
  if (!op.effect.empty()) text += "\nweak, medium, strong:\n";
  for (const std::string& call : op.effect) text += "  " + call + "\n";
  return text;
}

std::string markdown_page(const op::Operator& op, const std::vector<Failure>& failures) {
  std::string text = fmt::format("# fn.{}\n\n{}\n", op.name, op.summary);
  if (!op.effect.empty()) {
    text +=
        fmt::format("\n![a photograph, and what fn.{} makes of it]({})\n\n", op.name, page_file(op, ".png"));
    for (size_t k = 0; k < op.effect.size(); ++k)
      text += fmt::format("- {}: `{}`\n", kStrengths[k], op.effect[k]);
  }
  if (!op.documentation.empty()) text += "\n" + wrapped(op.documentation, 0);
  text += "\n" + properties_of(op) + "\n";
  if (!op.aliases.empty()) text += fmt::format("also called: `{}`\n", fmt::join(op.aliases, "`, `"));
  if (!op.example.empty()) text += "\n## Example\n\n```python\n" + example_file(op) + "```\n";
  if (op.max_inputs > 0) {
    text +=
        fmt::format("\n## Inputs ({})\n\n| input | layouts | element types | |\n| --- | --- | --- | --- |\n",
                    number_of_inputs(op));
    for (const Port& input : op.inputs)
      text += fmt::format("| {} | {} | {} | {}{} |\n", input.name,
                          input.layouts.empty() ? "any" : layouts_of(input),
                          input.dtypes.empty() ? "any" : types_of(input), input.optional ? "optional; " : "",
                          cell(input.documentation));
  }
  if (!op.outputs.empty()) text += "\n## Outputs\n\n| output | type | |\n| --- | --- | --- |\n";
  for (const Port& output : op.outputs)
    text += fmt::format("| {} | {} | {}{} |\n", output.name, cell(to_text(output)),
                        output.optional ? "optional; " : "", cell(output.documentation));
  const std::vector<op::ArgSpec> arguments = op::all_arguments(op);
  if (!arguments.empty())
    text += "\n## Arguments\n\n| argument | type | | per sample | |\n| --- | --- | --- | --- | --- |\n";
  for (const op::ArgSpec& arg : arguments) {
    const std::string remark = remark_of(arg);
    text += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", arg.name, cell(op::kind_name(arg.kind)),
                        cell(default_of(arg)), arg.per_sample ? "yes" : "", cell(arg.documentation),
                        remark.empty() ? "" : " " + cell(remark));
  }
  if (!op.presets.empty())
    text += "\n## Presets\n\n| `compat=` | library | what differs |\n| --- | --- | --- |\n";
  for (const op::Preset& preset : op.presets)
    text += fmt::format("| `\"{}\"` | {} | {} |\n", op::name_of(preset.peer), op::library_of(preset.peer),
                        cell(difference_of(preset)));
  if (!failures.empty())
    text +=
        "\n## Errors\n\nArguments and inputs of another type are errors of `galatea check`. Of the example, a "
        "sample\nfails where:\n\n| message | what to do |\n| --- | --- |\n";
  for (const Failure& failure : failures)
    text += fmt::format("| {} | {} |\n", cell(failure.message), cell(failure.help));
  return text + "\n[All operators](README.md)\n";
}

std::string markdown_index(const std::vector<const op::Operator*>& operators) {
  std::string text =
      "# Operators\n\nMade by `./dev docs` from the registry; `galatea ops NAME` prints the same.\n\n"
      "| operator | |\n| --- | --- |\n";
  for (const op::Operator* op : operators)
    text += fmt::format("| [fn.{}]({}) | {} |\n", op->name, page_file(*op, ".md"), cell(op->summary));
  return text;
}

}  // namespace galatea::tools
