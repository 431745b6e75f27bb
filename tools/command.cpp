#include "tools/command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/fault.h"
#include "base/settings.h"
#include "tools/say.h"

namespace galatea::tools {

void Reporter::report(Diagnostic diagnostic) {
  if (change_) change_(diagnostic);
  if (diagnostic.severity == Severity::kError) raise_status(is_fault(diagnostic) ? kMissing : kWrong);
  if (json_) {
    collected_.push_back(std::move(diagnostic));
    return;
  }
  std::string text = render_text(diagnostic, sources_, {.color = color_});
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Reporter::report(std::vector<Diagnostic> diagnostics) {
  for (Diagnostic& diagnostic : diagnostics) report(std::move(diagnostic));
}

void Reporter::report(const Error& error) {
  // For want of memory it has no words; main() has some.
  if (error.diagnostics.empty() && error.kind == ErrorKind::kSystem) throw std::bad_alloc();
  for (const Diagnostic& diagnostic : error.diagnostics) report(diagnostic);
  switch (error.kind) {
    case ErrorKind::kUser:
      raise_status(kWrong);
      break;
    case ErrorKind::kSystem:
      raise_status(kMissing);
      break;
    case ErrorKind::kInternal:
      raise_status(kInternalError);
      break;
  }
}

void Reporter::print_collected() {
  if (!json_ || printed_) return;
  printed_ = true;
  write_stdout(render_json(collected_, sources_) + "\n");
}

void Reporter::print(std::string_view text) {
  print_collected();
  write_stdout(text);
}

void Reporter::write_stdout(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  // A reader that has seen enough (`| head`) is no failure.
  if (errno == EPIPE || status_ != kFine) return;
  const int why = errno;
  say("galatea: cannot write to stdout: {}\n", std::strerror(why));
  raise_status(kind_of_errno(why) == ErrorKind::kSystem ? kMissing : kWrong);
}

void Reporter::raise_status(int status) { status_ = std::max(status_, status); }

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1 && setting("TERM") != "dumb"; }

}  // namespace galatea::tools
