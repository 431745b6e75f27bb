// The one table of environment settings (listed by `galatea settings`).
//
// Invariant: nothing else in galatea reads a setting from the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galatea {

struct Setting {
  std::string_view name;  ///< "GALATEA_CACHE_DIR"
  std::string_view
      type;  ///< "path", "bool", "int", "count" (from 1 on), "size" (bytes, also as 512KB, 64MB, 1GB), "text",
             ///< "secret" (text that is shown nowhere), or the words there are: "auto|best|first"
  std::string_view default_value;  ///< as text
  std::string_view documentation;
  std::string_view example;
};

/// Every setting there is, in the order in which it is listed.
const std::vector<Setting>& all_settings();
/// The value in force: the environment's, else the default. The name must be in the table.
std::string setting(std::string_view name);
bool setting_is_from_environment(std::string_view name);
bool setting_bool(std::string_view name);
int64_t setting_int(std::string_view name);  ///< also of a "count"; of a "size": bytes
/// Whether the value is one of its type. What is not leaves the default in force.
bool setting_is_understood(std::string_view name);

/// A setting of galatea's own whose value is none of its type.
struct SettingProblem {
  std::string message, help;
};
std::vector<SettingProblem> setting_problems();

}  // namespace galatea
