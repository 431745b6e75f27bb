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
std::string read_file(const std::filesystem::path& path);
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace galatea::testing
