// The table of limits.def, and setting entries by name.
#include "dsl/limits.h"

#include <charconv>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace galatea::dsl {

const std::vector<LimitEntry>& all_limits() {
  static const std::vector<LimitEntry> table = {
#define GALATEA_LIMIT(member, name, standard, largest, meaning) \
  {name, &Limits::member, standard, largest, meaning},
#include "dsl/limits.def"
#undef GALATEA_LIMIT
  };
  return table;
}

std::string bytes_text(int64_t bytes) {
  const int64_t whole = bytes >> 20;
  return whole > 0 ? fmt::format("{} MiB", whole) : fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::string set_limit(Limits& limits, std::string_view name, int64_t value) {
  std::vector<std::string> names;
  for (const LimitEntry& entry : all_limits()) {
    if (entry.name != name) {
      names.emplace_back(entry.name);
      continue;
    }
    if (value < 1 || value > entry.largest)
      return fmt::format("limit `{}` must be from 1 to {}, not {}", name, entry.largest, value);
    limits.*entry.member = value;
    return {};
  }
  if (auto near = closest_match(name, names))
    return fmt::format("no limit `{}`; did you mean `{}`?", name, *near);
  return fmt::format("no limit `{}`; there are {}", name, fmt::join(names, ", "));
}

std::string set_limit(Limits& limits, std::string_view assignment) {
  size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fmt::format("`{}` is not of the form NAME=VALUE", assignment);
  std::string_view text = assignment.substr(equals + 1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fmt::format("`{}` is not a whole number of at most 64 bits", text);
  return set_limit(limits, assignment.substr(0, equals), value);
}

}  // namespace galatea::dsl
