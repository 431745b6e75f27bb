// galatea ops [NAME] [--json]: the operators, from the registry.
#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "compiler/op/operator_json.h"
#include "compiler/op/schema.h"
#include "tools/pipeline_host.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

struct OpsOptions {
  std::string name;
  bool json = false;
};

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

std::string default_of(const op::ArgSpec& arg) {
  if (arg.required) return "required";
  if (std::holds_alternative<ir::None>(arg.default_value)) return "not given";
  return "default " + json_text(op::to_json(arg.default_value));
}

std::string page_of(const op::Operator& op) {
  std::string text = fmt::format("fn.{}: {}\n", op.name, op.summary);
  if (!op.documentation.empty()) text += "\n" + wrapped(op.documentation, 0);
  text +=
      fmt::format("\nkind: {}; devices: {}{}\n", op::kind_name(op.kind),
                  fmt::format("{}", fmt::join(op.devices, ", ")), op.random ? "; draws random numbers" : "");
  if (!op.aliases.empty()) text += fmt::format("also called: {}\n", fmt::join(op.aliases, ", "));
  if (op.max_inputs > 0) {
    text += op.min_inputs == op.max_inputs
                ? fmt::format("\ninputs ({}):\n", op.max_inputs)
                : fmt::format("\ninputs ({} to {}):\n", op.min_inputs, op.max_inputs);
    for (const Port& input : op.inputs) {
      std::string accepted;
      for (const std::string& layout : input.layouts) accepted += (accepted.empty() ? "" : " ") + layout;
      text += fmt::format("  {}{}{}\n", input.name, accepted.empty() ? "" : ", layout " + accepted,
                          input.optional ? ", optional" : "");
      text += wrapped(input.documentation, 6);
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
    if (arg.no_effect) text += "      Accepted for compatibility; has no effect.\n";
    if (!arg.refused.empty()) text += wrapped("Refused here: " + arg.refused, 6);
  }
  if (!op.presets.empty()) text += "\npresets (compat=):\n";
  for (const op::Preset& preset : op.presets) {
    text += fmt::format("  \"{}\", {}\n", op::name_of(preset.peer), op::library_of(preset.peer));
    text += wrapped(preset.refused.empty() ? preset.differs : "Refused here: " + preset.refused, 6);
  }
  if (!op.example.empty()) {
    text += "\nexample:\n";
    for (size_t at = 0; at < op.example.size();) {
      const size_t end = std::min(op.example.find('\n', at), op.example.size());
      text += "  " + op.example.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
  return text;
}

int run(const OpsOptions& options, Reporter& reporter) {
  const PipelineHost host;
  std::vector<const op::Operator*> chosen = op::listed(host.registry());
  if (!options.name.empty()) {
    std::string name = options.name.starts_with("fn.") ? options.name.substr(3) : options.name;
    const op::Operator* op = host.registry().find(name);
    if (op == nullptr) {
      auto nearest = closest_match(name, host.registry().public_names());
      say("galatea: there is no operator `{}`{}\n  `galatea ops` lists all\n", name,
          nearest ? fmt::format("; did you mean `{}`?", *nearest) : "");
      return kUsage;
    }
    chosen = {op};
  }
  if (options.json) {
    reporter.print(json_text(op::to_json(chosen)) + "\n");
  } else if (!options.name.empty()) {
    reporter.print(page_of(*chosen[0]));
  } else {
    size_t width = 0;
    for (const op::Operator* op : chosen) width = std::max(width, op->name.size());
    std::string text;
    for (const op::Operator* op : chosen) text += fmt::format("{:<{}}  {}\n", op->name, width, op->summary);
    reporter.print(text);
  }
  return kFine;
}

}  // namespace

Command add_ops(CLI::App& parent) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* app = add_subcommand(parent, "ops", "The operators: one line each, or one in full");
  add_option(app, "name", options->name,
             {"NAME", "", "an operator, as written after `fn.`", "random.uniform"});
  add_flag(app, "--json", options->json, "as one JSON object (example: --json)");
  return {app, [options](Reporter& reporter) { return run(*options, reporter); }};
}

}  // namespace galatea::tools
