#include "tools/pipeline_host.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/settings.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/shim_backend.h"
#include "compiler/codegen/llvm_backend.h"
#include "policy/spelling.h"
#include "policy/writer.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"
#include "tools/messages.h"
#include "tools/say.h"

namespace galatea::tools {
namespace {

/// The settings', unless the command line says otherwise.
codegen::CacheOptions cache_of(const std::string& choice) {
  codegen::CacheOptions options = codegen::default_cache_options();
  if (choice == "off") options.enabled = false;
  if (choice != "off" && choice != "on") {
    options.folder = std::filesystem::path(choice) / "kernels";
    options.enabled = options.max_bytes > 0;
  }
  return options;
}

/// The settings', unless the command line says otherwise. What is only looked at is the best.
codegen::Tiers tiers_of(const CompileChoice& choice) {
  if (!choice.to_run) return codegen::Tiers::kBest;
  return codegen::tiers_from_word(choice.tiers).value_or(codegen::default_tiers());
}

/// The backend of a name, or why it is not here. `note`: what the user should know.
Result<std::unique_ptr<codegen::KernelBackend>> backend_of(const CompileChoice& choice, std::string* note) {
  const std::string& name = choice.backend;
  if (const std::string target_name = setting("GALATEA_TARGET"); name == "llvm" && !target_name.empty()) {
    GALATEA_ASSIGN(const codegen::Target target, codegen::target_from_name(target_name));
    for (const codegen::Target& runnable : codegen::runnable_targets()) {
      if (runnable.level == target.level)
        return codegen::make_llvm_backend(target, cache_of(choice.cache), tiers_of(choice));
    }
    if (!choice.to_run) {
      kernel::ScheduleOptions schedule;
      schedule.vector_bits = target.vector_bits();
      return codegen::make_interpreter_backend(false, schedule);
    }
    return tool_error(Message::kNoBackend, target_name, "this processor cannot run its code");
  }
  return name == "cuda-shim" ? codegen::make_shim_backend()
                             : codegen::make_backend(name, note, cache_of(choice.cache), tiers_of(choice));
}

void report_note(std::string text, Reporter& reporter) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kNote;
  diagnostic.message = std::move(text);
  reporter.report(std::move(diagnostic));
}

/// A file, or a spelling such as "rand_augment(n=2, m=9)"; nullopt: that is wrong.
std::optional<dsl::PolicyText> policy_text(const std::string& name, Reporter& reporter) {
  std::error_code error;
  if (name.ends_with(".json") || std::filesystem::exists(name, error)) return dsl::PolicyText{name, {}};
  const Result<policy::Document> made = policy::document_of(name);
  if (made) return dsl::PolicyText{name, policy::to_json(*made)};
  reporter.report(made.error());
  return std::nullopt;
}

/// GALATEA_LOG: one line a kernel.
void log_kernels(const CompileReport& report) {
  for (const KernelReport& kernel : report.kernels) {
    say("kernel {} {:016x} fuses {} {} in {:.1f} ms\n", kernel.name, kernel::hash_of(kernel.kernel),
        fmt::join(kernel.operators, ","),
        kernel.from_cache   ? "cached"
        : kernel.first_tier ? "compiled for a start"
                            : "compiled",
        1e3 * kernel.seconds);
  }
}

}  // namespace

PipelineHost::PipelineHost() {
  ops::register_all(registry_);
  native::register_natives(natives_);
}

std::unique_ptr<ir::Graph> PipelineHost::stage(const std::string& file, const PipelineOptions& options,
                                               Reporter& reporter,
                                               std::vector<dsl::OutputOrigin>* origins) const {
  dsl::FrontendOptions frontend = frontend_options(options);
  for (const std::string& name : options.policies) {
    std::optional<dsl::PolicyText> policy = policy_text(name, reporter);
    if (!policy) return nullptr;
    frontend.policies.push_back(std::move(*policy));
  }
  dsl::FrontendResult result =
      dsl::stage_pipeline(file, options.text, frontend, registry_, reporter.sources());
  reporter.report(std::move(result.diagnostics));
  if (origins) *origins = std::move(result.outputs);
  if (result.ok && !result.late.empty()) {
    // Its type comes from a host.
    const dsl::LatePipeline::Input& input = result.late.front().inputs.front();
    Error refused = tool_error(Message::kHostInput, input.name).error();
    refused.diagnostics.front().span = input.span;
    reporter.report(refused);
    return nullptr;
  }
  if (result.ok && !result.graphs.empty()) return std::move(result.graphs.front());
  reporter.raise_status(kWrong);
  return nullptr;
}

