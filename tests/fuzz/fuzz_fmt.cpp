// Any text through the formatter.
//
// Must hold: no crash; what parses keeps its meaning (format_source checks that itself); a second time
// changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dsl/formatter/formatter.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_fmt {

GALATEA_FUZZ_TARGET(fmt, 120)(const uint8_t* data, size_t size) {
  if (size > 8192) return;
  SourceMap sources;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const dsl::FormatResult once = dsl::format_source("fuzz", text, sources);
  if (!once.diagnostics.empty()) return;
  const dsl::FormatResult twice = dsl::format_source("fuzz", once.text, sources);
  if (!twice.diagnostics.empty() || twice.changed) std::abort();
}

}  // namespace galatea::fuzz::of_fmt
