// See choose_gpu.h.
#include "compiler/choose_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "runtime/cuda/context.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/memory_pool.h"
#include "runtime/messages.h"

namespace galatea {

using runtime::cuda::Context;
using runtime::cuda::Driver;

namespace {

/// The number behind "gpu:"; 0 where there is none.
std::optional<int> number_of(const std::string& device) {
  if (device == "gpu") return 0;
  if (!device.starts_with("gpu:")) return std::nullopt;
  int number = 0;
  const char* end = device.data() + device.size();
  const auto [at, error] = std::from_chars(device.data() + 4, end, number);
  return error == std::errc() && at == end && number >= 0 ? std::optional(number) : std::nullopt;
}

Result<GpuChoice> open_gpu(int number, GpuPurpose purpose, const codegen::CacheOptions& cache) {
  GALATEA_ASSIGN(const std::shared_ptr<const Driver> driver, Driver::open());
  GALATEA_ASSIGN(const runtime::cuda::Device device, driver->device(number));
  GpuChoice out;
  out.target = GpuTarget{.number = number};
  if (purpose == GpuPurpose::kLook) return out;
  codegen::KernelCache kept(cache);
  GALATEA_ASSIGN(codegen::NvrtcOnDemand nvrtc, codegen::NvrtcOnDemand::find(kept, driver->major_version()));
  out.compiler = std::make_shared<codegen::DeviceCompiler>(std::move(nvrtc), device.architecture, cache);
  out.target->compiler = out.compiler.get();
  return out;
}

constexpr const char* kStaysOnCpu = "a GPU is here, and the pipeline runs on the CPU: ";

/// A batch of photographs of one megapixel takes more.
constexpr int64_t kLeastMemory = int64_t{64} << 20;

/// The context of a device that has room for work.
Result<std::shared_ptr<const Context>> open_context(int number) {
  GALATEA_ASSIGN(auto driver, Driver::shared());
  GALATEA_ASSIGN(auto context, Context::open(std::move(driver), number));
  GALATEA_ASSIGN(auto stream, runtime::cuda::Stream::create(context));
  const auto pool = runtime::cuda::MemoryPool::make(context, runtime::cuda::MemoryKind::kDevice);
  GALATEA_TRY(pool->acquire(kLeastMemory, std::move(stream)));
  return context;
}

}  // namespace

std::string why_no_device_name(const std::string& device) {
  if (device == "auto" || device == "cpu" || number_of(device)) return {};
  const bool is_number = device.starts_with("gpu:") && device.size() > 4 &&
                         device.find_first_not_of("0123456789", 4) == std::string::npos;
  if (!is_number) return fmt::format("`{}` is no device: auto, cpu, gpu or gpu:N", device);
  const auto driver = Driver::open();
  const size_t here = driver ? (*driver)->devices().size() : 0;
  return fmt::format("`{}`: the number is too large: GPUs are numbered from 0, and {}", device,
                     here > 0
                         ? fmt::format("{} can be used here: name one, such as gpu:0", here)
                         : "none is found here: auto or cpu runs without one (`galatea version` says why)");
}

Result<GpuChoice> choose_gpu(const std::string& device, GpuPurpose purpose,
                             const codegen::CacheOptions& cache) {
  if (device == "cpu") return GpuChoice{};
  if (const std::optional<int> number = number_of(device)) {
    if (purpose == GpuPurpose::kRun) return open_gpu(*number, purpose, cache);
    GpuChoice planned;
    planned.target = GpuTarget{.number = *number};
    return planned;
  }
  Result<GpuChoice> found = open_gpu(0, purpose, cache);
  if (found) return found;
  GpuChoice none;
  const auto driver = Driver::open();
  if (driver && !(*driver)->devices().empty()) none.note = kStaysOnCpu + found.error().message();
  // No driver, or no device: the usual case, of which nobody has to be told.
  if (!driver && driver.error().diagnostics.front().code != runtime::message::kNoCudaDriver.code)
    none.note = "the pipeline runs on the CPU: " + driver.error().message();
  return none;
}

Result<CompiledForChoice> compile_for_choice(const ir::Graph& graph, const SourceMap& sources,
                                             CompileOptions options, bool may_stay_on_cpu,
                                             CompileReport* report) {
  CompiledForChoice out;
  const bool is_to_run = options.gpu && options.gpu->compiler;
  auto program = compile(graph, sources, options, report);
  if (!may_stay_on_cpu || !is_to_run) {
    GALATEA_ASSIGN(out.program, std::move(program));
    return out;
  }
  Status usable;
  if (!program) {
    if (program.error().kind != ErrorKind::kSystem) return std::unexpected(std::move(program.error()));
    usable = std::unexpected(std::move(program.error()));
  } else if ((*program)->device >= 0) {
    auto context = open_context((*program)->device);
    if (context)
      (*program)->device_context = std::move(*context);
    else
      usable = std::unexpected(std::move(context.error()));
  }
  if (usable) {
    out.program = std::move(*program);
    return out;
  }
  options.gpu.reset();
  if (report) *report = CompileReport();
  GALATEA_ASSIGN(out.program, compile(graph, sources, options, report));
  out.note = kStaysOnCpu + usable.error().message();
  return out;
}

std::string note_on_alternatives(const runtime::Program& program, const runtime::NativeTable& natives) {
  std::string note;
  std::set<std::string> told;
  // The plan can be looked at where there is no driver.
  const auto driver = Driver::open();
  for (const runtime::NativeCallSpec& call : program.natives) {
    const runtime::DeviceAlternativeFactory* factory = natives.find_alternative(call.alternative);
    const runtime::NativeFunction* function = natives.find_function(call.function);
    if (!factory || !function || !told.insert(call.alternative).second) continue;
    const bool decodes = function->category == "decode";
    const auto found = factory->find(driver ? (*driver)->major_version() : 0);
    if (!note.empty()) note += "; ";
    note += decodes ? "device=\"mixed\": " : "device=\"gpu\": ";
    if (found)
      note += fmt::format("{} ({}) {} what suits it", (*found)->describe(), (*found)->path(),
                          decodes ? "decodes" : "reads");
    else
      note += (decodes ? "the CPU decodes, since " : "the CPU reads, since ") + found.error().message();
  }
  return note;
}

}  // namespace galatea
