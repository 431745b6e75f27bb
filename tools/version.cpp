// galatea version: what this build is and what it finds here.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>

#include <fmt/core.h>

#include "base/settings.h"
#include "compiler/codegen/build_id.h"
#include "compiler/codegen/code_module.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/kernel_cache.h"
#include "compiler/codegen/target.h"
#include "tools/command.h"

namespace galatea::tools {
namespace {

/// A library opened for as long as one looks at it.
class OpenLibrary {
 public:
  explicit OpenLibrary(const std::vector<std::string>& names) {
    const std::string folder = setting("GALATEA_CUDA_LIBRARY_PATH");
    for (const std::string& name : names) {
      if (!folder.empty()) handle_ = ::dlopen((folder + "/" + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (handle_ == nullptr) handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  }
  ~OpenLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  OpenLibrary(const OpenLibrary&) = delete;
  OpenLibrary& operator=(const OpenLibrary&) = delete;
  template <typename Function>
  Function* find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
};

std::string cuda_driver() {
  OpenLibrary library({"libcuda.so.1"});
  auto* get_version = library.find<int(int*)>("cuDriverGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return "not found";
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

std::string nvrtc() {
  auto found = codegen::Nvrtc::open();
  if (!found) return "not found";
  return fmt::format("{}.{} ({})", (*found)->major_version(), (*found)->minor_version(), (*found)->path());
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
  text += fmt::format("CUDA driver  {}\n", cuda_driver());
  text += fmt::format("NVRTC        {}\n", nvrtc());
  reporter.print(text);
  return kFine;
}

}  // namespace

Command add_version(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("version", "Version, LLVM, targets, codecs, and the CUDA libraries found");
  return {app, print_version};
}

}  // namespace galatea::tools
