// galatea version: what this build is and what it finds here.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>

#include <fmt/core.h>

#include "compiler/codegen/build_id.h"
#include "compiler/codegen/code_module.h"
#include "compiler/codegen/cuda/device_linker.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/target.h"
#include "runtime/cuda/driver.h"
#include "stdlib_ops/native/cufile/cufile.h"
#include "stdlib_ops/native/nvjpeg/nvjpeg.h"
#include "stdlib_ops/native/video/film_module.h"
#include "tools/command.h"

namespace galatea::tools {
namespace {

/// "CUDA 12.8 (libcuda.so.1)" and a line for each device; or why there is none.
std::string cuda_driver() {
  auto found = runtime::cuda::Driver::open();
  if (!found) return found.error().message();
  const runtime::cuda::Driver& driver = **found;
  std::string text = fmt::format("CUDA {} ({})", driver.version_text(), driver.path());
  if (driver.devices().empty()) return text + ", no device";
  for (const runtime::cuda::Device& device : driver.devices())
    text += fmt::format("\nGPU {:<8} {}, sm_{}, {} multiprocessors, {:.1f} GiB", device.index, device.name,
                        device.architecture, device.num_processors,
                        static_cast<double>(device.memory_bytes) / (1 << 30));
  return text;
}

/// The newest CUDA that the driver takes; 0: there is no driver.
int newest_cuda() {
  const auto driver = runtime::cuda::Driver::open();
  return driver ? (*driver)->major_version() : 0;
}

/// "13.0 (libnvrtc.so.13)", or why it is not used.
std::string nvrtc() {
  auto found = codegen::Nvrtc::open(newest_cuda());
  if (!found)
    return found.error().diagnostics.front().code == "G0567" ? "not found" : found.error().message();
  return fmt::format("{}.{} ({})", (*found)->major_version(), (*found)->minor_version(), (*found)->path());
}

/// "13.0 (libnvJitLink.so.13)", or what its absence means.
std::string nvjitlink() {
  auto nvrtc = codegen::Nvrtc::open(newest_cuda());
  if (!nvrtc) return "not looked for";
  auto found = codegen::DeviceLinker::open((*nvrtc)->major_version(), (*nvrtc)->minor_version());
  if (!found)
    return found.error().diagnostics.front().message +
           "; the kernels of a launch are compiled as one text, which takes longer";
  return fmt::format("{}.{} ({})", (*found)->major_version(), (*found)->minor_version(), (*found)->path());
}

/// "12.4 (libnvjpeg.so.12)", or why it is not used.
std::string nvjpeg() {
  auto found = native::Nvjpeg::open(newest_cuda());
  if (!found)
    return found.error().diagnostics.front().code == "G0970" ? "not found" : found.error().message();
  return fmt::format("{} ({})", (*found)->version_text(), (*found)->path());
}

/// "1.14 (libcufile.so.0)", or why it is not used.
std::string cufile() {
  const auto found = native::Cufile::open(true);
  if (!found)
    return found.error().diagnostics.front().code == "G0961" ? "not found" : found.error().message();
  return fmt::format("{} ({})", (*found)->version_text(), (*found)->path());
}

/// "LLVM 19.1.7 (/usr/lib/galatea/libgalatea_codegen_llvm.so)".
std::string code_generator() {
  auto found = codegen::CodeModule::open();
  if (!found) return found.error().message();
  return fmt::format("{} ({})", (*found)->generator(), (*found)->path());
}

std::string program_cache() {
  const codegen::CacheOptions options = codegen::default_cache_options();
  if (!options.enabled) return "off";
  return fmt::format("{}, at most {:.0f} MiB", options.folder.string(),
                     static_cast<double>(options.max_bytes) / (1 << 20));
}

std::string this_machine() {
  auto target = codegen::host_target();
  return target ? target->name() : "neither x86-64-v3 nor AArch64, kernels are interpreted";
}

int print_version(Reporter& reporter) {
  const int webp = WebPGetDecoderVersion();
  std::string text = fmt::format("galatea {} (build {})\n", GALATEA_VERSION, codegen::build_id());
  text += fmt::format("generator    {}\n", code_generator());
  text += fmt::format("cache        {}\n", program_cache());
  text += fmt::format("targets      x86-64-v3, x86-64-v4, x86-64-v4-vnni, aarch64; this machine: {}\n",
                      this_machine());
  text += fmt::format("codecs       libjpeg {} (turbo API {}), libpng {}, libwebp {}.{}.{}, BMP\n",
                      JPEG_LIB_VERSION, LIBJPEG_TURBO_VERSION_NUMBER, PNG_LIBPNG_VER_STRING, webp >> 16,
                      webp >> 8 & 255, webp & 255);
  text += fmt::format("films        {}\n", native::video::module_text());
  text += fmt::format("CUDA driver  {}\n", cuda_driver());
  text += fmt::format("NVRTC        {}\n", nvrtc());
  text += fmt::format("nvJitLink    {}\n", nvjitlink());
  text += fmt::format("nvJPEG       {}\n", nvjpeg());
  text += fmt::format("cuFile       {}\n", cufile());
  reporter.print(text);
  return kFine;
}

}  // namespace

Command add_version(CLI::App& parent) {
  CLI::App* app =
      add_subcommand(parent, "version", "Version, LLVM, targets, codecs, and the CUDA libraries found");
  return {app, print_version};
}

}  // namespace galatea::tools
