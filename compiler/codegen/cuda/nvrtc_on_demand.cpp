// What the cache remembers of NVRTC: three lines, its file, the file's size and time, its version.
#include "compiler/codegen/cuda/nvrtc_on_demand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cstdio>

namespace galatea::codegen {

namespace {

/// Other settings, and other drivers, find another library.
std::string key_of_memory(int newest_major) {
  return fmt::format("nvrtc to {} among {}", newest_major, fmt::join(Nvrtc::candidates(), ":"));
}

/// What tells one file from another under its name; empty where there is none.
std::string state_of(const std::string& file) {
  struct stat status = {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

Result<NvrtcOnDemand> NvrtcOnDemand::find(KernelCache& cache, int newest_major) {
  if (const auto kept = cache.find(key_of_memory(newest_major))) {
    const std::string& text = kept->bytes;
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    int major = 0, minor = 0;
    if (second != std::string::npos && std::sscanf(text.c_str() + second, "%d.%d", &major, &minor) == 2) {
      const std::string state = state_of(text.substr(0, first));
      if (!state.empty() && state == text.substr(first + 1, second - first - 1))
        return NvrtcOnDemand(major, minor, newest_major);
    }
  }
  GALATEA_ASSIGN(std::shared_ptr<const Nvrtc> nvrtc, Nvrtc::open(newest_major));
  NvrtcOnDemand out(std::move(nvrtc));
  out.newest_major_ = newest_major;
  out.remember(cache);
  return out;
}

Status NvrtcOnDemand::open(KernelCache& cache) {
  if (nvrtc_) return {};
  GALATEA_ASSIGN(nvrtc_, Nvrtc::open(newest_major_));
  if (nvrtc_->major_version() == major_ && nvrtc_->minor_version() == minor_) return {};
  major_ = nvrtc_->major_version();
  minor_ = nvrtc_->minor_version();
  remember(cache);
  return {};
}

void NvrtcOnDemand::remember(KernelCache& cache) const {
  const std::string file = nvrtc_->file(), state = state_of(file);
  if (state.empty()) return;
  cache.store(key_of_memory(newest_major_), {fmt::format("{}\n{}\n{}.{}\n", file, state, major_, minor_), 0});
}

}  // namespace galatea::codegen
