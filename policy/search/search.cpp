#include "policy/search/search.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "policy/messages.h"
#include "policy/reader.h"
#include "policy/search/objective.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {

class Search {
 public:
  Search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
         const SearchEvents& events)
      : space_(space), strategy_(strategy), journal_(journal), options_(options), events_(events) {}

  Status run() {
    for (const Trial& trial : journal_.ended()) {
      tell(trial);
      next_ = std::max(next_, trial.number + 1);
    }
    for (const auto& [number, point] : journal_.open_trials()) {
      interrupted_[number] = point;
      next_ = std::max(next_, number + 1);
    }
    while (!events_.is_interrupted()) {
      GALATEA_TRY(start_trials());
      if (commands_.running() == 0) break;
      for (const auto& [number, outcome] :
           commands_.collect(std::chrono::milliseconds(100), options_.timeout))
        GALATEA_TRY(end_trial(number, outcome));
    }
    commands_.stop();
    return {};
  }

 private:
  /// Strategies take the higher score for the better one.
  void tell(Trial trial) {
    if (options_.minimize) trial.score = -trial.score;
    strategy_.tell(trial);
  }

  Status start_trials() {
    while (commands_.running() < static_cast<size_t>(options_.jobs) && !exhausted_) {
      int64_t number = next_;
      Point point;
      if (!interrupted_.empty()) {
        number = interrupted_.begin()->first;
        point = interrupted_.begin()->second;
        interrupted_.erase(interrupted_.begin());
      } else if (next_ >= options_.trials) {
        return {};
      } else {
        const std::optional<Point> asked = strategy_.ask(next_);
        if (!asked) {
          exhausted_ = true;
          return {};
        }
        point = *asked;
        ++next_;
        GALATEA_TRY(journal_.begin(number, point));
      }
      running_[number] = point;
      GALATEA_TRY(start(number, point));
    }
    return {};
  }

  Status start(int64_t number, const Point& point) {
    // A point may be no policy: a bin that its augmentation does not have, say.
    const ReadResult read = read_policy_tree(space_.at(point));
    if (!read.document) {
      const auto error =
          std::find_if(read.diagnostics.begin(), read.diagnostics.end(),
                       [](const Diagnostic& each) { return each.severity == Severity::kError; });
      return end_trial(number, {std::nullopt, "it is no policy: " + error->message, 0});
    }
    const std::string path = fmt::format("{}/trial-{:05}.json", options_.folder, number);
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << to_json(*read.document);
    file.close();
    if (!file)
      return policy_error(Message::kJournal, {},
                          {fmt::format("cannot write `{}`: {}", path, std::strerror(errno)), "make room"});
    if (!commands_.start(number, command_for(options_.objective, path)))
      return end_trial(number, {std::nullopt, "its command cannot be started", 0});
    return {};
  }

  Status end_trial(int64_t number, const Outcome& outcome) {
    Trial trial;
    trial.number = number;
    trial.point = running_.at(number);
    trial.failed = !outcome.score;
    trial.score = outcome.score.value_or(0);
    trial.seconds = outcome.seconds;
    trial.reason = outcome.reason;
    running_.erase(number);
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
  Commands commands_;
  std::map<int64_t, Point> interrupted_, running_;
  int64_t next_ = 0;
  bool exhausted_ = false;
};

}  // namespace

Status run_search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
                  const SearchEvents& events) {
  return Search(space, strategy, journal, options, events).run();
}

std::vector<Trial> ranking(const std::vector<Trial>& trials, bool minimize) {
  std::vector<Trial> ranked;
  for (const Trial& trial : trials)
    if (!trial.failed) ranked.push_back(trial);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Trial& a, const Trial& b) {
    return a.score != b.score ? (minimize ? a.score < b.score : a.score > b.score) : a.number < b.number;
  });
  return ranked;
}

}  // namespace galatea::policy
