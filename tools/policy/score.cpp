// galatea policy score POLICY --data FOLDER: affinity and diversity, a guess of how good a policy is.
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/scalar_op.h"
#include "policy/search/features.h"
#include "policy/search/proxy.h"
#include "tools/interrupt.h"
#include "tools/messages.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/policy_tools.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  PictureOptions pictures = {.policy = {}, .data = {}, .size = 224, .seed = 0, .extras = {}};
  size_t samples = 128;
  int draws = 4;
  bool json = false;
};

policy::PictureView view_of(const runtime::Tensor& tensor) {
  return {tensor.data,       tensor.extents[0], tensor.extents[1],
          tensor.strides[0], tensor.strides[1], tensor.strides[2]};
}

void add_batch(const runtime::Batch& batch, const policy::Features& features, size_t limit,
               std::vector<policy::ProxySample>& samples) {
  for (size_t i = 0; i < static_cast<size_t>(batch.num_samples()) && samples.size() < limit; ++i) {
    policy::ProxySample sample;
    const runtime::Tensor& label = batch.outputs[1].samples[i];
    sample.label = cell_to_int(label.dtype, load_cell(label.dtype, label.data));
    sample.clean = features.of(view_of(batch.outputs[0].samples[i]));
    for (size_t k = 2; k < batch.outputs.size(); ++k)
      sample.augmented.push_back(features.of(view_of(batch.outputs[k].samples[i])));
    samples.push_back(std::move(sample));
  }
}

/// Features of the first pictures of an epoch. False: an error was reported.
bool gather_features(const PipelineHost& host, const ir::Graph& graph, const Options& options,
                     const policy::Features& features, std::vector<policy::ProxySample>& samples,
                     Reporter& reporter) {
  auto program = host.compile(graph, {}, nullptr, reporter);
  if (program == nullptr) return false;
  auto session = host.open(program, nullptr, reporter);
  if (session == nullptr) return false;
  const OrderlyEnd orderly;
  while (samples.size() < options.samples && !is_interrupted()) {
    auto next = session->next(std::chrono::milliseconds(100));
    if (!next) {
      if (!next.error().diagnostics.empty() && next.error().diagnostics[0].code == "G0901") continue;
      reporter.report(next.error());
      return false;
    }
    if (!next->has_value()) break;
    add_batch(***next, features, options.samples, samples);
  }
  return true;
}

int score(const Options& options, Reporter& reporter) {
  const auto document = load_policy(options.pictures.policy, reporter);
  if (!document) return reporter.status();
  const PipelineHost host;
  Pictures pictures = options.pictures.pictures(8);
  pictures.shuffled = true;  // or a small number of samples would be of one class
  const auto graph = stage_over_pictures(host, *document, options.pictures.policy, pictures,
                                         fmt::format("label, *[augment(image, {}) for _ in range({})]",
                                                     options.pictures.arguments(), options.draws),
                                         false, reporter)
                         .graph;
  const policy::Features features;
  std::vector<policy::ProxySample> samples;
  if (graph == nullptr || !gather_features(host, *graph, options, features, samples, reporter))
    return reporter.status();
  if (is_interrupted()) {
    fmt::print(stderr, "galatea: interrupted after {} samples\n", samples.size());
    return kInterrupted;
  }
  GALATEA_CHECK(!samples.empty(), "a reader without files is refused");
  const policy::ProxyScore result = policy::proxy_score(samples, features.weights());
  if (options.json)
    reporter.print(Json{{"affinity", result.affinity},
                        {"diversity", result.diversity},
                        {"score", result.score},
                        {"samples", samples.size()},
                        {"draws", options.draws},
                        {"classes", result.classes}}
                       .dump() +
                   "\n");
  else
    reporter.print(fmt::format(
        "{} samples of {} classes, {} draws of each\naffinity  {:.4f}\ndiversity {:.4f}\n{:.6f}\n",
        samples.size(), result.classes, options.draws, result.affinity, result.diversity, result.score));
  return reporter.status();
}

}  // namespace

Command add_policy_score(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand(
      "score",
      "Affinity and diversity over the pictures of a folder: a guess of how good a policy is, without "
      "training");
  add_picture_options(app, options->pictures);
  add_option(app, "--samples", options->samples, {"N", "128", "how many pictures", "--samples 500"})
      ->check(CLI::Range(size_t{2}, size_t{1'000'000}).description(""));
  add_option(app, "--draws", options->draws,
             {"N", "4", "how many augmented copies of each picture", "--draws 8"})
      ->check(CLI::Range(2, 64).description(""));
  app->add_flag("--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return score(*options, reporter); }};
}

}  // namespace galatea::tools
