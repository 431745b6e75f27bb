// galatea settings: every environment setting, its value and where it came from.
#include "base/settings.h"

#include <algorithm>

#include <fmt/core.h>

#include "tools/command.h"

namespace galatea::tools {
namespace {

int list_settings(Reporter& reporter) {
  size_t width = 0;
  for (const Setting& entry : all_settings()) width = std::max(width, entry.name.size());
  std::string text;
  for (const Setting& entry : all_settings()) {
    const bool from_environment = setting_is_from_environment(entry.name);
    std::string value = setting(entry.name);
    if (entry.type == "secret" && !value.empty()) value = "(not shown)";
    const std::string ignored = setting_is_understood(entry.name)
                                    ? ""
                                    : fmt::format("; no {}: {} is in force", entry.type, entry.default_value);
    text += fmt::format("{:<{}}  {}  ({}{}{})\n", entry.name, width, value.empty() ? "(empty)" : value,
                        entry.type, from_environment ? ", from the environment" : ", default", ignored);
    text += fmt::format("{:{}}  {}; example: {}\n", "", width, entry.documentation, entry.example);
  }
  reporter.print(text);
  return kFine;
}

}  // namespace

Command add_settings(CLI::App& parent) {
  CLI::App* app =
      add_subcommand(parent, "settings", "Every environment setting, its value and where it came from");
  return {app, list_settings};
}

}  // namespace galatea::tools
