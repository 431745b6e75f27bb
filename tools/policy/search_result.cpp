#include "tools/policy/search_result.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"
#include "policy/search/report.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

using Json = nlohmann::ordered_json;
using policy::Trial;

std::string point_text(const policy::Space& space, const policy::Point& point) {
  std::string text;
  const std::vector<bool> active = space.active(point);
  for (size_t i = 0; i < point.size(); ++i)
    if (active[i])
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", space.genes()[i].path,
                          policy::value_text(space.genes()[i], point[i]));
  return text;
}

std::string round_text(const Trial& trial) {
  if (trial.budget > 0) return fmt::format("budget {:<6} ", policy::number_text(trial.budget));
  return trial.step > 0 ? fmt::format("step {:<4} ", trial.step) : "";
}

}  // namespace

std::string search_text(const policy::Space& space, const policy::Journal& journal, bool minimize) {
  constexpr size_t kShown = 10;
  const auto ranked = policy::ranking(journal.ended(), minimize);
  std::string text = fmt::format(
      "{} trials, {} failed; {}\n", journal.ended().size(), journal.ended().size() - ranked.size(),
      ranked.empty() ? "no score" : fmt::format("best score {:.6g}", ranked[0].score));
  for (size_t i = 0; i < std::min(kShown, ranked.size()); ++i)
    text += fmt::format("  {:>12.6g}  {}trial {:<6} {:>8.1f} s  {}\n", ranked[i].score, round_text(ranked[i]),
                        ranked[i].number, ranked[i].seconds, point_text(space, ranked[i].point));
  return text;
}

std::string search_json(const policy::Space& space, const policy::Journal& journal, bool minimize) {
  Json trials = Json::array(), genes = Json::array(), built_on = Json::array();
  for (const policy::Gene& gene : space.genes()) genes.push_back(gene.path);
  for (const Trial& trial : journal.ended()) {
    Json point = Json::array();
    const std::vector<bool> active = space.active(trial.point);
    for (size_t i = 0; i < active.size(); ++i)
      point.push_back(active[i] ? Json(trial.point[i]) : Json(nullptr));
    trials.push_back({{"trial", trial.number},
                      {"point", point},
                      {"score", trial.failed ? Json(nullptr) : Json(trial.score)},
                      {"failed", trial.failed ? Json(trial.reason) : Json(nullptr)},
                      {"seconds", trial.seconds},
                      {"budget", trial.budget > 0 ? Json(trial.budget) : Json(nullptr)},
                      {"step", trial.step},
                      {"parent", trial.parent < 0 ? Json(nullptr) : Json(trial.parent)},
                      {"pruned", trial.pruned},
                      {"scores", trial.scores},
                      {"microseconds", trial.microseconds ? Json(*trial.microseconds) : Json(nullptr)}});
  }
  const auto ranked = policy::ranking(journal.ended(), minimize);
  if (!ranked.empty())
    for (const Trial& trial : policy::lineage(journal.ended(), ranked[0].number))
      built_on.push_back(trial.number);
  return json_text(Json{{"values", genes},
                        {"trials", trials},
                        {"best", ranked.empty() ? Json(nullptr) : Json(ranked[0].number)},
                        {"lineage", built_on}}) +
         "\n";
}

std::string search_progress_words(const std::vector<Trial>& ended, size_t running, int64_t trials,
                                  bool minimize, double seconds_a_trial) {
  const auto ranked = policy::ranking(ended, minimize);
  std::string words = fmt::format("{}/{} trials, {} running", ended.size(), trials, running);
  if (ranked.size() < ended.size()) words += fmt::format(", {} failed", ended.size() - ranked.size());
  if (!ranked.empty()) words += fmt::format(", best {:.6g}", ranked[0].score);
  const auto left = trials - static_cast<int64_t>(ended.size());
  if (seconds_a_trial > 0 && left > 0)
    words += ", " + duration_text(seconds_a_trial * static_cast<double>(left)) + " left";
  return words;
}

SearchProgress::SearchProgress(const policy::Journal& journal, int64_t trials, bool minimize,
                               bool is_terminal)
    : journal_(journal),
      trials_(trials),
      before_(static_cast<int64_t>(journal.ended().size())),
      minimize_(minimize),
      is_terminal_(is_terminal),
      bar_(trials, is_terminal) {}

void SearchProgress::ended(const Trial& trial) {
  if (is_terminal_ && !trial.failed) return;
  bar_.clear();
  const auto ranked = policy::ranking(journal_.ended(), minimize_);
  say("trial {}: {} ({:.1f} s); {} of {}{}\n", trial.number,
      trial.failed ? "failed: " + trial.reason : fmt::format("{:.6g}", trial.score), trial.seconds,
      journal_.ended().size(), trials_, ranked.empty() ? "" : fmt::format(", best {:.6g}", ranked[0].score));
}

void SearchProgress::running(size_t count) {
  if (!is_terminal_) return;
  const auto done = static_cast<int64_t>(journal_.ended().size()) - before_;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  bar_.show(static_cast<double>(journal_.ended().size()) / static_cast<double>(trials_),
            search_progress_words(journal_.ended(), count, trials_, minimize_,
                                  done > 0 ? seconds / static_cast<double>(done) : 0));
}

}  // namespace galatea::tools
