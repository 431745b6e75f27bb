#include "tools/pipeline_host.h"

#include "compiler/codegen/backend.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"
#include "tools/messages.h"

#if __has_include("compiler/codegen/cuda/shim_backend.h")
#include "compiler/codegen/cuda/shim_backend.h"
#endif
#if __has_include("compiler/codegen/llvm/backend.h")
#include "compiler/codegen/llvm/backend.h"
#endif

namespace galatea::tools {
namespace {

/// The backend of a name, or why it is not here.
Result<std::unique_ptr<codegen::KernelBackend>> make_backend(const std::string& name) {
  if (name == "interpreter") return codegen::make_interpreter_backend();
#if __has_include("compiler/codegen/llvm/backend.h")
  if (name == "llvm") return codegen::make_llvm_backend();
#endif
#if __has_include("compiler/codegen/cuda/shim_backend.h")
  if (name == "cuda-shim") return codegen::make_shim_backend();
#endif
  return tool_error(ErrorKind::kSystem, Message::kNoBackend, name, "this build does not hold it");
}

}  // namespace

PipelineHost::PipelineHost() {
  ops::register_all(registry_);
  native::register_natives(natives_);
}

std::unique_ptr<ir::Graph> PipelineHost::stage(const std::string& file, const PipelineOptions& options,
                                               Reporter& reporter) const {
  dsl::FrontendResult result =
      dsl::stage_pipeline(file, {}, frontend_options(options), registry_, reporter.sources());
  reporter.report(std::move(result.diagnostics));
  if (result.ok && !result.graphs.empty()) return std::move(result.graphs.front());
  reporter.raise_status(kWrong);
  return nullptr;
}

bool PipelineHost::device_is_here(const PipelineOptions& options, Reporter& reporter) const {
  if (!options.insists_on_gpu()) return true;
  reporter.report(tool_error(ErrorKind::kSystem, Message::kNoDevice).error());
  return false;
}

std::shared_ptr<const runtime::Program> PipelineHost::compile(const ir::Graph& graph,
                                                              const CompileChoice& choice, Trace* trace,
                                                              Reporter& reporter,
                                                              CompileReport* report) const {
  auto backend = make_backend(choice.backend);
  if (!backend) {
    reporter.report(backend.error());
    return nullptr;
  }
  CompileOptions options;
  options.backend = backend->get();
  options.fuse = choice.fuse;
  options.trace = trace;
  auto program = galatea::compile(graph, reporter.sources(), options, report);
  if (!program) {
    reporter.report(program.error());
    return nullptr;
  }
  return *program;
}

std::unique_ptr<runtime::Session> PipelineHost::open(std::shared_ptr<const runtime::Program> program,
                                                     Trace* trace, Reporter& reporter) const {
  if (!program->external_inputs.empty()) {
    reporter.report(
        tool_error(ErrorKind::kUser, Message::kHostInput, program->external_inputs.front().name).error());
    return nullptr;
  }
  runtime::SessionOptions options;
  options.trace = trace;
  auto session = runtime::Session::create(std::move(program), natives_, options);
  if (!session) {
    reporter.report(session.error());
    return nullptr;
  }
  return std::move(*session);
}

}  // namespace galatea::tools
