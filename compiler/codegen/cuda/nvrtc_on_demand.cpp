// What the cache remembers of NVRTC: three lines, its file, the file's size and time, its version.
#include "compiler/codegen/cuda/nvrtc_on_demand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cstdio>

namespace galatea::codegen {

namespace {

/// Other settings find another library.
std::string key_of_memory() { return fmt::format("nvrtc among {}", fmt::join(Nvrtc::candidates(), ":")); }

/// What tells one file from another under its name; empty where there is none.
std::string state_of(const std::string& file) {
  struct stat status = {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

Result<NvrtcOnDemand> NvrtcOnDemand::find(KernelCache& cache) {
  if (const auto kept = cache.find(key_of_memory())) {
    const std::string& text = kept->bytes;
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    int major = 0, minor = 0;
    if (second != std::string::npos && std::sscanf(text.c_str() + second, "%d.%d", &major, &minor) == 2) {
      const std::string state = state_of(text.substr(0, first));
      if (!state.empty() && state == text.substr(first + 1, second - first - 1))
        return NvrtcOnDemand(major, minor);
    }
  }
  GALATEA_ASSIGN(std::shared_ptr<const Nvrtc> nvrtc, Nvrtc::open());
  remember(*nvrtc, cache);
  return NvrtcOnDemand(std::move(nvrtc));
}

Status NvrtcOnDemand::open(KernelCache& cache) {
  if (nvrtc_) return {};
  GALATEA_ASSIGN(nvrtc_, Nvrtc::open());
  if (nvrtc_->major_version() == major_ && nvrtc_->minor_version() == minor_) return {};
  major_ = nvrtc_->major_version();
  minor_ = nvrtc_->minor_version();
  remember(*nvrtc_, cache);
  return {};
}

void NvrtcOnDemand::remember(const Nvrtc& nvrtc, KernelCache& cache) {
  const std::string state = state_of(nvrtc.file());
  if (state.empty()) return;
  cache.store(
      key_of_memory(),
      {fmt::format("{}\n{}\n{}.{}\n", nvrtc.file(), state, nvrtc.major_version(), nvrtc.minor_version()), 0});
}

}  // namespace galatea::codegen
