#include "policy/search/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/json.h"
#include "policy/messages.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> problem(const std::string& what, const std::string& help) {
  return policy_error(Message::kJournal, {}, {what, help});
}

/// What the system refused: "cannot lock the journal", say.
std::unexpected<Error> refusal(const std::string& what, const std::string& path, const std::string& help) {
  const int number = errno;
  return make_error(
      kind_of_errno(number),
      diagnose(Message::kJournal, {}, {fmt::format("{} `{}`: {}", what, path, std::strerror(number)), help}));
}

/// What the journal says of its search, in the words in which a difference is reported.
Json json_of(const JournalHead& head) {
  const StrategyOptions& strategy = head.strategy;
  Json json = {{"search", 2},
               {"strategy", strategy.name},
               {"seed", strategy.seed},
               {"objective", head.objective},
               {"minimize", head.minimize}};
  if (strategy.name == "grid") json["levels"] = strategy.levels;
  if (strategy.name == "evolution") {
    json["tournament"] = strategy.tournament;
    json["ahead"] = strategy.ahead;
  }
  if (strategy.name == "evolution" || strategy.has_parents())
    json["population"] = strategy.population_or_default();
  if (strategy.has_budgets()) {
    json["eta"] = strategy.eta;
    json["least budget"] = strategy.least_budget;
    json["budget"] = strategy.greatest_budget;
  }
  if (head.prune) json["prune"] = true;
  if (head.max_microseconds > 0) json["greatest microseconds"] = head.max_microseconds;
  json["space"] = head.space;
  return json;
}

/// The first thing in which two searches differ.
std::string difference(const Json& there, const Json& here) {
  for (const auto& [key, value] : here.items())
    if (!there.contains(key) || there[key] != value) return key;
  for (const auto& [key, value] : there.items())
    if (!here.contains(key)) return key;
  return "";
}

template <typename T>
bool read_field(const Json& line, const char* key, T& value, bool needed) {
  if (!line.contains(key)) return !needed;
  const Json& found = line[key];
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found.is_string()) return false;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (!found.is_number_integer()) return false;
  } else {
    if (!found.is_number()) return false;
  }
  value = found.get<T>();
  return true;
}

/// A list that need not be there.
bool read_numbers(const Json& line, const char* key, std::vector<double>& numbers) {
  if (!line.contains(key)) return true;
  if (!line[key].is_array()) return false;
  for (const Json& value : line[key]) {
    if (!value.is_number()) return false;
    numbers.push_back(value.get<double>());
  }
  return true;
}

/// A new file's name is on the disk when its folder is.
void flush_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      cut_off_(other.cut_off_),
      begun_(std::move(other.begun_)),
      ended_(std::move(other.ended_)),
      open_(std::move(other.open_)) {}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// What a killed search had started holds the lock until it is gone as well, which takes a moment.
Status Journal::lock() const {
  constexpr int kAttempts = 70;
  for (int attempt = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return refusal("cannot lock the journal", path_, "name a place on a file system that has locks");
    if (attempt == kAttempts)
      return problem(fmt::format("another search is writing to `{}`", path_),
                     "wait for it, or name another folder");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

Result<Journal> Journal::open(const std::string& path, const JournalHead& head) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return refusal("cannot open the journal", path, "name a place that you may write to");
  Journal journal(path, descriptor);
  GALATEA_TRY(journal.lock());
  const auto content = read_whole_file(path);
  if (!content)
    return make_error(content.error().kind,
                      diagnose(Message::kJournal, {},
                               {fmt::format("cannot read the journal `{}`: {}", path, content.error().why),
                                "name another folder"}));
  const std::string& text = *content;
  const Json own = json_of(head);
  size_t begin = 0;
  bool has_head = false;
  for (size_t line = 1;; ++line) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // at its end, or cut off while it was written
    const std::string words = text.substr(begin, end - begin);
    begin = end + 1;
    if (std::exchange(has_head, true)) {
      if (journal.take(words)) continue;
    } else if (const Json there = parse_ordered_json(words); there.is_object()) {
      const std::string key = difference(there, own);
      if (key.empty()) continue;
      return problem(fmt::format("`{}` is of another search: its {} is another", path, key),
                     "name another folder, or search as before");
    }
    return problem(fmt::format("`{}` is damaged in line {}", path, line), "name another folder");
  }
  journal.cut_off_ = text.size() - begin;
  if (journal.cut_off_ > 0 && ::ftruncate(descriptor, static_cast<off_t>(begin)) != 0)
    return refusal("cannot mend", path, "name another folder");
  if (!has_head) {
    GALATEA_TRY(journal.append(json_text(own)));
    flush_folder(path);
  }
  return journal;
}

bool Journal::take(const std::string& words) {
  const Json line = parse_ordered_json(words);
  constexpr int64_t kMostTrials = 1'000'000'000;
  Trial trial;
  if (!line.is_object() || !read_field(line, "trial", trial.number, true)) return false;
  if (trial.number < 0 || trial.number > kMostTrials) return false;
  const auto began = open_.find(trial.number);
  if (!line.contains("point")) {
    if (began == open_.end()) return false;
    trial = began->second;
    trial.failed = line.contains("failed");
    trial.pruned = line.contains("pruned");
    if (line.contains("microseconds")) trial.microseconds.emplace();
    if (!read_field(line, "failed", trial.reason, false) ||
        !read_field(line, "score", trial.score, !trial.failed) ||
        !read_field(line, "seconds", trial.seconds, true) ||
        (trial.microseconds && !read_field(line, "microseconds", *trial.microseconds, true)) ||
        !read_numbers(line, "scores", trial.scores))
      return false;
    open_.erase(began);
    ended_.push_back(std::move(trial));
    return true;
  }
  if (!read_numbers(line, "point", trial.point) || !read_field(line, "budget", trial.budget, false) ||
      !read_field(line, "parent", trial.parent, false) || !read_field(line, "step", trial.step, false) ||
      trial.parent >= trial.number || trial.step < 0)
    return false;
  if (!begun_.insert(trial.number).second) return false;
  open_.emplace(trial.number, std::move(trial));
  return true;
}

Status Journal::append(const std::string& line) {
  auto failure = [this] {
    return refusal("cannot write to the journal", path_, "make room; the same command goes on then");
  };
  if (const int number = write_all(descriptor_, line + "\n")) {
    errno = number;
    return failure();
  }
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) return failure();  // EINVAL: a place that has no disk
  return {};
}

Status Journal::begin(const Trial& trial) {
  Json line = {{"trial", trial.number}, {"point", trial.point}};
  if (trial.budget > 0) line["budget"] = trial.budget;
  if (trial.parent >= 0) line["parent"] = trial.parent;
  if (trial.step > 0) line["step"] = trial.step;
  begun_.insert(trial.number);
  open_[trial.number] = trial;
  return append(json_text(line));
}

Status Journal::end(const Trial& trial) {
  Json line = {{"trial", trial.number}, {"seconds", trial.seconds}};
  if (trial.failed)
    line["failed"] = trial.reason;
  else
    line["score"] = trial.score;
  if (trial.pruned) line["pruned"] = true;
  if (!trial.scores.empty()) line["scores"] = trial.scores;
  if (trial.microseconds) line["microseconds"] = *trial.microseconds;
  open_.erase(trial.number);
  ended_.push_back(trial);
  return append(json_text(line));
}

}  // namespace galatea::policy
