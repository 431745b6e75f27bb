// See compile.h. The compiler's table of contents: compile(), at the end, calls the steps above it in their
// order.
#include "compiler/compile.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "compiler/check_graph.h"
#include "compiler/compile_job.h"
#include "compiler/ir/text/fingerprint.h"
#include "compiler/passes/map_devices.h"
#include "compiler/passes/pass_runner.h"
#include "compiler/plan/emit_sample_program.h"
#include "compiler/plan_program.h"
#include "compiler/program_options.h"
#include "compiler/values/shared_table.h"

namespace galatea {
namespace {

/// Warnings go to the report; of errors, all are given.
Status check_graph_of(const CompileJob& job, op::KnownLowerings& known) {
  if (!job.options.check) return {};
  const TraceScope scope = job.trace("check");
  std::vector<Diagnostic> found = check_graph(job.input, &known);
  const auto first_warning = std::stable_partition(
      found.begin(), found.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; });
  if (first_warning != found.begin()) return std::unexpected(Error{ErrorKind::kUser, std::move(found)});
  if (job.report) job.report->diagnostics = std::move(found);
  return {};
}

op::DeviceMapping map_devices_of(const CompileJob& job, ir::Graph& graph) {
  op::DeviceMapping mapping = passes::map_devices(graph, job.options.gpu.has_value());
  if (job.options.outputs_on_cpu) mapping.outputs_on_gpu.assign(mapping.outputs_on_gpu.size(), false);
  return mapping;
}

/// A bug of ours is found at the end, when it has passed through all passes: they run once more, from the
/// beginning and verified whole after each, so that the report says which it was.
Result<std::vector<passes::PassReport>> run_verified(const CompileJob& job, ir::Graph& graph,
                                                     passes::PassOptions options,
                                                     values::SharedTable& table) {
  auto reports = passes::run_passes(graph, *job.options.registry, options, table);
  const bool repeats = !reports && reports.error().kind == ErrorKind::kInternal &&
                       options.verify == passes::VerifyPasses::kTypesAtEnd;
  if (!repeats) return reports;
  ir::Graph again = job.input;
  passes::map_devices(again, job.options.gpu.has_value());
  options.verify = passes::VerifyPasses::kAfterEach;
  auto found = passes::run_passes(again, *job.options.registry, options);
  return found ? std::move(reports) : std::move(found);
}

Status run_graph_passes(const CompileJob& job, ir::Graph& graph, values::SharedTable& table) {
  if (!job.options.run_passes) return {};
  const TraceScope scope = job.trace("passes");
  GALATEA_CHECK(job.options.registry != nullptr, "compile: the graph passes need the registry");
  passes::PassOptions options = passes::default_pass_options();
  options.trace = job.options.trace;
  options.for_gpu = job.options.gpu.has_value();
  options.remarks = job.shows_forms();
  GALATEA_ASSIGN(auto reports, run_verified(job, graph, std::move(options), table));
  if (!job.report) return {};
  for (passes::PassReport& report : reports)
    for (passes::Remark& remark : report.remarks)
      if (const Span span = job.sources.resolve(remark.span); span.valid())
        if (const SourceFile* file = job.sources.file(span.file))
          remark.text += fmt::format(" (line {})", file->position(span.begin).line);
  job.report->passes = std::move(reports);
  return {};
}

Status make_code(const CompileJob& job, const PlannedProgram& planned) {
  const TraceScope scope = job.trace("kernels");
  return planned.kernels->make_code();
}

Status emit_program(const CompileJob& job, const PlannedProgram& planned, runtime::Program& program) {
  const TraceScope scope = job.trace("emit program");
  return plan::emit_sample_program(*planned.table, planned.sample_plan(), job.sources, program.seed, program,
                                   job.report ? &job.report->memory : nullptr);
}

/// Which calls are launched together, and their code.
Status make_launches(const CompileJob& job, const PlannedProgram& planned, runtime::Program& program) {
  if (program.device < 0) return {};
  const TraceScope scope = job.trace("kernels of the GPU");
  std::vector<plan::Launch> launches = plan::plan_launches(program, job.options.gpu->launches);
  if (job.report)
    job.report->device = plan::report_device(program, launches, planned.placement.why, planned.branches,
                                             plan::offers_of(*planned.graph, *planned.table), job.sources);
  return planned.kernels->make_device_code(launches);
}

}  // namespace

Result<std::shared_ptr<runtime::Program>> compile(const ir::Graph& input, const SourceMap& sources,
                                                  const CompileOptions& options, CompileReport* report) {
  const auto start = std::chrono::steady_clock::now();
  const CompileJob job{input, sources, options, report};
  const auto interpreter = options.backend ? nullptr : codegen::make_interpreter_backend();
  codegen::KernelBackend& backend = options.backend ? *options.backend : *interpreter;
  auto graph = std::make_unique<ir::Graph>(input);
  values::SharedTable table(*graph);
  auto program = std::make_shared<runtime::Program>();

  GALATEA_TRY(check_graph_of(job, table.known()));
  const op::DeviceMapping mapping = map_devices_of(job, *graph);
  GALATEA_TRY(run_graph_passes(job, *graph, table));
  set_options(*graph, *program);
  program->fingerprint = ir::fingerprint(input);
  GALATEA_ASSIGN(PlannedProgram planned,
                 plan_program(job, std::move(graph), table, mapping, backend, *program));
  GALATEA_TRY(make_code(job, planned));
  GALATEA_TRY(emit_program(job, planned, *program));
  GALATEA_TRY(make_launches(job, planned, *program));

  program->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (report) report->graph = std::move(planned.graph);
  return program;
}

}  // namespace galatea
