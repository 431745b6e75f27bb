#include "tests/readers/run_text.h"

#include "compiler/compile.h"
#include "compiler/ir/text/printer.h"
#include "dsl/frontend.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

namespace galatea::testing {

std::string code_and_message(const Error& error) {
  const Diagnostic& first = error.diagnostics.front();
  return first.code + " " + first.message;
}

CompiledText compile_text(const std::string& body, const std::string& options, const op::Registry& registry) {
  CompiledText out;
  std::string text =
      "from galatea import fn, types, tfrecord, pipeline_def\n@pipeline_def(" + options + ")\ndef p():\n";
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('\n', at), body.size());
    text += "    " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  SourceMap sources;
  auto staged = dsl::stage_pipeline("test.dali-dsl", text, {}, registry, sources);
  for (const Diagnostic& diagnostic : staged.diagnostics)
    if (diagnostic.severity == Severity::kError)
      out.errors.push_back(diagnostic.code + " " + diagnostic.message);
  if (!staged.ok) return out;
  out.graph = to_text(*staged.graphs.front());
  CompileOptions compile_options;
  compile_options.registry = &registry;
  auto program = compile(*staged.graphs.front(), sources, compile_options);
  if (program)
    out.program = *program;
  else
    out.errors.push_back(code_and_message(program.error()));
  return out;
}

TextRun run_text(const std::string& body, const std::string& options) {
  struct Own {
    op::Registry registry;
    runtime::NativeTable natives;
    Own() {
      ops::register_all(registry);
      native::register_natives(natives);
    }
  };
  static const Own own;
  TextRun out;
  CompiledText compiled = compile_text(body, options, own.registry);
  out.errors = std::move(compiled.errors);
  if (!compiled.program) return out;
  auto session = runtime::Session::create(compiled.program, own.natives, {});
  if (!session) {
    out.errors.push_back(code_and_message(session.error()));
    return out;
  }
  out.session = std::move(*session);
  auto batch = out.session->next();
  if (!batch)
    out.errors.push_back(code_and_message(batch.error()));
  else if (*batch)
    out.batch = std::move(**batch);
  else
    out.errors.emplace_back("there is no batch");
  return out;
}

}  // namespace galatea::testing
