// galatea policy score POLICY… --data FOLDER: affinity and diversity, a guess of how good policies are.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "base/json.h"
#include "base/scalar_op.h"
#include "policy/search/features.h"
#include "policy/search/proxy.h"
#include "policy/writer.h"
#include "tools/interrupt.h"
#include "tools/messages.h"
#include "tools/policy/over_pictures.h"
#include "tools/policy/policy_tools.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreOptions {
  std::vector<std::string> policies;
  PictureOptions pictures = {.data = {}, .size = 224, .seed = 0, .extras = {}};
  size_t samples = 128;
  int draws = 4;
  bool json = false;
};

/// The samples as each policy has them.
using Samples = std::vector<std::vector<policy::ProxySample>>;

policy::PictureView view_of(const runtime::Tensor& tensor) {
  return {tensor.data,       tensor.extents[0], tensor.extents[1],
          tensor.strides[0], tensor.strides[1], tensor.strides[2]};
}

/// Outputs are the picture, its class, and each draw for each policy.
void add_batch(const runtime::Batch& batch, const policy::Features& features, size_t limit,
               Samples& samples) {
  for (size_t i = 0; i < static_cast<size_t>(batch.num_samples()) && samples[0].size() < limit; ++i) {
    policy::ProxySample sample;
    const runtime::Tensor& label = batch.outputs[1].samples[i];
    sample.label = cell_to_int(label.dtype, load_cell(label.dtype, label.data));
    sample.clean = features.of(view_of(batch.outputs[0].samples[i]));
    for (auto& of_policy : samples) of_policy.push_back(sample);
    for (size_t k = 2; k < batch.outputs.size(); ++k)
      samples[(k - 2) % samples.size()].back().augmented.push_back(
          features.of(view_of(batch.outputs[k].samples[i])));
  }
}

/// Features of the first pictures of an epoch. False: an error was reported.
bool gather_features(const PipelineHost& host, const ir::Graph& graph, const ScoreOptions& options,
                     const policy::Features& features, Samples& samples, Reporter& reporter) {
  auto program = host.compile(graph, {}, nullptr, reporter);
  if (program == nullptr) return false;
  auto session = host.open(program, nullptr, reporter);
  if (session == nullptr) return false;
  const OrderlyEnd orderly;
  while (samples[0].size() < options.samples && !is_interrupted()) {
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

std::string scores_json(const ScoreOptions& options, const Samples& samples,
                        const std::vector<policy::ProxyScore>& scores) {
  std::string text;
  for (size_t k = 0; k < scores.size(); ++k)
    text += json_text(Json{{"policy", options.policies[k]},
                           {"affinity", scores[k].affinity},
                           {"diversity", scores[k].diversity},
                           {"score", scores[k].score},
                           {"samples", samples[k].size()},
                           {"draws", options.draws},
                           {"classes", scores[k].classes}}) +
            "\n";
  return text;
}

/// The last lines are the scores, for who reads them as an objective's.
std::string text_of(const ScoreOptions& options, const Samples& samples,
                    const std::vector<policy::ProxyScore>& scores) {
  std::string text = fmt::format("{} samples of {} classes, {} draws of each\n", samples[0].size(),
                                 scores[0].classes, options.draws);
  for (size_t k = 0; k < scores.size(); ++k) {
    if (scores.size() > 1) text += options.policies[k] + "\n";
    text += fmt::format("affinity  {:.4f}\ndiversity {:.4f}\n", scores[k].affinity, scores[k].diversity);
  }
  for (const policy::ProxyScore& score : scores) text += fmt::format("{:.6f}\n", score.score);
  return text;
}

int score(const ScoreOptions& options, Reporter& reporter) {
  std::vector<dsl::PolicyText> policies;
  for (const std::string& name : options.policies) {
    const auto document = load_policy(name, reporter);
    if (!document || !check_is_for_pictures(*document, name, reporter)) return reporter.status();
    policies.push_back({name, policy::to_json(*document)});
  }
  const PipelineHost host;
  // What is in flight at a time is about the same for any number of policies.
  const auto count = static_cast<int>(options.policies.size());
  Pictures pictures = options.pictures.pictures(std::max(1, 8 / count));
  pictures.shuffled = true;  // or a small number of samples would be of one class
  const auto graph =
      stage_several_over_pictures(host, policies, pictures,
                                  fmt::format("label, *[augment(image, {}) for _ in range({})]",
                                              options.pictures.arguments(), options.draws),
                                  reporter)
          .graph;
  const policy::Features features;
  Samples samples(options.policies.size());
  if (graph == nullptr || !gather_features(host, *graph, options, features, samples, reporter))
    return reporter.status();
  if (is_interrupted()) {
    say("galatea: interrupted after {} samples\n", samples[0].size());
    return kInterrupted;
  }
  GALATEA_CHECK(!samples[0].empty(), "a reader without files is refused");
  std::vector<policy::ProxyScore> scores;
  for (const auto& of_policy : samples) scores.push_back(policy::proxy_score(of_policy, features.weights()));
  reporter.print(options.json ? scores_json(options, samples, scores) : text_of(options, samples, scores));
  return reporter.status();
}

}  // namespace

Command add_policy_score(CLI::App& parent) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* app = add_subcommand(
      parent, "score",
      "Affinity and diversity over the pictures of a folder: a guess of how good policies are, without "
      "training");
  add_option(
      app, "policies", options->policies,
      {"POLICY", "", "JSON files or spellings; each picture is decoded once for all of them", "policy.json"})
      .required()
      .values(1, 64);
  add_picture_options(app, options->pictures);
  add_option(app, "--samples", options->samples, {"N", "128", "how many pictures", "--samples 500"})
      .between(size_t{2}, size_t{1'000'000});
  add_option(app, "--draws", options->draws,
             {"N", "4", "how many augmented copies of each picture", "--draws 8"})
      .between(2, 64);
  add_flag(app, "--json", options->json, "one JSON object (default: off; example: --json)");
  return {app, [options](Reporter& reporter) { return score(*options, reporter); }};
}

}  // namespace galatea::tools
