// One moving line on a terminal: a bar, count, rate, time left. Elsewhere nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace galatea::tools {

/// The line for a state; `total` negative: not known.
std::string progress_line(int64_t done, int64_t total, double seconds, int columns);
/// A bar for a share of the whole, and words behind it.
std::string bar_line(double share, const std::string& words, int columns);
/// "0:05", "10:00:00".
std::string duration_text(double seconds);

class Progress {
 public:
  /// `shown`: stderr is a terminal.
  Progress(int64_t total, bool shown);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(int64_t done);
  /// The same with words of the caller's.
  void show(double share, const std::string& words);
  /// Takes the line off the screen, so that other text can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  /// False: nobody sees it, or it has only just been drawn.
  bool is_due(bool last);
  void draw(const std::string& line);
  int64_t total_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace galatea::tools
