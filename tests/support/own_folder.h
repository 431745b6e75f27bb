// Folders and files that no other test and no other process has, today or left behind: a test program of another
// build, or of a release beside a sanitizer's, writes and removes files of the same names at the same time.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace galatea::testing {

/// Makes a folder, empty, where temporary files lie; its name begins with `name`. The number of a process would not
/// do: one that was killed leaves its folder behind, and its number comes again.
inline std::filesystem::path make_own_folder(const std::string& name) {
  std::string path = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder " + path);
  return path;
}

/// A path in a folder of this process, which goes when it ends; its forks have the same.
inline std::filesystem::path own_path(const std::string& name) {
  struct Folder {
    const pid_t process = ::getpid();
    const std::filesystem::path path = make_own_folder("galatea");
    ~Folder() {
      std::error_code ignored;
      if (process == ::getpid()) std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path / name;
}

}  // namespace galatea::testing
