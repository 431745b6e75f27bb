// galatea policy schema, list, show and validate: looking at policies.
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "base/json.h"
#include "policy/operation.h"
#include "policy/reader.h"
#include "policy/spelling.h"
#include "policy/table.h"
#include "policy/writer.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string list_text() {
  std::string text = "policies (for show, convert, diff, mutate):\n";
  for (const policy::KnownPolicy& known : policy::known_policies())
    text += fmt::format("  {:<48} {}\n", known.spelling, known.meaning);
  text += "\noperations:\n";
  for (const policy::Operation& operation : policy::operations()) {
    std::string extras;
    for (std::string_view extra : operation.extras)
      extras += fmt::format("{}{}", extras.empty() ? "; extras: " : ", ", extra);
    text += fmt::format("  {:<24} {}{}\n", operation.name, operation.meaning, extras);
  }
  text += "\nparameter functions (\"param\"), of the magnitude m:\n";
  for (const policy::ParameterFunction& function : policy::parameter_functions())
    text += fmt::format("  {:<24} {}\n", function.name, function.meaning);
  return text;
}

std::string list_json() {
  Json policies = Json::array(), operations = Json::array(), functions = Json::array();
  for (const policy::KnownPolicy& known : policy::known_policies())
    policies.push_back({{"spelling", known.spelling}, {"meaning", known.meaning}});
  for (const policy::Operation& operation : policy::operations())
    operations.push_back({{"name", operation.name},
                          {"meaning", operation.meaning},
                          {"takes_parameter", operation.parameter != policy::ParameterKind::kNothing},
                          {"extras", operation.extras}});
  for (const policy::ParameterFunction& function : policy::parameter_functions())
    functions.push_back({{"name", function.name}, {"meaning", function.meaning}});
  const Json root = {{"policies", policies}, {"operations", operations}, {"parameter_functions", functions}};
  return json_text(root) + "\n";
}

struct ShowOptions {
  std::string policy;
  bool json = false, all_bins = false;
};

int show(const ShowOptions& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (document)
    reporter.print(options.json ? policy::policy_table_json(*document)
                                : policy::policy_table(*document, {.all_bins = options.all_bins}));
  return reporter.status();
}

int validate(const std::vector<std::string>& files, Reporter& reporter) {
  std::string text;
  const PipelineHost host;
  for (const std::string& file : files) {
    const auto document = load_policy(file, reporter);
    bool is_fine = document.has_value();
    // A spelling has no imports, and operations of the library only.
    std::error_code error;
    if (is_fine && std::filesystem::exists(file, error))
      is_fine = check_in_pipeline(host, file, policy::data_of(*document), reporter);
    text += fmt::format("{}: {}\n", file, is_fine ? "fine" : "wrong");
  }
  if (!reporter.json()) reporter.print(text);
  return reporter.status();
}

}  // namespace

Command add_policy_schema(CLI::App& parent) {
  CLI::App* app = add_subcommand(parent, "schema", "The JSON schema of policy files, for editors");
  set_footer(app, "Example: galatea policy schema > policy.schema.json");
  return {app, [](Reporter& reporter) {
            reporter.print(policy::schema_text());
            return reporter.status();
          }};
}

Command add_policy_list(CLI::App& parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app =
      add_subcommand(parent, "list", "The policies, operations and parameter functions that there are");
  add_flag(app, "--json", *json, "one JSON object (default: off; example: --json)");
  return {app, [json](Reporter& reporter) {
            reporter.print(*json ? list_json() : list_text());
            return reporter.status();
          }};
}

Command add_policy_show(CLI::App& parent) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* app = add_subcommand(
      parent, "show",
      "A policy as a table: how often each augmentation runs, its parameter at each magnitude");
  add_option(app, "policy", options->policy,
             {"POLICY", "", "a JSON file or a spelling", "\"rand_augment(n=2, m=9)\""})
      .required();
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  add_flag(app, "--all-bins", options->all_bins,
           "every bin is a column, not nine (default: off; example: --all-bins)");
  return {app, [options](Reporter& reporter) { return show(*options, reporter); }};
}

Command add_policy_validate(CLI::App& parent) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* app = add_subcommand(parent, "validate", "Checks policy files, and what they import");
  add_option(app, "policies", *files, {"POLICY", "", "JSON files or spellings", "policy.json"}).required();
  return {app, [files](Reporter& reporter) { return validate(*files, reporter); }};
}

}  // namespace galatea::tools
