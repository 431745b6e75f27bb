// Compiling: the language, the checks that need no data, the compiler.
#include <algorithm>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "base/dtype.h"
#include "compiler/check_constants.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/compile.h"

using galatea::Diagnostic;
using galatea::Error;
using galatea::ErrorKind;
using galatea::Severity;
using galatea::SourceMap;
using galatea::api::guard;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

Diagnostic note(std::string message) {
  Diagnostic out;
  out.severity = Severity::kNote;
  out.message = std::move(message);
  return out;
}

bool is_error(const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; }

/// Errors of staging first, what else was said behind them.
galatea_error* staging_failed(std::vector<Diagnostic> diagnostics, const SourceMap& sources) {
  std::stable_partition(diagnostics.begin(), diagnostics.end(), is_error);
  Error error;
  error.kind = ErrorKind::kUser;
  error.diagnostics = std::move(diagnostics);
  return make_api_error(error, sources);
}

galatea_error* create(galatea_engine* engine, const std::string& file, std::optional<std::string> text,
                      const galatea_program_options* given, galatea_program** out) {
  const galatea_program_options defaults;
  const galatea_program_options& options = given ? *given : defaults;
  SourceMap sources;
  auto staged = galatea::dsl::stage_pipeline(file, std::move(text), options.frontend,
                                             engine->library->operators, sources);
  std::vector<Diagnostic> diagnostics = std::move(staged.diagnostics);
  if (!staged.ok || staged.graphs.empty()) return staging_failed(std::move(diagnostics), sources);
  auto failing = galatea::check_constants(*staged.graphs.front());
  diagnostics.insert(diagnostics.end(), failing.begin(), failing.end());
  if (std::any_of(failing.begin(), failing.end(), is_error))
    return staging_failed(std::move(diagnostics), sources);
  std::string about_backend;
  auto backend = galatea::codegen::make_backend(options.backend, &about_backend);
  if (!backend) return make_api_error(backend.error(), sources);
  if (!about_backend.empty()) diagnostics.push_back(note(std::move(about_backend)));
  galatea::CompileOptions compile_options;
  compile_options.registry = &engine->library->operators;
  compile_options.backend = backend->get();
  compile_options.registry = &engine->library->operators;
  auto program = galatea::compile(*staged.graphs.front(), sources, compile_options);
  if (!program) return make_api_error(program.error(), sources);
  for (std::string& line : (*backend)->take_notes()) diagnostics.push_back(note(std::move(line)));
  auto result = std::make_unique<galatea_program>();
  result->library = engine->library;
  result->program = std::move(*program);
  for (const Diagnostic& diagnostic : diagnostics) result->warnings_text += render_text(diagnostic, sources);
  result->warnings_json = render_json(diagnostics, sources);
  *out = result.release();
  return nullptr;
}

void fill_port(galatea_port& port, const std::string& name, galatea::DType dtype, int ndim,
               const galatea::Layout& layout, const std::vector<int64_t>& extents) {
  port = galatea_port{};
  port.name = name.c_str();
  port.dtype = static_cast<galatea_dtype>(dtype);
  port.ndim = ndim;
  port.layout = layout.str().c_str();
  for (int d = 0; d < ndim; ++d)
    port.extents[d] = static_cast<size_t>(d) < extents.size() ? extents[static_cast<size_t>(d)] : -1;
}

}  // namespace

extern "C" {

galatea_error* galatea_program_create_from_file(galatea_engine* engine, const char* path,
                                                const galatea_program_options* options,
                                                galatea_program** program) {
  if (program) *program = nullptr;
  return guard([&]() -> galatea_error* {
    if (!engine || !path || !program) return misuse("engine, path or program is NULL");
    return create(engine, path, std::nullopt, options, program);
  });
}

galatea_error* galatea_program_create_from_text(galatea_engine* engine, const char* file_name,
                                                const char* text, const galatea_program_options* options,
                                                galatea_program** program) {
  if (program) *program = nullptr;
  return guard([&]() -> galatea_error* {
    if (!engine || !file_name || !text || !program)
      return misuse("engine, file_name, text or program is NULL");
    return create(engine, file_name, std::string(text), options, program);
  });
}

void galatea_program_destroy(galatea_program* program) { delete program; }

const char* galatea_program_name_borrow(const galatea_program* program) {
  return program->program->name.c_str();
}
uint64_t galatea_program_seed(const galatea_program* program) { return program->program->seed; }
int32_t galatea_program_batch_size(const galatea_program* program) { return program->program->batch_size; }
const char* galatea_program_warnings_text_borrow(const galatea_program* program) {
  return program->warnings_text.c_str();
}
const char* galatea_program_warnings_json_borrow(const galatea_program* program) {
  return program->warnings_json.c_str();
}

int32_t galatea_dtype_size(galatea_dtype dtype) {
  const auto number = static_cast<int>(dtype);
  return number >= 0 && number < galatea::kNumDTypes ? galatea::size_of(static_cast<galatea::DType>(number))
                                                     : 0;
}

int32_t galatea_program_num_outputs(const galatea_program* program) {
  return static_cast<int32_t>(program->program->outputs.size());
}

galatea_error* galatea_program_get_output(const galatea_program* program, int32_t index, galatea_port* port) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    const auto& outputs = program->program->outputs;
    if (index < 0 || static_cast<size_t>(index) >= outputs.size())
      return misuse(fmt::format("output {} does not exist; there are {}", index, outputs.size()));
    const auto& output = outputs[static_cast<size_t>(index)];
    fill_port(*port, output.name, output.dtype, output.ndim, output.layout, output.extents);
    return nullptr;
  });
}

int32_t galatea_program_num_inputs(const galatea_program* program) {
  return static_cast<int32_t>(program->program->external_inputs.size());
}

galatea_error* galatea_program_get_input(const galatea_program* program, int32_t index, galatea_port* port) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    const auto& inputs = program->program->external_inputs;
    if (index < 0 || static_cast<size_t>(index) >= inputs.size())
      return misuse(fmt::format("external input {} does not exist; there are {}", index, inputs.size()));
    const auto& input = inputs[static_cast<size_t>(index)];
    fill_port(*port, input.name, input.dtype, input.ndim, input.layout, {});
    return nullptr;
  });
}

}  // extern "C"
