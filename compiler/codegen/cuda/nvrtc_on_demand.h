// NVRTC, opened when the first text has to be compiled.
//
// Comes in: the program cache. Goes out: which version there is, at once; the library, when it is asked for.
// Its hundred megabytes take 10 ms to open, and seconds where they come from the disk: a warm start, whose
// code is all kept, does without. So the cache remembers what was found, together with the file's size and
// time; a file that has changed is opened to be asked.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/kernel_cache.h"

namespace galatea::codegen {

class NvrtcOnDemand {
 public:
  /// As the cache remembers it, else opened. `newest_major`, and the error: of Nvrtc::open().
  static Result<NvrtcOnDemand> find(KernelCache& cache, int newest_major = 0);
  /// One that is open.
  NvrtcOnDemand(std::shared_ptr<const Nvrtc> nvrtc)  // NOLINT(google-explicit-constructor): it is that one
      : major_(nvrtc->major_version()), minor_(nvrtc->minor_version()), nvrtc_(std::move(nvrtc)) {}

  int major_version() const { return major_; }
  int minor_version() const { return minor_; }
  bool is_open() const { return nvrtc_ != nullptr; }
  /// Opens it if it is not open yet. Afterwards the version is what the library says, whatever was
  /// remembered.
  Status open(KernelCache& cache);
  /// Only of an open one.
  const Nvrtc& library() const { return *nvrtc_; }

 private:
  NvrtcOnDemand(int major, int minor, int newest_major)
      : major_(major), minor_(minor), newest_major_(newest_major) {}
  void remember(KernelCache& cache) const;

  int major_, minor_, newest_major_ = 0;
  std::shared_ptr<const Nvrtc> nvrtc_;
};

}  // namespace galatea::codegen
