// Running an objective: any command whose last line of output is the score.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace galatea::policy {

struct Outcome {
  std::optional<double> score;  ///< none: it failed
  std::string reason;
  double seconds = 0;
};

/// Commands that run side by side, each in a process group that ends with it, and with this process, however
/// that ends.
class Commands {
 public:
  Commands() = default;
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands();

  /// Starts a command of the shell. False: it cannot be started.
  bool start(int64_t number, const std::string& command);
  size_t running() const { return children_.size(); }
  /// Those that have ended, after at most `wait`; what runs longer than `timeout` (0: any time) is ended.
  std::vector<std::pair<int64_t, Outcome>> collect(std::chrono::milliseconds wait, double timeout);
  /// Ends all.
  void stop();

 private:
  struct Child {
    int64_t number = 0;
    int keeper = 0, process = 0, output = -1;
    int members = -1;  ///< a pipe that ends with all that the command has started
    std::string text;  ///< the end of what it wrote
    std::chrono::steady_clock::time_point began;
    bool timed_out = false;
  };
  bool open_lifeline();
  /// Forks the process whose number is the group's.
  int start_keeper(const int members[2]);
  static void wait_for_members(int members);
  static void end_group(Child& child);
  static void read_available(Child& child);
  static Outcome outcome_of(Child& child, int status, double timeout);

  std::vector<Child> children_;
  int lifeline_[2] = {-1, -1};  ///< a pipe that nobody writes to: it ends with this process
};

/// The text of a word for the shell.
std::string shell_quoted(const std::string& text);

/// What an objective's command is told: {policy}, {state} and so on, and GALATEA_TRIAL_POLICY in its
/// environment.
struct TrialWords {
  struct Word {
    std::string name, text;
  };
  std::vector<Word> words;
};
/// The command with the words in place of their names in braces, each exported as well. Where `{policy}` is
/// not named, the path follows.
std::string command_for(const std::string& objective, const TrialWords& words);
/// Does the command name this word?
bool names_word(const std::string& objective, const std::string& word);
/// The number that the last line that is not empty consists of.
std::optional<double> last_number(const std::string& output);

}  // namespace galatea::policy
