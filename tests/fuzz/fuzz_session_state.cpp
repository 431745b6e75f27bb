// States of sessions, as a host may have kept or changed them.
//
// Must hold: no crash; a text is refused with a reason, or read, and what was read is written and read again
// as the same. What the checksum would refuse is given the right one, so that what lies behind it is reached.
#include <cstdlib>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/json.h"
#include "runtime/session_state.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_session_state {
namespace {

void look_at(const std::string& text) {
  using namespace galatea::runtime;
  const auto state = parse_session_state(text);
  if (!state) return require(!state.error().message().empty());
  const auto again = parse_session_state(to_text(*state));
  require(again && *again == *state);
}

}  // namespace

GALATEA_FUZZ_TARGET(session_state, 8000)(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  look_at(text);
  auto document = galatea::parse_json(text);
  if (!document.is_object()) return;
  document.erase("check");
  document["check"] = fmt::format("{:016x}", galatea::checksum(galatea::json_text(document)));
  look_at(galatea::json_text(document));
}

}  // namespace galatea::fuzz::of_session_state
