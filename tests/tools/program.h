// Runs the galatea program as a user would.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace galatea::testing {

struct Outcome {
  int status = -1;  ///< exit status; 1000 + n: ended by signal n
  std::string out, err;
};

/// Runs galatea with these arguments; scratch files go to `folder`. With `interrupt_after` the process gets
/// the signal.
Outcome run_galatea(std::vector<std::string> arguments, const std::filesystem::path& folder,
                    std::chrono::milliseconds interrupt_after = {}, int signal = SIGINT);

/// A folder of this process's own, which goes with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file in it; returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace galatea::testing
