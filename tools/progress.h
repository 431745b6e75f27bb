// One moving line on a terminal: a bar, count, rate, time left. Elsewhere nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace galatea::tools {

/// The line for a state; `total` negative: not known.
std::string progress_line(int64_t done, int64_t total, double seconds, int columns);

class Progress {
 public:
  /// `shown`: stderr is a terminal.
  Progress(int64_t total, bool shown);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(int64_t done);
  /// Takes the line off the screen, so that other text can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  int64_t total_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace galatea::tools
