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

std::string duration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_line(int64_t done, int64_t total, double seconds, int columns) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  if (total <= 0) return fmt::format("{} samples  {:.0f}/s  {}", done, rate, duration(seconds));
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  std::string left =
      rate > 0 ? duration(static_cast<double>(std::max<int64_t>(total - done, 0)) / rate) + " left" : "";
  std::string words = fmt::format(" {}/{} samples  {:.0f}/s  {}", done, total, rate, left);
  // The bar takes what the words leave, within reason; the last column stays free, or the terminal would
  // wrap.
  const int width = std::clamp(columns - 3 - static_cast<int>(words.size()), 0, 40);
  if (width < 5) return words.substr(1, static_cast<size_t>(std::max(columns - 1, 0)));
  const int full = static_cast<int>(share * width);
  return "[" + std::string(static_cast<size_t>(full), '=') +
         std::string(static_cast<size_t>(width - full), ' ') + "]" + words;
}

Progress::Progress(int64_t total, bool shown) : total_(total), shown_(shown) {}

void Progress::update(int64_t done) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100) && done != total_) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fputs(("\r\033[K" + progress_line(done, total_, seconds, terminal_columns())).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace galatea::tools
