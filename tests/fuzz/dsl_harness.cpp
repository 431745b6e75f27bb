#include "tests/fuzz/dsl_harness.h"

#include "compiler/ir/text/printer.h"
#include "compiler/ir/text/verifier.h"
#include "dsl/frontend.h"
#include "stdlib_ops/register_all.h"

namespace galatea::fuzz {
namespace {
constexpr size_t kRendered = 4;  ///< of a text's diagnostics: drawing all of them took half the time
}

std::string run_dsl(const std::string& text) {
  static const op::Registry* registry = [] {
    auto* all = new op::Registry;
    ops::register_all(*all);
    return all;
  }();
  dsl::FrontendOptions options;
  options.unknown_parameters_allowed = true;
  // Small limits: every input ends soon.
  options.limits.max_file_bytes = 1 << 16;
  options.limits.max_steps = 20'000;
  options.limits.max_call_depth = 64;
  options.limits.max_nodes = 2'000;
  options.limits.max_imports = 1;
  SourceMap sources;
  dsl::FrontendResult result = dsl::stage_all("fuzz.dali-dsl", text, options, *registry, sources);
  bool has_error = false;
  size_t rendered = 0;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    has_error = has_error || diagnostic.severity == Severity::kError;
    if (rendered++ < kRendered) render_text(diagnostic, sources);
    const SourceFile* file = sources.file(diagnostic.span.file);
    if (file && (diagnostic.span.begin > diagnostic.span.end || diagnostic.span.end > file->text().size()))
      return "a span outside its file";
  }
  if (result.ok == has_error) return "ok does not agree with the diagnostics";
  for (const auto& graph : result.graphs) {
    if (Status legal = ir::verify(*graph); !legal) return "illegal graph: " + legal.error().message();
    ir::to_text(*graph);
  }
  return {};
}

}  // namespace galatea::fuzz
