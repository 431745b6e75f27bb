#include "runtime/loaded_program.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "runtime/messages.h"

namespace galatea::runtime {
namespace {

Category category_of(const std::string& name) {
  if (name == "read") return Category::kRead;
  return name == "decode" ? Category::kDecode : Category::kCompute;
}

/// Whether a program that was made for these ports can take what is declared now: a plug-in may have changed
/// since.
Status check_ports(const std::string& who, std::string_view word, const std::vector<Port>& wanted,
                   const std::vector<Port>& declared) {
  if (declared.empty()) return {};
  if (wanted.size() != declared.size())
    return make_error(message::kOtherPorts, who,
                      fmt::format("{} {}s, not {}", declared.size(), word, wanted.size()));
  for (size_t k = 0; k < wanted.size(); ++k)
    if (!accepts(declared[k], wanted[k].dtype(), wanted[k].numbers()))
      return make_error(message::kOtherPorts, who,
                        fmt::format("{} as {}, not {}", port_text(word, k, declared[k].name),
                                    to_text(declared[k]), to_text(wanted[k])));
  return {};
}

/// Location of the first instruction with this opcode and operand `a` (or `b` for reads).
int32_t location_of(const Program& program, Opcode op, int32_t number) {
  for (const Instruction& instruction : program.code) {
    if (instruction.op == op && (op == Opcode::kRead ? instruction.b : instruction.a) == number)
      return instruction.location;
  }
  return -1;
}

uint32_t line_of(const Program& program, int32_t location) {
  return location < 0 ? 0 : program.locations[static_cast<size_t>(location)].line;
}

std::string operator_at(const Program& program, int32_t location, const std::string& otherwise) {
  if (location < 0 || program.locations[static_cast<size_t>(location)].op.empty()) return otherwise;
  return program.locations[static_cast<size_t>(location)].op;
}

Status open_sources(LoadedProgram& loaded, const NativeTable& natives, const SessionShard& shard) {
  const Program& program = *loaded.program;
  for (size_t i = 0; i < program.sources.size(); ++i) {
    const SourceSpec& spec = program.sources[i];
    LoadedProgram::Source source;
    source.name = spec.name.empty() ? spec.factory : spec.name;
    auto is_taken = [&](const std::string& name) {
      return std::any_of(loaded.sources.begin(), loaded.sources.end(),
                         [&](const auto& other) { return other.name == name; });
    };
    for (int suffix = 1; is_taken(source.name); ++suffix)
      source.name = fmt::format("{}_{}", spec.name.empty() ? spec.factory : spec.name, suffix);
    auto with_place = [&](Error error) {
      return std::unexpected(loaded.located(std::move(error), spec.location));
    };
    const SourceFactory* factory = natives.find_source(spec.factory);
    if (!factory) return make_error(message::kMissingNative, "reader", spec.factory);
    auto options = parse_reader_options(spec.config, program.seed, source.name);
    if (!options) return with_place(std::move(options.error()));
    source.options = *options;
    take_part(source.options, shard);
    if (auto status =
            check_ports(fmt::format("reader '{}'", source.name), "output", spec.outputs, factory->outputs);
        !status)
      return with_place(std::move(status.error()));
    source.ports = DeliveryPorts(spec.outputs);
    auto opened = factory->open(spec.config);
    if (!opened) return with_place(std::move(opened.error()));
    source.samples = std::move(*opened);
    if (auto status = check_reader(source.options, source.samples->size(), source.name); !status)
      return with_place(std::move(status.error()));
    int32_t location =
        spec.location >= 0 ? spec.location : location_of(program, Opcode::kRead, static_cast<int32_t>(i));
    loaded.sites.push_back({operator_at(program, location, spec.factory), line_of(program, location),
                            Category::kRead, "read", "read"});
    loaded.sources.push_back(std::move(source));
  }
  return {};
}

Result<int32_t> find_alternative(LoadedProgram& loaded, const NativeTable& natives, const std::string& name) {
  auto& all = loaded.alternatives;
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const auto& factory) { return factory.name == name; });
  const auto number = static_cast<int32_t>(known - all.begin());
  if (known != all.end()) return number;
  const DeviceAlternativeFactory* factory = natives.find_alternative(name);
  if (!factory) return make_error(message::kMissingNative, "alternative on a device", name);
  all.push_back(*factory);
  return number;
}

