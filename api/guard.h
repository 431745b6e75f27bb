// The one wall for exceptions: what the layers throw (bugs, memory that ran out) becomes a galatea_error
// here, and nowhere else.
//
// Comes in: a body that returns an Error or nothing. Goes out: galatea_error*.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/source.h"
#include "include/galatea.h"

namespace galatea::api {

/// An error for the host; its diagnostics point into `sources`. Never throws: without memory it is the error
/// that says so.
galatea_error* make_api_error(const Error& error, const SourceMap& sources) noexcept;
galatea_error* make_api_error(const Error& error) noexcept;
/// What the host did wrong in a call of the API itself.
galatea_error* misuse(std::string_view message) noexcept;
galatea_error* out_of_memory() noexcept;
/// What a function of the host returned, which ends here.
Error take_error(galatea_error* error);
/// Text for the host, who ends it by galatea_string_destroy().
galatea_error* take_string(const std::string& text, char** out) noexcept;

/// The exception that is being handled, with a note where there is memory for it; only inside a catch block.
galatea_error* error_in_call(std::string_view note = {}) noexcept;

/// Runs a body that returns galatea_error*.
template <typename Body>
galatea_error* guard(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return error_in_call();
  }
}

}  // namespace galatea::api
