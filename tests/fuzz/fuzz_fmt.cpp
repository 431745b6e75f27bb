// Any text through the formatter.
//
// Must hold: no crash; what parses keeps its meaning (format_source checks that itself); a second time
// changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dsl/formatter/formatter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galatea;
  if (size > 8192) return 0;
  SourceMap sources;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const dsl::FormatResult once = dsl::format_source("fuzz", text, sources);
  if (!once.diagnostics.empty()) return 0;
  const dsl::FormatResult twice = dsl::format_source("fuzz", once.text, sources);
  if (!twice.diagnostics.empty() || twice.changed) std::abort();
  return 0;
}