Status prepare_natives(LoadedProgram& loaded, const NativeTable& natives) {
  const Program& program = *loaded.program;
  for (size_t i = 0; i < program.natives.size(); ++i) {
    const NativeCallSpec& spec = program.natives[i];
    const NativeFunction* function = natives.find_function(spec.function);
    if (!function) return make_error(message::kMissingNative, "native function", spec.function);
    int32_t location = location_of(program, Opcode::kCallNative, static_cast<int32_t>(i));
    LoadedProgram::Native native{*function, nullptr, {}, -1};
    if (!spec.alternative.empty()) {
      GALATEA_ASSIGN(native.alternative, find_alternative(loaded, natives, spec.alternative));
    }
    const std::string who = fmt::format("native function '{}'", spec.function);
    Status status =
        function->inputs.empty() || function->inputs.size() == spec.inputs.size()
            ? Status{}
            : make_error(message::kOtherPorts, who,
                         fmt::format("{} inputs, not {}", function->inputs.size(), spec.inputs.size()));
    if (spec.allocates) {
      native.ports = DeliveryPorts({spec.port});
      if (status) status = check_ports(who, "output", {spec.port}, function->outputs);
    }
    if (!status) return std::unexpected(loaded.located(std::move(status.error()), location));
    if (function->prepare) {
      auto state = function->prepare(spec.config);
      if (!state) return std::unexpected(loaded.located(std::move(state.error()), location));
      native.state = std::move(*state);
    }
    loaded.sites.push_back({operator_at(program, location, spec.function), line_of(program, location),
                            category_of(function->category), function->category,
                            function->category == "compute" ? "native" : function->category});
    loaded.natives.push_back(std::move(native));
  }
  return {};
}

void name_kernels(LoadedProgram& loaded) {
  const Program& program = *loaded.program;
  for (size_t i = 0; i < program.kernel_calls.size(); ++i) {
    const ProgramKernel& kernel = program.kernels[static_cast<size_t>(program.kernel_calls[i].kernel)];
    int32_t location = location_of(program, Opcode::kCallKernel, static_cast<int32_t>(i));
    std::string name = kernel.operators.empty() ? operator_at(program, location, kernel.name)
                                                : fmt::format("{}", fmt::join(kernel.operators, "+"));
    loaded.sites.push_back(
        {std::move(name), line_of(program, location), Category::kCompute, "compute", "kernel"});
  }
}

}  // namespace

Error LoadedProgram::flag_error(uint32_t flags, int32_t location) const {
  if ((flags & kFlagDivisionByZero) == 0)
    return located(make_error(message::kBadProgram, "a kernel raised a flag that nobody knows").error(),
                   location);
  for (const Instruction& i : program->code) {
    if (i.op != Opcode::kCallKernel || i.location != location) continue;
    const KernelCallSpec& call = program->kernel_calls[static_cast<size_t>(i.a)];
    // The number stays on the device.
    if (call.arms > 0)
      return located(make_error(message::kBadSelector, "negative or too large", call.arms).error(), location);
    return division_error(call, location);
  }
  return located(make_error(message::kDivisionByZero).error(), location);
}

Error LoadedProgram::division_error(const KernelCallSpec& call, int32_t location) const {
  Error error = located(make_error(message::kDivisionByZero).error(),
                        call.divisions.empty() ? location : call.divisions.front());
  for (size_t k = 1; k < call.divisions.size(); ++k) {
    const Location& other = program->locations[static_cast<size_t>(call.divisions[k])];
    error.diagnostics.front().notes.push_back(
        fmt::format("or in {} at line {}: they are one kernel, which tells no more", other.op, other.line));
  }
  return error;
}

Error LoadedProgram::located(Error error, int32_t location) const {
  if (location < 0 || error.diagnostics.empty()) return error;
  Diagnostic& first = error.diagnostics.front();
  // What has a place already knows better.
  if (first.span.valid()) return error;
  const Location& place = program->locations[static_cast<size_t>(location)];
  const LocationSpans& here = spans[static_cast<size_t>(location)];
  first.span = here.span;
  if (first.calls.empty()) first.calls = here.calls;
  if (first.span_text.empty() && !place.op.empty()) first.span_text = "in " + place.op;
  return error;
}

Result<std::shared_ptr<const LoadedProgram>> load_program(std::shared_ptr<const Program> program,
                                                          const NativeTable& natives, SourceMap* sources,
                                                          const SessionShard& shard) {
  GALATEA_TRY(verify(*program));
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->source_map = sources ? sources : &loaded->own_sources;
  loaded->spans = location_spans(*program, sources ? *sources : loaded->own_sources);
  loaded->program = std::move(program);
  GALATEA_TRY(open_sources(*loaded, natives, shard));
  GALATEA_TRY(prepare_natives(*loaded, natives));
  name_kernels(*loaded);
  return std::shared_ptr<const LoadedProgram>(std::move(loaded));
}

}  // namespace galatea::runtime
