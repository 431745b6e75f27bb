// Runs the galatea program as a user would.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace galatea::testing {

struct Outcome {
  int status = -1;  ///< exit status; 1000 + n: ended by signal n
  std::string out, err;
};

/// What ends a run that would go on.
struct Disturbance {
  /// Asked again and again while it runs; the process gets the signal once this is so.
  std::function<bool()> when;
  int signal = SIGINT;
  /// The kernel ends the process, by SIGXFSZ, where it writes behind so many bytes of a file.
  rlim_t file_bytes = RLIM_INFINITY;
};

/// Runs galatea with these arguments; scratch files go to `folder`.
Outcome run_galatea(std::vector<std::string> arguments, const std::filesystem::path& folder,
                    const Disturbance& disturbance = {});

/// A folder of its own, new and empty, which goes with the object.
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
