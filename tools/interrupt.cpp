#include "tools/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace galatea::tools {
namespace {

// Lock-free atomics may be used in a signal handler.
std::atomic<int> interruptions{0};
std::atomic<int> orderly{0};

void on_interrupt(int) {
  if (interruptions.fetch_add(1) == 0 && orderly.load() > 0) return;
  constexpr std::string_view kText = "\ngalatea: interrupted\n";
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(130);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

bool is_interrupted() { return interruptions.load() > 0; }

OrderlyEnd::OrderlyEnd() { orderly.fetch_add(1); }
OrderlyEnd::~OrderlyEnd() { orderly.fetch_sub(1); }

}  // namespace galatea::tools