bool PipelineHost::choose_device(PipelineOptions& options, CompileChoice& choice, Reporter& reporter) const {
  if (options.device.find(',') != std::string::npos) {
    std::istringstream numbers(options.device.substr(options.device.find(':') + 1));
    for (std::string number; std::getline(numbers, number, ',');) options.gpus.push_back(std::stoi(number));
    options.device = fmt::format("gpu:{}", options.gpus.front());
  }
  Result<GpuChoice> found = choose_gpu(options.device, choice.to_run ? GpuPurpose::kRun : GpuPurpose::kLook,
                                       cache_of(choice.cache));
  if (!found) {
    reporter.report(found.error());
    return false;
  }
  choice.gpu = std::move(*found);
  choice.may_stay_on_cpu = options.device == "auto";
  options.gpu_is_here = choice.gpu.target.has_value();
  if (!choice.gpu.note.empty()) report_note(std::move(choice.gpu.note), reporter);
  return true;
}

std::shared_ptr<const runtime::Program> PipelineHost::compile(const ir::Graph& graph,
                                                              const CompileChoice& choice, Trace* trace,
                                                              Reporter& reporter,
                                                              CompileReport* report) const {
  std::string note;
  auto backend = backend_of(choice, &note);
  if (!backend) {
    reporter.report(backend.error());
    return nullptr;
  }
  if (!note.empty()) report_note(std::move(note), reporter);
  CompileOptions options;
  options.registry = &registry_;
  options.backend = backend->get();
  options.fuse = choice.fuse;
  options.run_passes = choice.passes;
  // What the text would like counts where the host leaves the choice open.
  if (choice.gpu.target && !(choice.may_stay_on_cpu && graph.options.device == "cpu")) {
    options.gpu = choice.gpu.target;
    options.gpu->launches = choice.launches;
    options.gpu->decoder = choice.decoder;
    options.gpu->selectors = choice.selectors;
    options.outputs_on_cpu = choice.outputs_on_cpu;
  }
  options.trace = trace;
  CompileReport own_report;
  options.report_forms = report != nullptr || setting_bool("GALATEA_LOG");
  if (report == nullptr) report = &own_report;
  auto compiled = compile_for_choice(graph, reporter.sources(), options, choice.may_stay_on_cpu, report);
  for (std::string& line : (*backend)->take_notes()) report_note(std::move(line), reporter);
  if (choice.gpu.compiler)
    for (std::string& line : choice.gpu.compiler->take_notes()) report_note(std::move(line), reporter);
  if (!compiled) {
    reporter.report(compiled.error());
    return nullptr;
  }
  if (!compiled->note.empty()) report_note(std::move(compiled->note), reporter);
  const std::shared_ptr<const runtime::Program> program = std::move(compiled->program);
  if (std::string about_decoder = note_on_alternatives(*program, natives_); !about_decoder.empty())
    report_note(std::move(about_decoder), reporter);
  reporter.report(std::move(report->diagnostics));
  if (setting_bool("GALATEA_LOG")) log_kernels(*report);
  return program;
}

std::unique_ptr<runtime::Session> PipelineHost::open(std::shared_ptr<const runtime::Program> program,
                                                     Trace* trace, Reporter& reporter,
                                                     const runtime::DeviceOptions& device,
                                                     OnFailure on_failure,
                                                     const runtime::SessionShard& shard) const {
  if (!program->external_inputs.empty()) {
    reporter.report(tool_error(Message::kHostInput, program->external_inputs.front().port.name).error());
    return nullptr;
  }
  runtime::SessionOptions options;
  options.trace = trace;
  options.sources = &reporter.sources();
  options.device = device;
  options.on_failure = std::move(on_failure);
  options.shard = shard;
  auto session = runtime::Session::create(std::move(program), natives_, options);
  if (!session) {
    reporter.report(session.error());
    return nullptr;
  }
  return std::move(*session);
}

}  // namespace galatea::tools
