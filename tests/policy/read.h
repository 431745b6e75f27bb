// Reading policies in tests.
#pragma once

#include <string>

#include "policy/reader.h"

namespace galatea::policy::testing {

struct Read {
  SourceMap sources;
  ReadResult result;
  /// "G1007 at 3:5: message" of each diagnostic, a line each.
  std::string report() const {
    std::string text;
    for (const Diagnostic& diagnostic : result.diagnostics) {
      const std::string place = sources.describe(diagnostic.span);
      text += diagnostic.code + " at " + place.substr(place.find(':') + 1) + ": " + diagnostic.message + "\n";
    }
    return text;
  }
};

inline Read read(const std::string& text) {
  Read made;
  const uint32_t file = made.sources.add("policy.json", text);
  made.result = read_policy(file, made.sources);
  return made;
}

/// A whole policy around parts of one; `table` and `policy` stand on lines of their own.
inline std::string whole(
    const std::string& policy,
    const std::string& table = R"("rotate": {"range": [0, 30], "negate": true}, "equalize": {})",
    const std::string& more = "") {
  return "{\"format\": \"augment-policy\", \"version\": 1, \"bins\": 11," + more +
         "\n\"augmentations\": {\n" + table + "\n}, \"policy\":\n" + policy + "\n}";
}
constexpr int kTableLine = 3, kPolicyLine = 5;

}  // namespace galatea::policy::testing
