#include "tools/lsp/children.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

namespace galatea::tools::lsp {
namespace {

constexpr size_t kMostOutput = size_t{1} << 20;  // bytes

/// This program, or where a host has loaded it, the one on the PATH.
std::string program() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return !failed && self.filename() == "galatea" ? self.string() : "galatea";
}

/// One byte; false: there is none any more.
bool read_byte(int descriptor, char& byte) {
  ssize_t count = 0;
  while ((count = ::read(descriptor, &byte, 1)) < 0 && errno == EINTR) {
  }
  return count == 1;
}

}  // namespace

Children::~Children() {
  for (auto& [arguments, child] : staying_) end(child);
}

Children::Child Children::start(const Arguments& arguments, bool with_errors) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const std::string name = program();
  std::vector<char*> words = {const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDWR);
    if (::getppid() != parent || nothing < 0) ::_exit(127);
    // Stdin and stdout are the editor's.
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(with_errors ? ends[1] : nothing, STDERR_FILENO);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (process < 0) ::close(ends[0]);
  return process < 0 ? Child{} : Child{process, ends[0], {}};
}

void Children::end(Child& child) {
  if (child.output >= 0) ::close(child.output);
  if (child.process <= 0) return;
  ::kill(child.process, SIGTERM);
  ::waitpid(child.process, nullptr, 0);
  child.process = -1;
}

std::string Children::output_of(const Arguments& arguments) {
  Child child = start(arguments, true);
  std::string text;
  char byte = 0;
  while (child.process > 0 && text.size() < kMostOutput && read_byte(child.output, byte)) text += byte;
  end(child);
  return text;
}

std::string Children::first_line_of(const Arguments& arguments) {
  Child& child = staying_[arguments];
  const bool runs = child.process > 0 && ::waitpid(child.process, nullptr, WNOHANG) == 0;
  if (runs) return child.line;
  child = start(arguments, false);
  char byte = 0;
  while (child.process > 0 && child.line.size() < kMostOutput && read_byte(child.output, byte) &&
         byte != '\n')
    child.line += byte;
  return child.line;
}

}  // namespace galatea::tools::lsp
