// Compiling: the language, the checks that need no data, the compiler.
#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "base/dtype.h"

using galatea::Diagnostic;
using galatea::SourceMap;
using galatea::api::guard;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

galatea_error* create(galatea_engine* engine, const std::string& file, std::optional<std::string> text,
                      const galatea_program_options* given, galatea_program** out) {
  const galatea_program_options defaults;
  const galatea_program_options& options = given ? *given : defaults;
  auto result = std::make_unique<galatea_program>();
  result->library = engine->library;
  result->maker = std::make_shared<galatea::api::ProgramMaker>(engine->library, file, std::move(text),
                                                               options.frontend, options.code);
  SourceMap& sources = result->sources;
  auto made = result->maker->make({}, sources);
  if (!made) return make_api_error(made.error(), sources);
  result->program = std::move(made->program);
  result->late = std::move(made->late);
  for (const Diagnostic& diagnostic : made->diagnostics)
    result->warnings_text += render_text(diagnostic, sources);
  result->warnings_json = render_json(made->diagnostics, sources);
  *out = result.release();
  return nullptr;
}

void fill_port(galatea_port& port, const std::string& name, galatea::DType dtype, int ndim,
               const std::string& layout, const std::vector<int64_t>& extents) {
  port = galatea_port{};
  port.name = name.c_str();
  port.dtype = static_cast<galatea_dtype>(dtype);
  port.ndim = ndim;
  port.layout = layout.c_str();
  for (int d = 0; d < ndim; ++d)
    port.extents[d] = static_cast<size_t>(d) < extents.size() ? extents[static_cast<size_t>(d)] : -1;
}

void fill_port(galatea_port& port, const galatea::Port& from) {
  fill_port(port, from.name, from.dtype(), from.rank(), from.layout_text(), from.numbers());
}

void fill_late_port(galatea_port& port, const galatea::dsl::LatePipeline::Input& input) {
  if (input.type) {
    fill_port(port, input.name, input.type->dtype, input.type->ndim, input.type->layout.str(), {});
    return;
  }
  port = galatea_port{};
  port.name = input.name.c_str();
  port.dtype = GALATEA_NO_DTYPE;
  port.ndim = -1;
  port.layout = "";
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
  return program->program ? program->program->name.c_str() : program->late->name.c_str();
}
uint64_t galatea_program_seed(const galatea_program* program) {
  return program->program ? program->program->seed : static_cast<uint64_t>(program->late->options.seed);
}
int32_t galatea_program_batch_size(const galatea_program* program) {
  return program->program ? program->program->batch_size : program->late->options.batch_size;
}
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
  return program->program ? static_cast<int32_t>(program->program->outputs.size()) : -1;
}

galatea_error* galatea_program_get_output(const galatea_program* program, int32_t index, galatea_port* port) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    if (!program->program) return misuse("the outputs are known when every input was fed; see the batches");
    const auto& outputs = program->program->outputs;
    if (index < 0 || static_cast<size_t>(index) >= outputs.size())
      return misuse(fmt::format("output {} does not exist; there are {}", index, outputs.size()));
    const auto& output = outputs[static_cast<size_t>(index)];
    fill_port(*port, output.port);
    return nullptr;
  });
}

int32_t galatea_program_num_inputs(const galatea_program* program) {
  return static_cast<int32_t>(program->program ? program->program->external_inputs.size()
                                               : program->late->inputs.size());
}

galatea_error* galatea_program_get_input(const galatea_program* program, int32_t index, galatea_port* port) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    const int32_t count = galatea_program_num_inputs(program);
    if (index < 0 || index >= count)
      return misuse(fmt::format("external input {} does not exist; there are {}", index, count));
    const auto at = static_cast<size_t>(index);
    if (!program->program) {
      fill_late_port(*port, program->late->inputs[at]);
      return nullptr;
    }
    const auto& input = program->program->external_inputs[at];
    fill_port(*port, input.port);
    return nullptr;
  });
}

}  // extern "C"
