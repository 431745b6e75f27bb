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
