// The program that started this one, where it says itself which points are tried, or how good they are.
//
// Over a socket, an object of JSON a line, both ways (docs/policies.md lists them). What is asked is answered
// before anything else is asked; what happens to objectives comes when it happens.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/search/objective.h"
#include "policy/search/strategy.h"

namespace galatea::policy {

class Host {
 public:
  /// Takes the descriptor; what this process starts does not inherit it.
  explicit Host(int descriptor);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  void send(const std::string& line);
  /// What it answers, as long as that takes; none: nobody is there any more.
  std::optional<std::string> answer();
  /// What happened to an objective; none within `wait`, or nobody is there any more.
  std::optional<std::string> event(std::chrono::milliseconds wait);
  /// It ended or closed the socket, or sent what it must not: then `problem()` says what.
  bool is_gone() const { return is_gone_ && events_.empty(); }
  const std::string& problem() const { return problem_; }
  void refuse(std::string problem);
  /// It asked for the search's end.
  void hang_up();

 private:
  /// Reads what there is, after at most `wait`.
  void receive(int wait);

  int descriptor_;
  int parent_;  ///< the process: what it left behind may hold the socket's other end
  std::string text_;
  std::deque<std::string> answers_, events_;
  bool is_gone_ = false;
  std::string problem_;
};

/// What the host has to know of a search, first of all.
struct HostGreeting {
  uint64_t seed = 0;
  int64_t trials = 0;
  bool minimize = false, prune = false;
  double max_microseconds = 0;
};
std::string greeting_text(const Space& space, const HostGreeting& greeting);

/// Points are those of the host, which is told of all trials.
std::unique_ptr<Strategy> make_host_strategy(const Space& space, Host& host, bool minimize);

/// Objectives that the host runs.
class HostObjective : public Objective {
 public:
  explicit HostObjective(Host& host) : host_(host) {}
  bool start(ObjectiveCall call) override;
  size_t running() const override { return began_.size(); }
  std::vector<ObjectiveEvent> collect(std::chrono::milliseconds wait) override;
  void answer(int64_t call, bool prune) override;
  void stop() override {}

 private:
  std::optional<ObjectiveEvent> read(const std::string& line);

  Host& host_;
  std::map<int64_t, std::chrono::steady_clock::time_point> began_;
};

}  // namespace galatea::policy
