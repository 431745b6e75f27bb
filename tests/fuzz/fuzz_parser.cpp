// Any text through the lexer and the parser.
//
// Must hold: no crash; what is reported lies in the text; parsing again gives the same tree.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dsl/frontend.h"
#include "tests/fuzz/target.h"

namespace galatea::fuzz::of_parser {
namespace {
constexpr size_t kRendered = 4;  ///< of an input's diagnostics: drawing all of them took half the time
}

GALATEA_FUZZ_TARGET(parser, 250)(const uint8_t* data, size_t size) {
  if (size > (1 << 16)) return;
  std::string text(reinterpret_cast<const char*>(data), size);
  SourceMap sources;
  std::vector<Diagnostic> diagnostics;
  std::string tree = dsl::print_ast("fuzz.dali-dsl", text, sources, diagnostics);
  size_t rendered = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    require(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= text.size());
    if (rendered++ < kRendered) render_text(diagnostic, sources);
  }
  if (!diagnostics.empty()) return;
  std::vector<Diagnostic> again;
  require(dsl::print_ast("fuzz.dali-dsl", text, sources, again) == tree && again.empty());
}

}  // namespace galatea::fuzz::of_parser
