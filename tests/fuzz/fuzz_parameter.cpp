// The values of pipeline parameters, as after --set: the first line is the annotation, the rest the value.
//
// Must hold: no crash; the pipeline is staged, or what is wrong is said.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_parameter {

GALATEA_FUZZ_TARGET(parameter, 150)(const uint8_t* data, size_t size) {
  static const op::Registry kRegistry = [] {
    op::Registry all;
    ops::register_all(all);
    return all;
  }();
  std::string text(reinterpret_cast<const char*>(data), size);
  size_t line = std::min(text.find('\n'), text.size());
  std::string annotation = text.substr(0, std::min<size_t>(line, 200));
  std::string file = "from nvidia.dali import pipeline_def\n@pipeline_def\ndef p(x: " + annotation +
                     "):\n    return len(repr(x))\n";
  dsl::FrontendOptions options;
  options.parameters = {{"x", line < text.size() ? text.substr(line + 1) : ""}};
  options.limits.max_steps = 20'000;
  SourceMap sources;
  dsl::FrontendResult result = dsl::stage_all("fuzz.dali-dsl", file, options, kRegistry, sources);
  bool has_error = false;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    has_error = has_error || diagnostic.severity == Severity::kError;
    render_text(diagnostic, sources);
  }
  if (result.ok == has_error) std::abort();
}

}  // namespace galatea::fuzz::of_parameter
