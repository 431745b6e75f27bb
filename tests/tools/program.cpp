#include "tests/tools/program.h"
#include "tests/support/build_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/fault.h"
#include "tests/support/cases.h"
#include "tests/support/own_folder.h"
#include "tools/program.h"

namespace galatea::testing {
namespace {

/// Whether a child may be a fork of the test that calls what galatea's main() calls. A sanitizer takes a tenth of a second
/// to start a program of its own. Not where the program starts the program that it is in, which is to be galatea then;
/// where the dynamic linker is to tell what it loads; beside other threads, whose locks a fork would find held.
bool may_be_a_fork(const std::vector<std::string>& arguments) {
  namespace fs = std::filesystem;
  return kSanitized && !std::getenv("LD_DEBUG") &&
         std::ranges::find(arguments, "search") == arguments.end() &&
         std::distance(fs::directory_iterator("/proc/self/task"), {}) == 1;
}

/// In a child: the program galatea with these arguments.
[[noreturn]] void become_galatea(std::vector<std::string>& arguments, [[maybe_unused]] bool is_fork) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
#ifdef GALATEA_PROGRAM_IS_LINKED
  if (is_fork) std::exit(galatea_program(static_cast<int>(arguments.size()), argv.data()));
#endif
  ::execv(argv.front(), argv.data());
  ::_exit(127);
}

}  // namespace

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
  const std::string program = build_folder() + "/bin/galatea";
  arguments.insert(arguments.begin(), program);
  const std::filesystem::path out = folder / "stdout", err = folder / "stderr";
  const bool is_fork = may_be_a_fork(arguments);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    // As ctest has it: what one test has compiled is compiled for all.
    ::setenv("GALATEA_CACHE_DIR", build_folder("/test-cache").c_str(), 0);
    if (disturbance.file_bytes != RLIM_INFINITY) {
      const rlimit bytes = {disturbance.file_bytes, disturbance.file_bytes}, core = {0, 0};
      ::setrlimit(RLIMIT_CORE, &core);
      ::setrlimit(RLIMIT_FSIZE, &bytes);
      ::signal(SIGXFSZ, SIG_DFL);
    }
    become_galatea(arguments, is_fork);
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
