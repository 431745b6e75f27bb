// Lists of words in messages.
#pragma once

#include <string>
#include <vector>

namespace galatea {

/// "a", "a or b", "a, b or c".
inline std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

}  // namespace galatea
