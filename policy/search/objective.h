// Running an objective: any command whose last lines of output are scores, one for each policy that it is
// told.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace galatea::policy {

/// What an objective is told: {policy}, {state} and so on, and GALATEA_TRIAL_POLICY in the environment of a
/// command. A word may have several texts, {policies}: arguments of the command, lines of the variable.
struct TrialWords {
  struct Word {
    std::string name;
    std::vector<std::string> texts;
  };
  std::vector<Word> words;
};

struct ObjectiveCall {
  int64_t number = 0;   ///< by which it is called when it has ended
  std::string command;  ///< of the shell; empty where none is run
  TrialWords words;
  size_t scores = 1;     ///< how many it prints
  double timeout = 0;    ///< seconds; 0: none
  bool reports = false;  ///< scores that it reports while it runs are looked for
};

struct Outcome {
  std::vector<double> scores;  ///< as many as the call prints; none: it failed
  std::string reason;
  double seconds = 0;
  std::optional<double> microseconds;  ///< what the policy takes a sample
};

/// What became of a call: it reported a score, or it ended.
struct ObjectiveEvent {
  int64_t call = 0;
  double score = 0;
  std::optional<Outcome> ended;
};

/// What runs objectives.
class Objective {
 public:
  virtual ~Objective() = default;
  /// False: it cannot be started.
  virtual bool start(ObjectiveCall call) = 0;
  virtual size_t running() const = 0;
  /// What has happened, after at most `wait`; what runs longer than it may is ended.
  virtual std::vector<ObjectiveEvent> collect(std::chrono::milliseconds wait) = 0;
  /// Says to a call that reported a score whether it shall end.
  virtual void answer(int64_t call, bool prune) = 0;
  /// Ends all.
  virtual void stop() = 0;
};

/// Commands that run side by side, each in a process group that ends with it, and with this process, however
/// that ends. What a command prints in a line `report NUMBER` is a score that it reports, what in a line
/// `microseconds NUMBER` what its policy takes a sample.
class Commands : public Objective {
 public:
  /// `now` is the clock that times are told by.
  explicit Commands(
      std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now)
      : now_(std::move(now)) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands() override;

  bool start(ObjectiveCall call) override;
  size_t running() const override { return children_.size(); }
  std::vector<ObjectiveEvent> collect(std::chrono::milliseconds wait) override;
  void answer(int64_t call, bool prune) override;
  void stop() override;

 private:
  struct Child {
    ObjectiveCall call;
    int keeper = 0, process = 0, output = -1;
    int members = -1;  ///< a pipe that ends with all that the command has started
    std::string text;  ///< the end of what it wrote
    std::string line;  ///< the beginning of the line that it is writing
    std::vector<double> reported;
    std::optional<double> microseconds;
    std::chrono::steady_clock::time_point began;
    bool timed_out = false;
  };
  bool open_lifeline();
  /// Forks the process whose number is the group's.
  int start_keeper(const int members[2]);
  static void wait_for_members(int members);
  static void end_group(Child& child);
  static void read_available(Child& child);
  static void take_line(Child& child);
  Outcome outcome_of(Child& child, int status) const;
  double seconds_since(std::chrono::steady_clock::time_point began) const;

  std::function<std::chrono::steady_clock::time_point()> now_;
  std::vector<Child> children_;
  int lifeline_[2] = {-1, -1};  ///< a pipe that nobody writes to: it ends with this process
};

/// The text of a word for the shell.
std::string shell_quoted(const std::string& text);

/// The command with the words in place of their names in braces, each exported as well. Where neither
/// `{policy}` nor `{policies}` is named, the paths follow.
std::string command_for(const std::string& objective, const TrialWords& words);
/// Does the command name this word?
bool names_word(const std::string& objective, const std::string& word);
/// Words in braces that stand for nothing: what the shell or a program means by braces, or mistakes.
std::vector<std::string> strange_words(const std::string& objective);
/// The words that stand for something.
const std::vector<std::string>& objective_words();
/// Why an output has no scores, in words.
std::string why_no_scores(const std::string& output, size_t count);
/// The numbers that the last `count` lines that are not blank consist of; none: they are something else.
std::vector<double> last_numbers(const std::string& output, size_t count);

}  // namespace galatea::policy
