#include "tests/tools/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/fault.h"
#include "tests/support/own_folder.h"

namespace galatea::testing {

ScratchFolder::ScratchFolder() : path_(make_own_folder("galatea_program")) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return (path_ / name).string();
}

std::string read_file(const std::filesystem::path& path) {
  return read_whole_file(path.string()).value_or("");
}

Outcome run_galatea(std::vector<std::string> arguments, const std::filesystem::path& folder,
                    const Disturbance& disturbance) {
  const std::string program = std::string(GALATEA_BINARY_DIR) + "/bin/galatea";
  arguments.insert(arguments.begin(), program);
  const std::filesystem::path out = folder / "stdout", err = folder / "stderr";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    // As ctest has it: what one test has compiled is compiled for all.
    ::setenv("GALATEA_CACHE_DIR", GALATEA_BINARY_DIR "/test-cache", 0);
    if (disturbance.file_bytes != RLIM_INFINITY) {
      const rlimit bytes = {disturbance.file_bytes, disturbance.file_bytes}, core = {0, 0};
      ::setrlimit(RLIMIT_CORE, &core);
      ::setrlimit(RLIMIT_FSIZE, &bytes);
      ::signal(SIGXFSZ, SIG_DFL);
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  bool is_over = false;
  if (disturbance.when) {
    while (!is_over && !disturbance.when()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      is_over = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (!is_over) ::kill(child, disturbance.signal);
  }
  if (!is_over) ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_file(out), read_file(err)};
}

}  // namespace galatea::testing
