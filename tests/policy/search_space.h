// A search space for tests.
#pragma once

#include <optional>
#include <string>

#include "policy/search/space.h"

namespace galatea::policy::testing {

inline constexpr const char* kSpace = R"({"format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"rotate": {"range": [0, {"$float": [10, 50]}], "negate": true}, "equalize": {}, "invert": {}},
  "policy": {"seq": [[{"$choice": ["equalize", "invert"]}, 1, null],
    {"apply": "rotate", "mag": {"bin": {"$int": [0, 10]}}}]}})";

/// Items of a choice that have choices, one of them again.
inline constexpr const char* kNestedSpace = R"({"format": "augment-policy", "version": 1, "bins": 11,
  "augmentations": {"rotate": {"range": [0, 30], "negate": true}, "invert": {}},
  "policy": {"seq": [{"$choice": [["rotate", 1, {"$int": [0, 10]}],
      {"apply": "rotate", "p": {"$float": [0.5, 1]}, "mag": {"bin": {"$choice": [2, 3]}}}, ["invert", 1, null]]},
    ["invert", {"$choice": [0.5, 1]}, null]]}})";

struct SpaceRead {
  std::optional<Space> space;
  std::string report;
};

inline SpaceRead read_space(const std::string& text) {
  SourceMap sources;
  DiagnosticSink sink;
  SpaceRead made;
  made.space = Space::read(sources.add("space.json", text), sources, sink);
  for (const Diagnostic& diagnostic : sink.diagnostics())
    made.report += diagnostic.code + " at " + sources.describe(diagnostic.span).substr(11) + ": " +
                   diagnostic.message + "\n";
  return made;
}

}  // namespace galatea::policy::testing
