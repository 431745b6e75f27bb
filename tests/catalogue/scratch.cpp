#include "tests/catalogue/scratch.h"
#include "tests/support/build_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace galatea::testing {
namespace fs = std::filesystem;

Scratch::Scratch() {
  static int count = 0;
  folder_ = fs::temp_directory_path() /
            ("galatea_catalogue_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  fs::create_directories(folder_);
  fs::create_directory_symlink(build_folder() + "/samples", folder_ / "photos");
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Scratch::write(const std::string& name, const std::string& text) {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

Scratch::Outcome Scratch::run(const std::string& command) {
  const std::string script = "cd '" + folder_.string() + "' && PATH='" + build_folder() +
                             "/bin':\"$PATH\" && " + "export PATH && export GALATEA_CACHE_DIR=cache && { " +
                             command + "\n} 2>&1";
  Outcome outcome;
  std::FILE* pipe = ::popen(script.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  for (size_t size; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    outcome.output.append(buffer.data(), size);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  return outcome;
}

}  // namespace galatea::testing
