#include "api/program_maker.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/fault.h"
#include "compiler/choose_gpu.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"
#include "compiler/look_inside.h"

namespace galatea::api {
namespace {

Diagnostic note(std::string message) {
  Diagnostic out;
  out.severity = Severity::kNote;
  out.message = std::move(message);
  return out;
}

/// Errors first, what else was said behind them.
std::unexpected<Error> failed(std::vector<Diagnostic> diagnostics) {
  std::stable_partition(diagnostics.begin(), diagnostics.end(),
                        [](const Diagnostic& d) { return d.severity == Severity::kError; });
  const ErrorKind kind = kind_of(diagnostics);
  return std::unexpected(Error{kind, std::move(diagnostics)});
}

}  // namespace

codegen::CacheOptions CacheChoice::options() const {
  codegen::CacheOptions options = codegen::default_cache_options();
  if (max_bytes) options.max_bytes = *max_bytes;
  if (folder) options.folder = std::filesystem::path(*folder) / "kernels";
  // What the host says goes before what the environment says.
  if (folder) options.enabled = !folder->empty();
  if (options.max_bytes <= 0) options.enabled = false;
  return options;
}

Result<ProgramMaker::Made> ProgramMaker::make(const InputTypes& types, SourceMap& sources) {
  std::lock_guard lock(mutex_);
  for (const auto& [known, program] : made_)
    if (known == types) return Made{program, std::nullopt, {}};
  GALATEA_ASSIGN(Made made, compile(types, sources));
  if (made.program) made_.emplace_back(types, made.program);
  tell(made, sources);
  if (made.late) fix_what_was_read(*made.late, sources);
  return made;
}

void ProgramMaker::tell(const Made& made, const SourceMap& sources) const {
  const HostLog& log = *library_->log;
  for (const Diagnostic& diagnostic : made.diagnostics) log.tell(diagnostic, sources);
  if (!made.program) return;
  const runtime::Program& program = *made.program;
  log.tell(GALATEA_LOG_DETAIL,
           fmt::format("compiled '{}' in {:.3f} s: {} kernels, {} of them kept from before", program.name,
                       program.compile_seconds, program.kernels.size(), program.kernels_cached));
}

/// Programs for several types are made of one text and draw by one seed.
void ProgramMaker::fix_what_was_read(dsl::LatePipeline& late, const SourceMap& sources) {
  for (uint32_t id = 1; !text_ && sources.file(id); ++id)
    if (sources.file(id)->name() == file_) text_ = sources.file(id)->text();
  if (late.options.seed >= 0) return;
  std::random_device device;
  late.options.seed = static_cast<int64_t>(((uint64_t{device()} << 32) | device()) >> 1);
  options_.host.seed = late.options.seed;
}

Result<ProgramMaker::Made> ProgramMaker::compile(const InputTypes& types, SourceMap& sources) {
  dsl::FrontendOptions frontend = options_;
  for (const auto& [name, type] : types) frontend.input_types[name] = type;
  GALATEA_ASSIGN(const GpuChoice gpu,
                 choose_gpu(frontend.host.device, GpuPurpose::kRun, library_->cache.options()));
  frontend.host.gpu_is_here = gpu.target.has_value();
  auto staged = dsl::stage_pipeline(file_, text_, frontend, library_->operators, sources);
  Made made;
  made.diagnostics = std::move(staged.diagnostics);
  if (!staged.ok) return failed(std::move(made.diagnostics));
  if (!staged.late.empty()) {
    made.late = std::move(staged.late.front());
    return made;
  }
  if (staged.graphs.empty()) return failed(std::move(made.diagnostics));
  if (look_.nodes) add_nodes_as_outputs(*staged.graphs.front(), sources);
  if (look_.draw != 0) change_draws(*staged.graphs.front(), look_.draw);
  std::string about_backend;
  GALATEA_ASSIGN(const auto backend,
                 codegen::make_backend(code_.backend, &about_backend, library_->cache.options(),
                                       code_.tiers.value_or(codegen::default_tiers())));
  if (!about_backend.empty()) made.diagnostics.push_back(note(std::move(about_backend)));
  if (!gpu.note.empty()) made.diagnostics.push_back(note(gpu.note));
  CompileOptions options;
  options.registry = &library_->operators;
  options.backend = backend.get();
  if (frontend.host.device != "auto" || staged.graphs.front()->options.device != "cpu")
    options.gpu = gpu.target;
  if (options.gpu) options.gpu->decoder = code_.decoder;
  options.report_forms = false;
  CompileReport report;
  GALATEA_ASSIGN(CompiledForChoice compiled, compile_for_choice(*staged.graphs.front(), sources, options,
                                                                frontend.host.device == "auto", &report));
  made.program = std::move(compiled.program);
  if (!compiled.note.empty()) made.diagnostics.push_back(note(std::move(compiled.note)));
  if (std::string about_decoder = note_on_alternatives(*made.program, library_->natives);
      !about_decoder.empty())
    made.diagnostics.push_back(note(std::move(about_decoder)));
  if (gpu.compiler)
    for (std::string& line : gpu.compiler->take_notes()) made.diagnostics.push_back(note(std::move(line)));
  for (std::string& line : backend->take_notes()) made.diagnostics.push_back(note(std::move(line)));
  made.diagnostics.insert(made.diagnostics.end(), report.diagnostics.begin(), report.diagnostics.end());
  return made;
}

}  // namespace galatea::api
