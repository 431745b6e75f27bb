// Compiling: the language, the checks that need no data, the compiler.
#include <algorithm>

#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/sized.h"
#include "base/dtype.h"
#include "base/port_json.h"

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
  {
    // A thread that registers something right now is waited for.
    const std::lock_guard lock(engine->library->registering);
    engine->library->is_in_use = true;
  }
  result->library = engine->library;
  result->maker = std::make_shared<galatea::api::ProgramMaker>(engine->library, file, std::move(text),
                                                               options.frontend, options.code, options.look);
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

/// What the machine refuses is told with the file's name.
galatea_error* create_named(galatea_engine* engine, const std::string& file, std::optional<std::string> text,
                            const galatea_program_options* given, galatea_program** out) {
  try {
    return create(engine, file, std::move(text), given, out);
  } catch (...) {
    return galatea::api::error_in_call("while `" + file + "` was compiled");
  }
}

galatea_port port_of(const std::string& name, galatea::DType dtype, int ndim, const std::string& layout) {
  galatea_port port{};
  port.name = name.c_str();
  port.dtype = static_cast<galatea_dtype>(dtype);
  port.ndim = ndim;
  port.layout = layout.c_str();
  std::fill_n(port.extents, ndim, -1);
  return port;
}

galatea_port port_of(const galatea::Port& from) {
  galatea_port port = port_of(from.name, from.dtype(), from.rank(), from.layout_text());
  const std::vector<int64_t> extents = from.numbers();
  std::copy(extents.begin(), extents.end(), port.extents);
  return port;
}

galatea_port output_port(const galatea_program& program, size_t index) {
  const galatea::runtime::OutputSpec& output = program.program->outputs[index];
  galatea_port port = port_of(output.port);
  port.device_type = output.on_device ? GALATEA_CUDA : GALATEA_HOST;
  port.device = output.on_device ? std::max(program.program->device, 0) : 0;
  return port;
}

galatea_port input_port(const galatea_program& program, size_t index) {
  if (program.program) return port_of(program.program->external_inputs[index].port);
  const auto& input = program.late->inputs[index];
  if (input.type) return port_of(input.name, input.type->dtype, input.type->ndim, input.type->layout.str());
  galatea_port port{};
  port.name = input.name.c_str();
  port.dtype = GALATEA_NO_DTYPE;
  port.ndim = -1;
  port.layout = "";
  return port;
}

/// `port` may be a host's that is older or newer than this library.
galatea_error* give_port(const galatea_port& port, galatea_port* out, size_t size) {
  if (galatea_error* error =
          galatea::api::check_struct_size("galatea_port", size, galatea::api::kFirstPortSize))
    return error;
  galatea::api::write_struct(port, out, size);
  return nullptr;
}

/// The external inputs; one whose type only the data tells accepts any.
std::vector<galatea::Port> input_ports(const galatea::runtime::Program* program,
                                       const galatea::dsl::LatePipeline* late) {
  std::vector<galatea::Port> ports;
  if (program) {
    for (const auto& input : program->external_inputs) ports.push_back(input.port);
    return ports;
  }
  for (const auto& input : late->inputs) {
    galatea::Port port;
    if (input.type) port = make_port("", input.type->dtype, input.type->ndim, input.type->layout);
    port.name = input.name;
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace

std::string galatea::api::ports_json(const galatea::runtime::Program* program,
                                     const galatea::dsl::LatePipeline* late) {
  auto inputs = nlohmann::ordered_json::array();
  for (const galatea::Port& port : input_ports(program, late)) inputs.push_back(port_json(port));
  nlohmann::ordered_json json = {{"name", program ? program->name : late->name},
                                 {"batch_size", program ? program->batch_size : late->options.batch_size},
                                 {"inputs", std::move(inputs)},
                                 {"outputs", nullptr}};
  if (!program) return galatea::json_text(json);
  json["outputs"] = nlohmann::ordered_json::array();
  for (const auto& output : program->outputs) {
    nlohmann::ordered_json port = port_json(output.port);
    port["device"] = output.on_device ? "gpu" : "cpu";
    json["outputs"].push_back(std::move(port));
  }
  return galatea::json_text(json);
}

extern "C" {

galatea_error* galatea_program_create_from_file(galatea_engine* engine, const char* path,
                                                const galatea_program_options* options,
                                                galatea_program** program) {
  if (program) *program = nullptr;
  return guard([&]() -> galatea_error* {
    if (!engine || !path || !program) return misuse("engine, path or program is NULL");
    return create_named(engine, path, std::nullopt, options, program);
  });
}

galatea_error* galatea_program_create_from_text(galatea_engine* engine, const char* file_name,
                                                const char* text, const galatea_program_options* options,
                                                galatea_program** program) {
  if (program) *program = nullptr;
  return guard([&]() -> galatea_error* {
    if (!engine || !file_name || !text || !program)
      return misuse("engine, file_name, text or program is NULL");
    return create_named(engine, file_name, std::string(text), options, program);
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

galatea_error* galatea_program_get_output_sized(const galatea_program* program, int32_t index,
                                                galatea_port* port, size_t port_size) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    if (!program->program) return misuse("the outputs are known when every input was fed; see the batches");
    const auto count = program->program->outputs.size();
    if (index < 0 || static_cast<size_t>(index) >= count)
      return misuse(fmt::format("output {} does not exist; there are {}", index, count));
    return give_port(output_port(*program, static_cast<size_t>(index)), port, port_size);
  });
}

galatea_error*(galatea_program_get_output)(const galatea_program* program, int32_t index,
                                           galatea_port* port) {
  return galatea_program_get_output_sized(program, index, port, galatea::api::kFirstPortSize);
}

int32_t galatea_program_num_inputs(const galatea_program* program) {
  return static_cast<int32_t>(program->program ? program->program->external_inputs.size()
                                               : program->late->inputs.size());
}

galatea_error* galatea_program_get_input_sized(const galatea_program* program, int32_t index,
                                               galatea_port* port, size_t port_size) {
  return guard([&]() -> galatea_error* {
    if (!program || !port) return misuse("program or port is NULL");
    const int32_t count = galatea_program_num_inputs(program);
    if (index < 0 || index >= count)
      return misuse(fmt::format("external input {} does not exist; there are {}", index, count));
    return give_port(input_port(*program, static_cast<size_t>(index)), port, port_size);
  });
}

galatea_error*(galatea_program_get_input)(const galatea_program* program, int32_t index, galatea_port* port) {
  return galatea_program_get_input_sized(program, index, port, galatea::api::kFirstPortSize);
}

galatea_error* galatea_program_ports_json_take(const galatea_program* program, char** json) {
  if (json) *json = nullptr;
  return guard([&]() -> galatea_error* {
    if (!program || !json) return misuse("program or json is NULL");
    const auto* late = program->late ? &*program->late : nullptr;
    return galatea::api::take_string(galatea::api::ports_json(program->program.get(), late), json);
  });
}

}  // extern "C"
