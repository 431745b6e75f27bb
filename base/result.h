// Results and errors of every layer.
//
// Comes in: a failure, as a diagnostic with a kind. Goes out: Result<T>, which holds a value or an Error.
// What a user can cause travels as an Error; what only a bug can cause stops at GALATEA_CHECK, which throws
// InternalError (caught at the C API and in the tools, reported with exit status 4).
#pragma once

#include <expected>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace galatea {

/// Who has to act: the author of the pipeline or its data, whoever runs this machine, or we.
enum class ErrorKind { kUser, kSystem, kInternal };

/// A failure: one or more diagnostics, the first being the cause.
struct Error {
  ErrorKind kind = ErrorKind::kUser;
  std::vector<Diagnostic> diagnostics;

  /// The message of the first diagnostic.
  const std::string& message() const;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

/// An error of one diagnostic without a place in a source text.
std::unexpected<Error> make_error(ErrorKind kind, std::string code, std::string message,
                                  std::string help = {});
/// An error from a full diagnostic.
std::unexpected<Error> make_error(ErrorKind kind, Diagnostic diagnostic);

/// A bug in galatea itself. Only GALATEA_CHECK throws it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line);
[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& text);

}  // namespace galatea

/// States what must hold unless galatea itself is wrong. Stays on in release builds.
#define GALATEA_CHECK(condition, ...)                                                               \
  do {                                                                                              \
    if (!(condition)) [[unlikely]]                                                                  \
      ::galatea::fail_check(#condition, __FILE__, __LINE__ __VA_OPT__(, std::string{__VA_ARGS__})); \
  } while (false)

#define GALATEA_CONCAT_INNER(a, b) a##b
#define GALATEA_CONCAT(a, b) GALATEA_CONCAT_INNER(a, b)
/// Leaves the function with the error of a Result or Status, if it has one.
#define GALATEA_TRY(expression)                                  \
  do {                                                           \
    if (auto galatea_status = (expression); !galatea_status)     \
      return std::unexpected(std::move(galatea_status.error())); \
  } while (false)
/// `GALATEA_ASSIGN(auto x, f())`: x is the value, or the function is left with the error.
#define GALATEA_ASSIGN(target, expression) \
  GALATEA_ASSIGN_INNER(GALATEA_CONCAT(galatea_result_, __LINE__), target, expression)
#define GALATEA_ASSIGN_INNER(name, target, expression)        \
  auto name = (expression);                                   \
  if (!name) return std::unexpected(std::move(name.error())); \
  target = std::move(*name)
