#include "policy/search/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "policy/messages.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::json;

std::unexpected<Error> problem(const std::string& what, const std::string& help) {
  return policy_error(Message::kJournal, {}, {what, help});
}

Json json_of(const JournalHead& head) {
  return {{"search", 1},       {"space", head.space},         {"strategy", head.strategy},
          {"seed", head.seed}, {"objective", head.objective}, {"minimize", head.minimize}};
}

/// The first thing in which two searches differ.
std::string difference(const Json& there, const Json& here) {
  for (const char* key : {"search", "strategy", "seed", "objective", "minimize", "space"})
    if (there.value(key, Json()) != here.at(key)) return key;
  return "";
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      ended_(std::move(other.ended_)),
      open_(std::move(other.open_)) {}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Journal> Journal::open(const std::string& path, const JournalHead& head) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return problem(fmt::format("cannot open the journal `{}`: {}", path, std::strerror(errno)),
                   "name a place that you may write to");
  Journal journal(path, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return problem(fmt::format("another search is writing to `{}`", path),
                   "wait for it, or name another journal");
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Json own = json_of(head);
  size_t begin = 0;
  bool has_head = false;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut off while it was written
    const Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    const size_t number = begin;
    begin = end + 1;
    if (!line.is_object())
      return problem(fmt::format("`{}` is damaged at byte {}", path, number), "name another journal");
    if (!has_head) {
      if (const std::string key = difference(line, own); !key.empty())
        return problem(fmt::format("`{}` is of another search: its {} is another", path, key),
                       "name another journal, or search as before");
      has_head = true;
      continue;
    }
    Trial trial;
    trial.number = line.value("trial", int64_t{-1});
    if (line.contains("point")) {
      for (const Json& value : line["point"]) trial.point.push_back(value.get<double>());
      journal.open_[trial.number] = trial.point;
      continue;
    }
    const auto began = journal.open_.find(trial.number);
    if (began == journal.open_.end())
      return problem(fmt::format("`{}` is damaged at byte {}", path, number), "name another journal");
    trial.point = began->second;
    trial.failed = line.contains("failed");
    trial.reason = line.value("failed", "");
    trial.score = line.value("score", 0.0);
    trial.seconds = line.value("seconds", 0.0);
    journal.open_.erase(began);
    journal.ended_.push_back(std::move(trial));
  }
  if (begin < text.size() && ::ftruncate(descriptor, static_cast<off_t>(begin)) != 0)
    return problem(fmt::format("cannot mend `{}`: {}", path, std::strerror(errno)), "name another journal");
  if (!has_head) GALATEA_TRY(journal.append(own.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return journal;
}

Status Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return problem(fmt::format("cannot write to the journal `{}`: {}", path_, std::strerror(errno)),
                     "make room");
    if (count > 0) done += static_cast<size_t>(count);
  }
  ::fdatasync(descriptor_);
  return {};
}

Status Journal::begin(int64_t number, const Point& point) {
  open_[number] = point;
  return append(Json{{"trial", number}, {"point", point}}.dump());
}

Status Journal::end(const Trial& trial) {
  Json line = {{"trial", trial.number}, {"seconds", trial.seconds}};
  if (trial.failed)
    line["failed"] = trial.reason;
  else
    line["score"] = trial.score;
  open_.erase(trial.number);
  ended_.push_back(trial);
  return append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace galatea::policy
