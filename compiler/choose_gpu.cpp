// See choose_gpu.h.
#include "compiler/choose_gpu.h"

#include <fmt/format.h>

#include <charconv>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvjpeg.h"
#include "runtime/messages.h"

namespace galatea {

using runtime::cuda::Device;
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
  GALATEA_ASSIGN(const Device device, driver->device(number));
  GpuChoice out;
  out.target = GpuTarget{.number = number};
  if (purpose == GpuPurpose::kLook) return out;
  codegen::KernelCache kept(cache);
  GALATEA_ASSIGN(codegen::NvrtcOnDemand nvrtc, codegen::NvrtcOnDemand::find(kept, driver->major_version()));
  out.compiler = std::make_shared<codegen::DeviceCompiler>(std::move(nvrtc), device.architecture, cache);
  out.target->compiler = out.compiler.get();
  return out;
}

}  // namespace

bool is_device_name(const std::string& device) {
  return device == "auto" || device == "cpu" || number_of(device).has_value();
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
  if (driver && !(*driver)->devices().empty())
    none.note = "a GPU is here, and the pipeline runs on the CPU: " + found.error().message();
  // No driver, or no device: the usual case, of which nobody has to be told.
  if (!driver && driver.error().diagnostics.front().code != runtime::message::kNoCudaDriver.code)
    none.note = "the pipeline runs on the CPU: " + driver.error().message();
  return none;
}

std::string note_on_decoder(const runtime::Program& program) {
  if (!runtime::may_decode_on_device(program)) return {};
  // The plan can be looked at where there is no driver.
  const auto driver = Driver::open();
  const auto found = runtime::cuda::Nvjpeg::open(driver ? (*driver)->major_version() : 0);
  if (found)
    return fmt::format("device=\"mixed\": nvJPEG {} ({}) decodes what suits it", (*found)->version_text(),
                       (*found)->path());
  return "device=\"mixed\": the CPU decodes, since " + found.error().message();
}

}  // namespace galatea
