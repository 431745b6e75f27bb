#include "policy/search/search.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "policy/messages.h"
#include "policy/reader.h"
#include "policy/search/objective.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {
namespace fs = std::filesystem;

class Search {
 public:
  Search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
         const SearchEvents& events)
      : space_(space), strategy_(strategy), journal_(journal), options_(options), events_(events) {}

  Status run() {
    GALATEA_TRY(take_journal());
    while (!events_.is_interrupted()) {
      GALATEA_TRY(start_trials());
      if (commands_.running() == 0) break;
      if (events_.running) events_.running(commands_.running());
      for (const auto& [number, outcome] :
           commands_.collect(std::chrono::milliseconds(100), options_.timeout))
        GALATEA_TRY(end_trial(number, outcome));
    }
    commands_.stop();
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
  void tell(Trial trial) {
    if (options_.minimize) trial.score = -trial.score;
    strategy_.tell(trial);
  }

  bool is_full() const { return commands_.running() >= static_cast<size_t>(options_.jobs); }

  Status start_trials() {
    while (!is_full() && !interrupted_.empty()) {
      const Trial trial = interrupted_.begin()->second;
      interrupted_.erase(interrupted_.begin());
      GALATEA_TRY(start(trial));
    }
    for (int64_t number = first_; number < options_.trials && !is_full();) {
      const Ask asked = begun_.contains(number) ? Ask{Ask::Kind::kNever, {}} : strategy_.ask(number);
      if (asked.kind == Ask::Kind::kEnd || asked.kind == Ask::Kind::kAllLater) break;
      if (asked.kind == Ask::Kind::kTrial) {
        begun_.insert(number);
        GALATEA_TRY(journal_.begin(asked.trial));
        GALATEA_TRY(start(asked.trial));
        number = first_;  // where it failed at once, one before it may be due
        continue;
      }
      // What is settled at the front is not asked for again.
      if (asked.kind == Ask::Kind::kNever && number == first_) first_ = number + 1;
      ++number;
    }
    return {};
  }

  std::string path_of(const char* what, int64_t number, const char* ending) const {
    return fmt::format("{}/{}-{:05}{}", options_.folder, what, number, ending);
  }

  std::unexpected<Error> cannot_write(const std::string& path, const std::string& why) const {
    return policy_error(
        Message::kJournal, {},
        {fmt::format("cannot write `{}`: {}", path, why), "make room, or name another folder"});
  }

  /// What an earlier attempt left in a trial's folder is no state of anything.
  Result<std::string> empty_state(int64_t number) const {
    std::error_code error;
    const std::string path = path_of("state", number, "");
    fs::remove_all(path, error);
    if (!error) fs::create_directories(path, error);
    if (error) return cannot_write(path, error.message());
    return path;
  }

  /// The policies of trials stand in a folder of their own, with a copy of what they import: files outside of
  /// it are not theirs to read. What is wrong, or "".
  std::string copy_imports(const Document& document) {
    for (const Import& import : document.imports) {
      const fs::path path = fs::path(import.path).lexically_normal();
      if (path.is_absolute() || *path.begin() == "..")
        return fmt::format("the import \"{}\" is not beside the space or below", import.path);
      if (!copied_.insert(import.path).second) continue;
      std::error_code error;
      const fs::path from = fs::path(options_.imports_from) / path, to = fs::path(options_.folder) / path,
                     partial = to.string() + ".partial";
      fs::create_directories(to.parent_path(), error);
      fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error);
      if (!error) fs::rename(partial, to, error);
      if (!error) continue;
      copied_.erase(import.path);
      return fmt::format("cannot copy the import \"{}\": {}", import.path, error.message());
    }
    return "";
  }

  Status start(const Trial& trial) {
    running_[trial.number] = trial;
    // A point may be no policy: a bin that its augmentation does not have, say.
    const ReadResult read = read_policy_tree(space_.at(trial.point));
    if (!read.document) {
      const auto error =
          std::find_if(read.diagnostics.begin(), read.diagnostics.end(),
                       [](const Diagnostic& each) { return each.severity == Severity::kError; });
      return end_trial(trial.number, {std::nullopt, "it is no policy: " + error->message, 0});
    }
    if (const std::string wrong = copy_imports(*read.document); !wrong.empty())
      return end_trial(trial.number, {std::nullopt, wrong, 0});
    const std::string path = path_of("trial", trial.number, ".json");
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << to_json(*read.document);
    file.close();
    if (!file) return cannot_write(path, std::strerror(errno));
    TrialWords words;
    words.words = {{"policy", path}, {"trial", fmt::format("{}", trial.number)}};
    if (trial.budget > 0) words.words.push_back({"budget", number_text(trial.budget)});
    words.words.push_back({"step", fmt::format("{}", trial.step)});
    if (options_.keeps_states) {
      Result<std::string> state = empty_state(trial.number);
      if (!state) return std::unexpected(state.error());
      words.words.push_back({"state", *state});
      words.words.push_back({"parent", trial.parent < 0 ? "" : path_of("state", trial.parent, "")});
    }
    if (!commands_.start(trial.number, command_for(options_.objective, words)))
      return end_trial(trial.number, {std::nullopt, "its command cannot be started", 0});
    return {};
  }

  Status end_trial(int64_t number, const Outcome& outcome) {
    Trial trial = running_.at(number);
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
  std::map<int64_t, Trial> interrupted_, running_;
  std::set<int64_t> begun_;
  std::set<std::string> copied_;
  int64_t first_ = 0;  ///< all before it have begun or never will
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
