#include "policy/search/objective.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace galatea::policy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeptOutput = 64 << 10;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_for(const std::string& objective, const std::string& policy_path) {
  const std::string path = shell_quoted(policy_path);
  std::string command = objective;
  bool found = false;
  for (size_t at = 0; (at = command.find("{policy}", at)) != std::string::npos; at += path.size()) {
    command.replace(at, 8, path);
    found = true;
  }
  return found ? command : command + " " + path;
}

std::optional<double> last_number(const std::string& output) {
  const char* blanks = " \t\r\n";
  const size_t end = output.find_last_not_of(blanks);
  if (end == std::string::npos) return std::nullopt;
  const size_t line = output.find_last_of('\n', end);
  std::string text = output.substr(line == std::string::npos ? 0 : line + 1,
                                   end - (line == std::string::npos ? 0 : line + 1) + 1);
  text.erase(0, text.find_first_not_of(blanks));
  double number = 0;
  const char* begin = text.data() + (text.starts_with("+") ? 1 : 0);
  const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

Commands::~Commands() { stop(); }

bool Commands::start(int64_t number, const std::string& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const char* arguments[] = {"/bin/sh", "-c", command.c_str(), nullptr};
  const pid_t process = ::fork();
  if (process < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return false;
  }
  if (process == 0) {
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::dup2(ends[1], STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execv(arguments[0], const_cast<char* const*>(arguments));
    ::_exit(127);
  }
  ::setpgid(process, process);  // whichever of the two comes first
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  children_.push_back({number, process, ends[0], "", Clock::now(), false});
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
    child.text.append(block, static_cast<size_t>(count));
    if (child.text.size() > 2 * kKeptOutput) child.text.erase(0, child.text.size() - kKeptOutput);
  }
}

Outcome Commands::outcome_of(Child& child, int status, double timeout) {
  Outcome outcome;
  outcome.seconds = seconds_since(child.began);
  if (child.timed_out) {
    outcome.reason = fmt::format("it ran longer than {} seconds", timeout);
  } else if (WIFSIGNALED(status)) {
    outcome.reason = fmt::format("it was ended by signal {}", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    outcome.reason = fmt::format("it ended with status {}", WEXITSTATUS(status));
  } else {
    outcome.score = last_number(child.text);
    if (!outcome.score) outcome.reason = "its last line of output is no number";
  }
  return outcome;
}

std::vector<std::pair<int64_t, Outcome>> Commands::collect(std::chrono::milliseconds wait, double timeout) {
  std::vector<pollfd> polled;
  for (const Child& child : children_) polled.push_back({child.output, POLLIN, 0});
  ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  std::vector<std::pair<int64_t, Outcome>> ended;
  for (size_t i = 0; i < children_.size();) {
    Child& child = children_[i];
    read_available(child);
    if (timeout > 0 && !child.timed_out && seconds_since(child.began) > timeout) {
      child.timed_out = true;
      ::kill(-child.process, SIGKILL);
    }
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child.process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
      ++i;
      continue;
    }
    read_available(child);
    ::kill(-child.process, SIGKILL);  // what it left behind, while its number is still taken
    int status = 0;
    ::waitpid(child.process, &status, 0);
    if (child.output >= 0) ::close(child.output);
    ended.emplace_back(child.number, outcome_of(child, status, timeout));
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return ended;
}

void Commands::stop() {
  for (Child& child : children_) {
    ::kill(-child.process, SIGKILL);
    ::waitpid(child.process, nullptr, 0);
    if (child.output >= 0) ::close(child.output);
  }
  children_.clear();
}

}  // namespace galatea::policy
