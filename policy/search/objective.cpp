#include "policy/search/objective.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace galatea::policy {
namespace {

constexpr size_t kKeptOutput = 64 << 10;
constexpr const char* kBlanks = " \t\r\n";

std::optional<double> number_in(std::string_view line) {
  const char* begin = line.data() + (line.starts_with("+") ? 1 : 0);
  double number = 0;
  const auto [stop, error] = std::from_chars(begin, line.data() + line.size(), number);
  if (error != std::errc() || stop != line.data() + line.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

/// The policies come with the command even where it does not name them.
bool is_policies(const std::string& word) { return word == "policy" || word == "policies"; }

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool names_word(const std::string& objective, const std::string& word) {
  return objective.find("{" + word + "}") != std::string::npos;
}

std::string command_for(const std::string& objective, const TrialWords& words) {
  std::string command, paths;
  auto quoted = [](const std::vector<std::string>& texts) {
    std::vector<std::string> each;
    for (const std::string& text : texts) each.push_back(shell_quoted(text));
    return fmt::format("{}", fmt::join(each, " "));
  };
  for (const auto& [name, texts] : words.words) {
    std::string variable = name == "trial" ? "GALATEA_" : "GALATEA_TRIAL_";
    for (char c : name) variable += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    command +=
        fmt::format("export {}={}; ", variable, shell_quoted(fmt::format("{}", fmt::join(texts, "\n"))));
    if (is_policies(name)) paths = quoted(texts);
  }
  for (size_t at = 0; at < objective.size();) {
    const auto found = std::find_if(words.words.begin(), words.words.end(), [&](const auto& word) {
      return objective.compare(at, word.name.size() + 2, "{" + word.name + "}") == 0;
    });
    if (found == words.words.end()) {
      command += objective[at++];
    } else {
      command += quoted(found->texts);
      at += found->name.size() + 2;
    }
  }
  const bool named = names_word(objective, "policy") || names_word(objective, "policies");
  return named ? command : command + " " + paths;
}

std::vector<double> last_numbers(const std::string& output, size_t count) {
  std::vector<double> numbers;
  std::string_view rest = output;
  while (numbers.size() < count) {
    rest = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
    std::string_view line = rest.substr(rest.find_last_of('\n') + 1);
    rest.remove_suffix(line.size());
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::optional<double> number = number_in(line);
    if (!number) return {};
    numbers.push_back(*number);
  }
  std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

std::string why_no_scores(const std::string& output, size_t count) {
  constexpr size_t kShown = 60;
  const size_t last = output.find_last_not_of(kBlanks);
  if (last == std::string::npos) return "it printed nothing on its stdout";
  if (count > 1) return "its last lines of output are no numbers";
  std::string line = output.substr(0, last + 1);
  line.erase(0, line.find_last_of('\n') + 1);
  line.erase(0, std::min(line.find_first_not_of(kBlanks), line.size()));
  if (line.size() > kShown) {
    size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;  // whole characters
    line = line.substr(0, end) + "…";
  }
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  return "its last line of output is no number: " + line;
}

const std::vector<std::string>& objective_words() {
  static const std::vector<std::string> words = {"policy", "policies", "trial", "budget",
                                                 "step",   "state",    "parent"};
  return words;
}

std::vector<std::string> strange_words(const std::string& objective) {
  std::vector<std::string> strange;
  for (size_t open = 0; (open = objective.find('{', open)) != std::string::npos; ++open) {
    const size_t close = objective.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", open + 1);
    if (close == std::string::npos || objective[close] != '}' || close == open + 1) continue;
    if (open > 0 && objective[open - 1] == '$') continue;  // the shell's
    const std::string word = objective.substr(open + 1, close - open - 1);
    if (std::ranges::find(objective_words(), word) == objective_words().end()) strange.push_back(word);
  }
  return strange;
}

Commands::~Commands() {
  stop();
  for (int end : lifeline_)
    if (end >= 0) ::close(end);
}

bool Commands::open_lifeline() { return lifeline_[0] >= 0 || ::pipe2(lifeline_, O_CLOEXEC) == 0; }

int Commands::start_keeper(const int members[2]) {
  const pid_t keeper = ::fork();
  if (keeper != 0) {
    if (keeper > 0) ::setpgid(keeper, keeper);  // whichever of the two comes first
    return keeper;
  }
  // What follows is safe in a process that had threads. The journal stays open here: its lock is free only
  // when nothing of the search is left.
  if (::setpgid(0, 0) != 0 && ::getpgrp() != ::getpid()) ::_exit(1);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  ::close(lifeline_[1]);
  ::close(members[1]);
  char nothing;
  while (::read(lifeline_[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  // Processes take a moment to die. One that is not in the group sees to it that they have.
  const pid_t group = ::getpid();
  if (::fork() == 0) {
    ::setpgid(0, 0);
    ::kill(-group, SIGKILL);
    wait_for_members(members[0]);
    ::_exit(0);
  }
  for (;;) ::pause();
}

/// The other end of the pipe is open in all that the command has started, unless it closed what it did not
/// know.
void Commands::wait_for_members(int members) {
  constexpr int kMilliseconds = 3000;  // less than the next search waits (journal.cpp)
  pollfd polled = {members, POLLIN, 0};
  ::poll(&polled, 1, kMilliseconds);
}

void Commands::end_group(Child& child) {
  // The keeper has not been waited for, so the group's number is not another's.
  ::kill(-child.keeper, SIGKILL);
  ::waitpid(child.keeper, nullptr, 0);
  if (child.process > 0) wait_for_members(child.members);
  for (int* each : {&child.output, &child.members}) {
    if (*each >= 0) ::close(*each);
    *each = -1;
  }
}

bool Commands::start(ObjectiveCall call) {
  if (!open_lifeline()) return false;
  Child child;
  child.call = std::move(call);
  const char* arguments[] = {"/bin/sh", "-c", child.call.command.c_str(), nullptr};
  child.began = now_();
  int ends[2], members[2];
  if (::pipe2(members, O_CLOEXEC) != 0) return false;
  child.members = members[0];
  child.keeper = start_keeper(members);
  if (child.keeper < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    ::close(members[1]);
    if (child.keeper > 0)
      end_group(child);
    else
      ::close(members[0]);
    return false;
  }
  child.output = ends[0];
  const pid_t parent = ::getpid();
  child.process = ::fork();
  if (child.process == 0) {
    // Until it is in the keeper's group it looks after itself.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::setpgid(0, child.keeper) != 0) ::_exit(127);
    for (int each : {SIGINT, SIGTERM, SIGPIPE}) ::signal(each, SIG_DFL);
    ::fcntl(members[1], F_SETFD, 0);
    ::dup2(ends[1], STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execv(arguments[0], const_cast<char* const*>(arguments));
    ::_exit(127);
  }
  ::close(ends[1]);
  ::close(members[1]);
  if (child.process < 0) {
    end_group(child);
    return false;
  }
  ::setpgid(child.process, child.keeper);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  children_.push_back(std::move(child));
  return true;
}

void Commands::read_available(Child& child) {
  char block[4096];
  while (child.output >= 0) {
    const ssize_t count = ::read(child.output, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) {  // nobody writes any more: not to be waited for
      ::close(child.output);
      child.output = -1;
    }
    if (count <= 0) return;
    for (const char c : std::string_view(block, static_cast<size_t>(count))) {
      constexpr size_t kLongestWord = 100;
      if (c == '\n')
        take_line(child);
      else if (child.line.size() < kLongestWord)
        child.line += c;
    }
    child.text.append(block, static_cast<size_t>(count));
    if (child.text.size() > 2 * kKeptOutput) child.text.erase(0, child.text.size() - kKeptOutput);
  }
}

void Commands::take_line(Child& child) {
  const std::string line = std::exchange(child.line, "");
  const auto number_behind = [&](std::string_view word) -> std::optional<double> {
    if (!line.starts_with(word)) return std::nullopt;
    const size_t end = line.find_last_not_of(kBlanks) + 1;
    return end > word.size() ? number_in(std::string_view(line).substr(0, end).substr(word.size()))
                             : std::nullopt;
  };
  if (const auto microseconds = number_behind("microseconds ")) child.microseconds = microseconds;
  if (const auto score = number_behind("report ")) child.reported.push_back(*score);
}

double Commands::seconds_since(std::chrono::steady_clock::time_point began) const {
  return std::chrono::duration<double>(now_() - began).count();
}

Outcome Commands::outcome_of(Child& child, int status) const {
  Outcome outcome;
  outcome.seconds = seconds_since(child.began);
  outcome.microseconds = child.microseconds;
  if (child.timed_out) {
    outcome.reason = fmt::format("it ran longer than {} seconds", child.call.timeout);
  } else if (WIFSIGNALED(status)) {
    outcome.reason = fmt::format("it was ended by signal {}", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    outcome.reason = fmt::format("it ended with status {}", WEXITSTATUS(status));
  } else {
    outcome.scores = last_numbers(child.text, child.call.scores);
    if (outcome.scores.empty()) outcome.reason = why_no_scores(child.text, child.call.scores);
  }
  return outcome;
}

std::vector<ObjectiveEvent> Commands::collect(std::chrono::milliseconds wait) {
  std::vector<pollfd> polled;
  for (const Child& child : children_) {
    polled.push_back({child.output, POLLIN, 0});
    polled.push_back({child.members, POLLIN, 0});  // its end is that of the command and all it has started
  }
  ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  std::vector<ObjectiveEvent> events;
  const auto take_reports = [&](Child& child) {
    for (const double score : std::exchange(child.reported, {}))
      if (child.call.reports) events.push_back({child.call.number, score, {}});
  };
  for (size_t i = 0; i < children_.size();) {
    Child& child = children_[i];
    read_available(child);
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child.process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
      // What has ended did so in time, however long nobody looked.
      if (child.call.timeout > 0 && !child.timed_out && seconds_since(child.began) > child.call.timeout) {
        child.timed_out = true;
        ::kill(child.process, SIGKILL);
      }
      take_reports(child);
      ++i;
      continue;
    }
    read_available(child);
    int status = 0;
    ::waitpid(child.process, &status, 0);
    end_group(child);  // and what it left behind
    take_reports(child);
    events.push_back({child.call.number, 0, outcome_of(child, status)});
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return events;
}

void Commands::answer(int64_t call, bool prune) {
  if (!prune) return;
  for (Child& child : children_)
    if (child.call.number == call) ::kill(child.process, SIGKILL);
}

void Commands::stop() {
  for (Child& child : children_) {
    end_group(child);
    ::waitpid(child.process, nullptr, 0);
  }
  children_.clear();
}

}  // namespace galatea::policy
