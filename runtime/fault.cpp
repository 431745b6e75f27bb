#include "runtime/fault.h"

#include <exception>
#include <new>
#include <system_error>

#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

Error describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return make_error(message::kNoMemory).error();
  } catch (const std::system_error& refused) {
    return make_error(message::kRefused, refused.what()).error();
  } catch (const std::exception& bug) {
    return make_error(message::kUnexpected, bug.what()).error();
  } catch (...) {
    return make_error(message::kUnexpected, "an exception of an unknown type").error();
  }
}

}  // namespace

Error error_in_flight(std::string_view note) noexcept {
  try {
    Error error = describe_exception();
    if (!note.empty()) error.diagnostics.front().notes.emplace_back(note);
    return error;
  } catch (...) {
    return Error{ErrorKind::kSystem, {}};
  }
}

}  // namespace galatea::runtime
