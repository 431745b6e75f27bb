// galatea policy stats POLICY --data FOLDER: what a policy changes, in numbers.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "base/json.h"
#include "tools/interrupt.h"
#include "tools/policy/policy_tools.h"
#include "tools/policy/run_statistics.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct StatsOptions {
  std::string policy;
  PictureOptions pictures;
  int samples = 256;
  bool json = false;
};

/// Bars of a histogram as one character each.
std::string bars(const ParameterStatistics& parameter) {
  constexpr const char* kHeights[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int64_t most = std::ranges::max(parameter.histogram);
  std::string out;
  for (const int64_t count : parameter.histogram)
    out += kHeights[count == 0 ? 0 : 1 + 7 * (count - 1) / std::max<int64_t>(most - 1, 1)];
  return out;
}

Json json_of(const OperationStatistics& operation, double samples) {
  Json out = {{"name", operation.name},
              {"runs", operation.runs},
              {"runs_per_sample", static_cast<double>(operation.runs) / samples},
              {"expected", operation.expected},
              {"microseconds", nullptr},
              {"parameter", nullptr}};
  if (operation.microseconds) out["microseconds"] = *operation.microseconds;
  if (const auto& parameter = operation.parameter)
    out["parameter"] = {{"count", parameter->count}, {"negative", parameter->negative},
                        {"least", parameter->least}, {"most", parameter->most},
                        {"mean", parameter->mean},   {"histogram", parameter->histogram}};
  return out;
}

std::string statistics_json(const PolicyStatistics& found) {
  const auto n = static_cast<double>(std::max<int64_t>(found.samples, 1));
  Json operations = Json::array();
  Json expected = Json::object();
  for (const OperationStatistics& operation : found.operations) {
    operations.push_back(json_of(operation, n));
    expected[operation.name] = operation.expected;
  }
  return json_text(Json{{"samples", found.samples},
                        {"unchanged", static_cast<double>(found.unchanged) / n},
                        {"mean_change", found.change / n},
                        {"saturated", static_cast<double>(found.saturated) / n},
                        {"empty", static_cast<double>(found.empty) / n},
                        {"microseconds_per_sample", found.microseconds},
                        {"operations", std::move(operations)},
                        {"expected_runs", std::move(expected)}}) +
         "\n";
}

std::string operation_line(const OperationStatistics& operation, double samples, size_t width) {
  std::string line = fmt::format("  {:{}}  {:6}  {:8.3f}  {:8.3f}", operation.name, width, operation.runs,
                                 static_cast<double>(operation.runs) / samples, operation.expected);
  line += operation.microseconds ? fmt::format("  {:6.0f}", *operation.microseconds) : "       -";
  if (const auto& parameter = operation.parameter)
    line += fmt::format(
        "  {:8.4g}  {:8.4g}  {:8.4g}  {:5.1f} %  {}", parameter->least, parameter->mean, parameter->most,
        100 * static_cast<double>(parameter->negative) / static_cast<double>(parameter->count),
        bars(*parameter));
  return line + "\n";
}

std::string text_of(const PolicyStatistics& found, int size) {
  const auto n = static_cast<double>(std::max<int64_t>(found.samples, 1));
  auto percent = [n](int64_t count) { return 100 * static_cast<double>(count) / n; };
  std::string text = fmt::format(
      "{} samples of {} x {}\n"
      "  {:6.2f} %   left as they were\n"
      "  {:6.2f}     mean change of a value, of 255\n"
      "  {:6.2f} %   mostly 0 or 255 afterwards\n"
      "  {:6.2f} %   of one value afterwards\n"
      "  {:6.0f} µs  a sample in the policy's kernels\n\n",
      found.samples, size, size, percent(found.unchanged), found.change / n, percent(found.saturated),
      percent(found.empty), found.microseconds);
  size_t width = 9;
  for (const OperationStatistics& operation : found.operations)
    width = std::max(width, operation.name.size());
  text += fmt::format("  {:{}}  {:>6}  {:>8}  {:>8}  {:>6}  {:>8}  {:>8}  {:>8}  {:>7}\n", "operation", width,
                      "runs", "a sample", "expected", "µs", "least", "mean", "most", "negative");
  for (const OperationStatistics& operation : found.operations) text += operation_line(operation, n, width);
  return text;
}

int stats(const StatsOptions& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (!document || !check_is_for_pictures(*document, options.policy, reporter)) return reporter.status();
  const StatisticsOptions wanted = {options.policy, options.pictures.pictures(8), options.samples,
                                    options.pictures.arguments()};
  const PipelineHost host;
  const auto found = gather_statistics(host, *document, wanted, reporter);
  if (!found) return reporter.status();
  reporter.print(options.json ? statistics_json(*found) : text_of(*found, options.pictures.size));
  return is_interrupted() ? static_cast<int>(kInterrupted) : reporter.status();
}

}  // namespace

Command add_policy_stats(CLI::App& parent) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* app =
      add_subcommand(parent, "stats", "What a policy changes, in numbers, over the pictures of a folder");
  add_policy_argument(app, options->policy);
  add_picture_options(app, options->pictures);
  add_option(app, "--samples", options->samples,
             {"N", "256", "how many samples are looked at", "--samples 1000"})
      .between(1, 10'000'000);
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return stats(*options, reporter); }};
}

}  // namespace galatea::tools
