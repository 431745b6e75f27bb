#include "tests/tools/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>

namespace galatea::testing {

ScratchFolder::ScratchFolder()
    : path_(std::filesystem::path(::testing::TempDir()) / ("galatea_program_" + std::to_string(::getpid()))) {
  std::filesystem::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return (path_ / name).string();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

Outcome run_galatea(std::vector<std::string> arguments, const std::filesystem::path& folder,
                    std::chrono::milliseconds interrupt_after, int signal) {
  const std::string program = std::string(GALATEA_BINARY_DIR) + "/bin/galatea";
  arguments.insert(arguments.begin(), program);
  const std::filesystem::path out = folder / "stdout", err = folder / "stderr";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    // As ctest has it: what one test has compiled is compiled for all.
    ::setenv("GALATEA_CACHE_DIR", GALATEA_BINARY_DIR "/test-cache", 0);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  if (interrupt_after.count() > 0) {
    std::this_thread::sleep_for(interrupt_after);
    ::kill(child, signal);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_file(out), read_file(err)};
}

}  // namespace galatea::testing
