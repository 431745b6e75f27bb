// The one wall for exceptions: what the layers throw (bugs, memory that ran out) becomes a galatea_error
// here, and nowhere else.
//
// Comes in: a body that returns an Error or nothing. Goes out: galatea_error*.
#pragma once

#include <exception>
#include <new>
#include <string>
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
galatea_error* misuse(const std::string& message) noexcept;
galatea_error* out_of_memory() noexcept;
/// What a function of the host returned, which ends here.
Error take_error(galatea_error* error);
/// Text for the host, who ends it by galatea_string_destroy().
galatea_error* take_string(const std::string& text, char** out) noexcept;

/// Runs a body that returns galatea_error*.
template <typename Body>
galatea_error* guard(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& exception) {
    try {
      return make_api_error(make_error(ErrorKind::kInternal, "G0941", exception.what(),
                                       "please report this: it is a bug in galatea")
                                .error());
    } catch (...) {
      return out_of_memory();
    }
  }
}

}  // namespace galatea::api
