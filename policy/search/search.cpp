#include "policy/search/search.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "policy/messages.h"
#include "policy/reader.h"
#include "policy/search/objective.h"
#include "policy/search/trial_files.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {

class Search {
 public:
  Search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
         const SearchEvents& events)
      : space_(space),
        strategy_(strategy),
        journal_(journal),
        options_(options),
        events_(events),
        several_a_call_(names_word(options.objective, "policies")),
        files_(options.folder, options.imports_from) {
    if (options.host)
      objective_ = std::make_unique<HostObjective>(*options.host);
    else
      objective_ = std::make_unique<Commands>(options_.now);
  }

  Status run() {
    GALATEA_TRY(take_journal());
    while (!events_.is_interrupted()) {
      GALATEA_TRY(start_calls());
      if (objective_->running() == 0) break;
      if (events_.running) events_.running(begun_.size() - journal_.ended().size());
      for (const ObjectiveEvent& event : objective_->collect(std::chrono::milliseconds(100)))
        GALATEA_TRY(event.ended ? end_call(event.call, *event.ended) : take_report(event.call, event.score));
    }
    objective_->stop();
    return {};
  }

 private:
  Status take_journal() {
    auto check = [&](const Trial& trial) -> Status {
      begun_.insert(trial.number);
      if (space_.contains(trial.point)) return {};
      return policy_error(Message::kJournal, {},
                          {fmt::format("the journal's trial {} is at no point of the space", trial.number),
                           "name another folder"});
    };
    for (const Trial& trial : journal_.ended()) {
      GALATEA_TRY(check(trial));
      tell(trial);
    }
    interrupted_ = journal_.open_trials();
    for (const auto& [number, trial] : interrupted_) GALATEA_TRY(check(trial));
    return {};
  }

  /// Strategies take the higher score for the better one.
  Trial as_strategies_see(Trial trial) const {
    if (!options_.minimize) return trial;
    trial.score = -trial.score;
    for (double& score : trial.scores) score = -score;
    return trial;
  }
  void tell(const Trial& trial) { strategy_.tell(as_strategies_see(trial)); }

  size_t most_together() const { return several_a_call_ ? static_cast<size_t>(options_.together) : 1; }

  /// Fills the places with calls: what is to run alone first, the others spread over what is left.
  Status start_calls() {
    for (;;) {
      const size_t places = static_cast<size_t>(options_.jobs) - objective_->running();
      if (places == 0) return {};
      if (!alone_.empty()) {
        const Trial trial = std::move(alone_.front());
        alone_.pop_front();
        GALATEA_TRY(start_call({trial}));
        continue;
      }
      GALATEA_TRY(make_ready(places * most_together()));
      if (ready_.empty()) return {};
      const size_t count = std::min(most_together(), (ready_.size() + places - 1) / places);
      const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(count);
      std::vector<Trial> trials(ready_.begin(), end);
      ready_.erase(ready_.begin(), end);
      GALATEA_TRY(start_call(std::move(trials)));
    }
  }

  /// Begins trials until `count` are ready for a call, or no other may begin yet.
  Status make_ready(size_t count) {
    while (ready_.size() < count && !interrupted_.empty()) {
      const Trial trial = interrupted_.begin()->second;
      interrupted_.erase(interrupted_.begin());
      GALATEA_TRY(write_files(trial));
    }
    for (int64_t number = first_; number < options_.trials && ready_.size() < count;) {
      const Ask asked = begun_.contains(number) ? Ask{Ask::Kind::kNever, {}} : strategy_.ask(number);
      if (asked.kind == Ask::Kind::kEnd || asked.kind == Ask::Kind::kAllLater) break;
      if (asked.kind == Ask::Kind::kTrial) {
        begun_.insert(number);
        GALATEA_TRY(journal_.begin(asked.trial));
        GALATEA_TRY(write_files(asked.trial));
        number = first_;  // where it failed at once, one before it may be due
        continue;
      }
      // What is settled at the front is not asked for again.
      if (asked.kind == Ask::Kind::kNever && number == first_) first_ = number + 1;
      ++number;
    }
    return {};
  }

  /// Then the trial is ready, or it has failed.
  Status write_files(const Trial& trial) {
    // A point may be no policy: a bin that its augmentation does not have, say.
    const ReadResult read = read_policy_tree(space_.at(trial.point));
    if (!read.document) {
      const auto error =
          std::find_if(read.diagnostics.begin(), read.diagnostics.end(),
                       [](const Diagnostic& each) { return each.severity == Severity::kError; });
      return end_trial(trial, std::nullopt, "it is no policy: " + error->message, 0);
    }
    if (const std::string wrong = files_.copy_imports(*read.document); !wrong.empty())
      return end_trial(trial, std::nullopt, wrong, 0);
    GALATEA_TRY(files_.write_policy(trial.number, *read.document));
    if (options_.keeps_states) GALATEA_TRY(files_.empty_state(trial.number));
    ready_.push_back(trial);
    return {};
  }

  TrialWords words_of(const std::vector<Trial>& trials) const {
    TrialWords words;
    if (several_a_call_) {
      words.words = {{"policies", {}}};
      for (const Trial& trial : trials) words.words[0].texts.push_back(files_.policy_of(trial.number));
      return words;
    }
    const Trial& trial = trials[0];
    words.words = {{"policy", {files_.policy_of(trial.number)}},
                   {"trial", {fmt::format("{}", trial.number)}},
                   {"step", {fmt::format("{}", trial.step)}}};
    if (trial.budget > 0) words.words.push_back({"budget", {number_text(trial.budget)}});
    if (options_.keeps_states) {
      words.words.push_back({"state", {files_.state_of(trial.number)}});
      words.words.push_back({"parent", {trial.parent < 0 ? "" : files_.state_of(trial.parent)}});
    }
    return words;
  }

  Status start_call(std::vector<Trial> trials) {
    ObjectiveCall call;
    call.number = next_call_++;
    call.words = words_of(trials);
    if (!options_.host) call.command = command_for(options_.objective, call.words);
    call.scores = trials.size();
    call.timeout = options_.timeout * static_cast<double>(trials.size());
    call.reports = options_.prune && trials.size() == 1;
    const int64_t number = call.number;
    calls_[number] = std::move(trials);
    if (objective_->start(std::move(call))) return {};
    return end_call(number, {{}, "its command cannot be started", 0, {}});
  }

  Status take_report(int64_t call, double score) {
    Trial& trial = calls_.at(call)[0];
    if (!trial.pruned) {
      trial.scores.push_back(score);
      trial.pruned =
          options_.prune && strategy_.prunes(as_strategies_see(trial))
                                .value_or(is_worse_half(trial.scores, journal_.ended(), options_.minimize));
    }
    objective_->answer(call, trial.pruned);
    return {};
  }

  Status end_call(int64_t number, const Outcome& outcome) {
    const std::vector<Trial> trials = std::move(calls_.at(number));
    calls_.erase(number);
    if (outcome.scores.empty() && trials.size() > 1) {
      alone_.insert(alone_.end(), trials.begin(), trials.end());
      return {};
    }
    for (size_t i = 0; i < trials.size(); ++i) {
      Trial trial = trials[i];
      trial.microseconds = outcome.microseconds;
      const std::string reason = why_failed(trial, outcome);
      GALATEA_TRY(end_trial(trial, reason.empty() ? std::optional(outcome.scores[i]) : std::nullopt, reason,
                            outcome.seconds / static_cast<double>(trials.size())));
    }
    return {};
  }

  /// Empty: it did not fail.
  std::string why_failed(const Trial& trial, const Outcome& outcome) const {
    if (trial.pruned)
      return fmt::format("pruned: it reported {} after {} score{}", number_text(trial.scores.back()),
                         trial.scores.size(), trial.scores.size() == 1 ? "" : "s");
    const double most = options_.max_microseconds;
    if (most > 0 && trial.microseconds && *trial.microseconds > most)
      return fmt::format("it takes {:.4g} microseconds a sample, more than {}", *trial.microseconds,
                         number_text(most));
    if (outcome.scores.empty()) return outcome.reason;
    if (most > 0 && !trial.microseconds)
      return "it did not tell what its policy takes: `microseconds NUMBER`";
    return "";
  }

  Status end_trial(Trial trial, std::optional<double> score, const std::string& reason, double seconds) {
    trial.failed = !score;
    trial.score = score.value_or(0);
    trial.seconds = seconds;
    trial.reason = reason;
    GALATEA_TRY(journal_.end(trial));
    tell(trial);
    if (events_.ended) events_.ended(trial);
    return {};
  }

  const Space& space_;
  Strategy& strategy_;
  Journal& journal_;
  const SearchOptions& options_;
  const SearchEvents& events_;
  const bool several_a_call_;
  TrialFiles files_;
  std::unique_ptr<Objective> objective_;
  std::map<int64_t, Trial> interrupted_;
  std::deque<Trial> ready_, alone_;  ///< they have begun, and wait for a call
  std::map<int64_t, std::vector<Trial>> calls_;
  int64_t next_call_ = 0;
  std::set<int64_t> begun_;
  int64_t first_ = 0;  ///< all before it have begun or never will
};

}  // namespace

