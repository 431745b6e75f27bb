// A folder in which the commands of a page run: with photographs, and galatea on the path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace galatea::testing {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void write(const std::string& name, const std::string& text);
  struct Outcome {
    int status = -1;
    std::string output;  ///< what it prints, errors as well
  };
  /// Runs a command with sh in the folder.
  Outcome run(const std::string& command);

 private:
  std::filesystem::path folder_;
};

}  // namespace galatea::testing
