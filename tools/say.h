// Words on stderr that are no diagnostics: how far something is, what was cut short.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace galatea::tools {

/// That nobody reads them any more, or that there is no room for them, ends nothing.
template <typename... T>
void say(fmt::format_string<T...> format, T&&... arguments) {
  const std::string text = fmt::format(format, std::forward<T>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace galatea::tools
