// Whether expected texts are to be written instead of compared: GALATEA_BLESS=1 (./dev test --bless).
#pragma once

#include <cstdlib>
#include <string_view>

namespace galatea::testing {

/// False also where the variable is empty or 0.
inline bool is_blessing() {
  const char* bless = std::getenv("GALATEA_BLESS");
  const std::string_view text = bless == nullptr ? "" : bless;
  return !text.empty() && text != "0";
}

}  // namespace galatea::testing
