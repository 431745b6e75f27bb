#include "tests/serve/serve_process.h"
#include "tests/support/build_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace galatea::testing {

ServeProcess::ServeProcess(std::vector<std::string> arguments) {
  const std::string program = build_folder() + "/bin/galatea";
  arguments.insert(arguments.begin(), {program, "serve"});
  int ends[2] = {};
  if (::pipe(ends) != 0) return;
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
  for (char c = 0; ::read(output_, &c, 1) == 1 && c != '\n';) address_ += c;
  char token[64] = {};
  if (std::sscanf(address_.c_str(), "http://127.0.0.1:%d/?token=%63s", &port_, token) == 2) token_ = token;
}

ServeProcess::~ServeProcess() {
  if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
  if (output_ >= 0) ::close(output_);
}

httplib::Client ServeProcess::client() const {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(60);
  client.set_default_headers({{"X-Galatea-Token", token_}});
  return client;
}

int ServeProcess::interrupt(std::string* rest_of_stdout) {
  ::kill(child_, SIGINT);
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  char c = 0;
  while (rest_of_stdout && ::read(output_, &c, 1) == 1) *rest_of_stdout += c;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace galatea::testing
