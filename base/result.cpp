#include "base/result.h"

#include <fmt/core.h>

namespace galatea {

const std::string& Error::message() const {
  // Short enough for strings without heap memory: an error without diagnostics is one for which there was
  // none.
  static const std::string kNone = "unknown error", kNoMemory = "out of memory";
  if (!diagnostics.empty()) return diagnostics.front().message;
  return kind == ErrorKind::kSystem ? kNoMemory : kNone;
}

std::unexpected<Error> make_error(ErrorKind kind, std::string code, std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  return make_error(kind, std::move(diagnostic));
}

std::unexpected<Error> make_error(ErrorKind kind, Diagnostic diagnostic) {
  Error error;
  error.kind = kind;
  error.diagnostics.push_back(std::move(diagnostic));
  return std::unexpected(std::move(error));
}

void fail_check(const char* condition, const char* file, int line) { fail_check(condition, file, line, {}); }

void fail_check(const char* condition, const char* file, int line, const std::string& text) {
  throw InternalError(fmt::format("internal error: {} does not hold at {}:{}{}{}", condition, file, line,
                                  text.empty() ? "" : ": ", text));
}

}  // namespace galatea
