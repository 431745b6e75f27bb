#include "tools/process_clock.h"

#include <unistd.h>

#include <ctime>
#include <sstream>
#include <string>

#include "base/fault.h"

namespace galatea::tools {

double seconds_since_process_start() {
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double uptime = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  // Field 22 of /proc/self/stat: start, in ticks since boot. The name (field 2) may hold blanks and
  // parentheses.
  const auto text = read_whole_file("/proc/self/stat");
  const size_t after_name = text ? text->rfind(')') : std::string::npos;
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(text->substr(after_name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  const double start = std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return uptime > start ? uptime - start : 0;
}

}  // namespace galatea::tools
