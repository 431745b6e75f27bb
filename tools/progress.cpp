#include "tools/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "base/settings.h"

namespace galatea::tools {
namespace {

int terminal_columns() {
  if (int64_t columns = setting_int("COLUMNS"); columns > 0)
    return static_cast<int>(std::min<int64_t>(columns, 1000));
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string duration_text(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar_line(double share, const std::string& words, int columns) {
  // The bar takes what the words leave, within reason; the last column stays free, or the terminal would
  // wrap.
  const int width = std::clamp(columns - 4 - static_cast<int>(words.size()), 0, 40);
  if (width < 5) return words.substr(0, static_cast<size_t>(std::max(columns - 1, 0)));
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  return "[" + std::string(static_cast<size_t>(full), '=') +
         std::string(static_cast<size_t>(width - full), ' ') + "] " + words;
}

std::string progress_line(int64_t done, int64_t total, double seconds, int columns) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  if (total <= 0) return fmt::format("{} samples  {:.0f}/s  {}", done, rate, duration_text(seconds));
  const std::string left =
      rate > 0 ? duration_text(static_cast<double>(std::max<int64_t>(total - done, 0)) / rate) + " left" : "";
  return bar_line(static_cast<double>(done) / static_cast<double>(total),
                  fmt::format("{}/{} samples  {:.0f}/s  {}", done, total, rate, left), columns);
}

Progress::Progress(int64_t total, bool shown) : total_(total), shown_(shown) {}

bool Progress::is_due(bool last) {
  if (!shown_) return false;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100) && !last) return false;
  last_ = now;
  return true;
}

void Progress::draw(const std::string& line) {
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::update(int64_t done) {
  if (!is_due(done == total_)) return;
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  draw(progress_line(done, total_, seconds, terminal_columns()));
}

void Progress::show(double share, const std::string& words) {
  if (is_due(share >= 1)) draw(bar_line(share, words, terminal_columns()));
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace galatea::tools
