// Text with drawn arguments, the same under every compiler.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace galatea::testing {

/// fmt::format whose arguments are drawn from left to right: braces promise the order, a call's parentheses
/// do not, and a seed must give one pipeline whatever the compiler.
struct Ordered {
  template <typename... Args>
  Ordered(fmt::format_string<Args...> pattern, Args&&... args)
      : text(fmt::format(pattern, std::forward<Args>(args)...)) {}
  std::string text;
};

}  // namespace galatea::testing
