// A folder that no other test and no other process has, today or left behind.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace galatea::testing {

/// Makes it, empty, where temporary files lie; its name begins with `name`. The number of a process would not do: one
/// that was killed leaves its folder behind, and its number comes again.
inline std::filesystem::path make_own_folder(const std::string& name) {
  std::string path = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder " + path);
  return path;
}

}  // namespace galatea::testing
