// galatea policy convert, diff and mutate: making policies from policies.
#include <memory>

#include "base/json.h"
#include "dsl/formatter/formatter.h"
#include "policy/difference.h"
#include "policy/mutate.h"
#include "policy/pipeline_text.h"
#include "policy/spelling.h"
#include "policy/writer.h"
#include "tools/policy/policy_tools.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertPolicyOptions {
  std::string policy, to = "json", output;
};

int convert_policy(const ConvertPolicyOptions& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (!document) return reporter.status();
  if (options.to == "json") {
    write_result(options.output, policy::to_json(*document), reporter);
    return reporter.status();
  }
  if (options.to == "pipeline") {
    const dsl::FormatResult made =
        dsl::format_source("policy.dali-dsl", policy::pipeline_of(*document), reporter.sources());
    write_result(options.output, made.text, reporter);
    return reporter.status();
  }
  const policy::Target target = options.to == "call"          ? policy::Target::kCall
                                : options.to == "torchvision" ? policy::Target::kTorchvision
                                                              : policy::Target::kTimm;
  const Result<std::string> text = policy::spelling_of(*document, target);
  if (text)
    write_result(options.output, *text + "\n", reporter);
  else
    reporter.report(text.error());
  return reporter.status();
}

struct DiffOptions {
  std::string left, right;
  bool json = false;
};

std::string diff_text(const std::vector<policy::Difference>& found) {
  if (found.empty()) return "no difference\n";
  std::string text;
  for (const policy::Difference& each : found) {
    text += each.path + "\n";
    if (!each.left.empty()) text += "  - " + each.left + "\n";
    if (!each.right.empty()) text += "  + " + each.right + "\n";
  }
  return text;
}

std::string diff_json(const std::vector<policy::Difference>& found) {
  Json list = Json::array();
  auto side = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  for (const policy::Difference& each : found)
    list.push_back({{"path", each.path}, {"left", side(each.left)}, {"right", side(each.right)}});
  return json_text(Json{{"differences", list}}) + "\n";
}

int diff(const DiffOptions& options, Reporter& reporter) {
  const auto left = load_policy(options.left, reporter), right = load_policy(options.right, reporter);
  if (!left || !right) return reporter.status();
  const auto found = policy::differences(*left, *right);
  reporter.print(options.json ? diff_json(found) : diff_text(found));
  return reporter.status();
}

struct MutateOptions {
  std::string policy, output;
  uint64_t seed = 0;
  int changes = 1;
};

int mutate(const MutateOptions& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (!document) return reporter.status();
  const policy::Mutation mutation = policy::mutate(*document, options.seed, options.changes);
  for (const std::string& change : mutation.changes)
    if (!reporter.json()) say("{}\n", change);
  write_result(options.output, policy::to_json(mutation.document), reporter);
  return reporter.status();
}

const OptionHelp kPolicy = {"POLICY", "", "a JSON file or a spelling", "rand-m9-mstd0.5-inc1"};
const OptionHelp kOutput = {"FILE", "", "where the result goes; without it stdout", "-o policy.json"};

}  // namespace

Command add_policy_convert(CLI::App& parent) {
  auto options = std::make_shared<ConvertPolicyOptions>();
  CLI::App* app =
      add_subcommand(parent, "convert", "The same policy as JSON, or in the spelling of a library");
  add_option(app, "policy", options->policy, kPolicy).required();
  add_option(app, "--to", options->to,
             {"json|pipeline|call|torchvision|timm", "json",
              "the form of the result; pipeline is a file of the language, call a call of the library",
              "--to torchvision"})
      .one_of({"json", "pipeline", "call", "torchvision", "timm"});
  add_option(app, "-o,--output", options->output, kOutput);
  return {app, [options](Reporter& reporter) { return convert_policy(*options, reporter); }};
}

Command add_policy_diff(CLI::App& parent) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* app = add_subcommand(parent, "diff", "What two policies do not have in common");
  add_option(app, "left", options->left, {"POLICY", "", "a JSON file or a spelling", "before.json"})
      .required();
  add_option(app, "right", options->right, {"POLICY", "", "a JSON file or a spelling", "after.json"})
      .required();
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return diff(*options, reporter); }};
}

Command add_policy_mutate(CLI::App& parent) {
  auto options = std::make_shared<MutateOptions>();
  CLI::App* app = add_subcommand(parent, "mutate", "A policy with small random changes");
  add_option(app, "policy", options->policy, kPolicy).required();
  add_option(app, "--seed", options->seed, {"N", "0", "the same seed makes the same changes", "--seed 7"});
  add_option(app, "--changes", options->changes, {"N", "1", "how many changes are made", "--changes 3"})
      .between(1, 1000);
  add_option(app, "-o,--output", options->output, kOutput);
  return {app, [options](Reporter& reporter) { return mutate(*options, reporter); }};
}

}  // namespace galatea::tools
