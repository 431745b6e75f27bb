// Settings for the length of a test; a folder that goes with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/settings.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {

/// All settings but those that are named are unset; what was there before comes back.
class OnlySettings {
 public:
  explicit OnlySettings(const std::map<std::string, std::string>& values) {
    for (const Setting& setting : all_settings()) {
      const std::string name(setting.name);
      const char* const value = std::getenv(name.c_str());
      before_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name.c_str());
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~OnlySettings() {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }
  OnlySettings(const OnlySettings&) = delete;
  OnlySettings& operator=(const OnlySettings&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

class TestFolder {
 public:
  TestFolder() : path_(make_own_folder("galatea-far")) {}
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace galatea::testing
