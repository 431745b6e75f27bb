// Files that a test writes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace galatea::testing {

/// A place among the temporary files that no other process uses: a test program of another build, or of a release
/// beside a sanitizer's, writes and removes files of the same names at the same time.
inline std::filesystem::path own_path(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("galatea_" + std::to_string(::getpid()) + "_" + name);
}

}  // namespace galatea::testing
