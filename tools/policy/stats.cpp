// galatea policy stats POLICY --data FOLDER: what a policy changes, in numbers.
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "policy/table.h"
#include "tools/interrupt.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string policy, data;
  int samples = 256, size = 160;
  uint64_t seed = 0;
  std::vector<std::string> extras;
  bool json = false;
};

struct Counts {
  int64_t samples = 0, unchanged = 0, saturated = 0, empty = 0;
  double change = 0;  ///< sum of the samples' mean differences
};

/// Compares two pictures of bytes of one size.
void count_sample(const runtime::Tensor& before, const runtime::Tensor& after, Counts& counts) {
  int64_t difference = 0, extreme = 0, total = 0;
  int least = 255, most = 0;
  for (int64_t y = 0; y < after.extents[0]; ++y) {
    for (int64_t x = 0; x < after.extents[1]; ++x) {
      for (int64_t c = 0; c < after.extents[2]; ++c, ++total) {
        const int a = before.data[y * before.strides[0] + x * before.strides[1] + c * before.strides[2]];
        const int b = after.data[y * after.strides[0] + x * after.strides[1] + c * after.strides[2]];
        difference += std::abs(a - b);
        extreme += b == 0 || b == 255;
        least = std::min(least, b);
        most = std::max(most, b);
      }
    }
  }
  ++counts.samples;
  counts.unchanged += difference == 0;
  counts.saturated += 2 * extreme > total;
  counts.empty += least == most;
  counts.change += total > 0 ? static_cast<double>(difference) / static_cast<double>(total) : 0;
}

/// False: an error was reported.
bool count_all(const PipelineHost& host, const ir::Graph& graph, const Options& options, Counts& counts,
               Reporter& reporter) {
  auto program = host.compile(graph, {}, nullptr, reporter);
  if (program == nullptr) return false;
  auto session = host.open(program, nullptr, reporter);
  if (session == nullptr) return false;
  const OrderlyEnd orderly;
  // Small folders are gone through several times: each epoch has draws of its own.
  for (int64_t in_epoch = 0; counts.samples < options.samples && !is_interrupted();) {
    auto next = session->next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value()) {
      if (std::exchange(in_epoch, 0) == 0) break;
      continue;
    }
    const runtime::Batch& batch = ***next;
    for (int i = 0; i < batch.num_samples() && counts.samples < options.samples; ++i, ++in_epoch)
      count_sample(batch.outputs[0].samples[static_cast<size_t>(i)],
                   batch.outputs[1].samples[static_cast<size_t>(i)], counts);
  }
  return true;
}

int stats(const Options& options, Reporter& reporter) {
  const auto document = load_policy(options.policy, reporter);
  if (!document) return reporter.status();
  std::string extras = fmt::format("shape=[{0}, {0}]", options.size);
  for (const std::string& extra : options.extras) extras += ", " + extra;
  const PipelineHost host;
  const Pictures pictures = {options.data, options.size, 8, options.seed};
  const auto graph = stage_over_pictures(host, *document, options.policy, pictures,
                                         fmt::format("augment(image, {})", extras), reporter);
  Counts counts;
  if (graph == nullptr || !count_all(host, *graph, options, counts, reporter)) return reporter.status();
  const auto n = static_cast<double>(std::max<int64_t>(counts.samples, 1));
  auto share = [n](int64_t count) { return static_cast<double>(count) / n; };
  const auto runs = policy::expected_runs(*document);
  if (options.json) {
    reporter.print(Json{{"samples", counts.samples},
                        {"unchanged", share(counts.unchanged)},
                        {"mean_change", counts.change / n},
                        {"saturated", share(counts.saturated)},
                        {"empty", share(counts.empty)},
                        {"expected_runs", runs}}
                       .dump() +
                   "\n");
  } else {
    std::string text = fmt::format(
        "{} samples of {} x {}\n"
        "  {:6.2f} %  left as they were\n"
        "  {:6.2f}    mean change of a value, of 255\n"
        "  {:6.2f} %  mostly 0 or 255 afterwards\n"
        "  {:6.2f} %  of one value afterwards\n"
        "\nexpected runs on a sample:\n",
        counts.samples, options.size, options.size, 100 * share(counts.unchanged), counts.change / n,
        100 * share(counts.saturated), 100 * share(counts.empty));
    for (const auto& [name, expected] : runs) text += fmt::format("  {:6.3f}    {}\n", expected, name);
    reporter.print(text);
  }
  return is_interrupted() ? static_cast<int>(kInterrupted) : reporter.status();
}

}  // namespace

Command add_policy_stats(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      parent.add_subcommand("stats", "What a policy changes, in numbers, over the pictures of a folder");
  add_option(app, "policy", options->policy, {"POLICY", "", "a JSON file or a spelling", "policy.json"})
      ->required();
  add_option(app, "--data", options->data, {"FOLDER", "", "a folder of folders of pictures", "--data photos"})
      ->required();
  add_option(app, "--samples", options->samples,
             {"N", "256", "how many samples are looked at", "--samples 1000"})
      ->check(CLI::Range(1, 10'000'000).description(""));
  add_option(app, "--size", options->size,
             {"PIXELS", "160", "height and width of the pictures", "--size 224"})
      ->check(CLI::Range(8, 2048).description(""));
  add_option(app, "--seed", options->seed, {"N", "0", "other draws", "--seed 7"})
      ->check(CLI::Range(uint64_t{0}, uint64_t{INT64_MAX}).description(""));
  add_option(app, "--extra", options->extras,
             {"NAME=VALUE", "", "an argument for the policy's operations, as in the language; repeatable",
              "--extra fill_value=0"});
  app->add_flag("--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return stats(*options, reporter); }};
}

}  // namespace galatea::tools
