// The one wall between exceptions and errors.
//
// Comes in: what a layer or a library beneath it threw. Goes out: an Error. Memory that ran out and calls
// that the system refused are the machine's (kSystem); everything else is a mistake in galatea (kInternal).
//
// Where there is not even memory for words, the Error has no diagnostics: kind kSystem and an empty list mean
// "out of memory" everywhere, and whoever shows errors has those words ready.
#pragma once

#include <string_view>

#include "base/result.h"

namespace galatea::runtime {

/// What the exception that is being handled says; only inside a catch block. `note` is added where there is
/// memory for it.
Error error_in_flight(std::string_view note = {}) noexcept;

/// Of what ends a session.
inline constexpr std::string_view kSessionIsOver = "this session has ended; another one may begin";

}  // namespace galatea::runtime