bool is_worse_half(const std::vector<double>& scores, const std::vector<Trial>& ended, bool minimize) {
  constexpr size_t kLeastTrials = 5;
  const size_t place = scores.size() - 1;
  std::vector<double> others;
  for (const Trial& trial : ended)
    if (!trial.failed && trial.scores.size() > place) others.push_back(trial.scores[place]);
  if (others.size() < kLeastTrials) return false;
  std::ranges::sort(others);
  const double median = (others[(others.size() - 1) / 2] + others[others.size() / 2]) / 2;
  return minimize ? *std::ranges::min_element(scores) > median : *std::ranges::max_element(scores) < median;
}

Status run_search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
                  const SearchEvents& events) {
  return Search(space, strategy, journal, options, events).run();
}

std::vector<Trial> ranking(const std::vector<Trial>& trials, bool minimize) {
  std::vector<Trial> ranked;
  for (const Trial& trial : trials)
    if (!trial.failed) ranked.push_back(trial);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Trial& a, const Trial& b) {
    if (a.budget != b.budget || a.step != b.step)
      return std::tie(a.budget, a.step) > std::tie(b.budget, b.step);
    return a.score != b.score ? (minimize ? a.score < b.score : a.score > b.score) : a.number < b.number;
  });
  return ranked;
}

std::vector<Trial> lineage(const std::vector<Trial>& trials, int64_t number) {
  std::map<int64_t, const Trial*> by_number;
  for (const Trial& trial : trials) by_number[trial.number] = &trial;
  std::vector<Trial> line;
  // A parent's number is the smaller one.
  for (auto found = by_number.find(number); found != by_number.end();
       found = by_number.find(found->second->parent))
    line.push_back(*found->second);
  std::reverse(line.begin(), line.end());
  return line;
}

}  // namespace galatea::policy
