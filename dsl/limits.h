// The bounds of one compilation, and how a host moves them.
//
// Comes in: a limit's name and a number, as a host gives them (`--limit steps=5000000`). Goes out: Limits,
// which the front end keeps. Every message about a limit names it, so that it can be raised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galatea::dsl {

struct Limits {
#define GALATEA_LIMIT(member, name, standard, largest, meaning) int64_t member = standard;
#include "dsl/limits.def"
#undef GALATEA_LIMIT
};

struct LimitEntry {
  std::string_view name;  ///< "call-depth"
  int64_t Limits::* member;
  int64_t standard, largest;
  std::string_view meaning;
};
const std::vector<LimitEntry>& all_limits();

/// A number of bytes for a message: "512 MiB", "10 bytes".
std::string bytes_text(int64_t bytes);
/// Sets a limit to a number from 1 to its largest. Returns what is wrong with the name or the number; empty:
/// nothing.
std::string set_limit(Limits& limits, std::string_view name, int64_t value);
/// The same for `NAME=VALUE`, as the command line has it.
std::string set_limit(Limits& limits, std::string_view assignment);

}  // namespace galatea::dsl
