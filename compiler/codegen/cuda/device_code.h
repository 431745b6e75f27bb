// Kernels as code of a device.
//
// Comes in: loops lowered for a GPU, an architecture. Goes out: cubins and what a launch has to know, from
// the program cache where they are kept, else by NVRTC, several at a time. Texts are compiled without the
// names of kernels and their parts, so that equal kernels are one entry, as they are on the CPU.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "compiler/codegen/kernel_cache.h"

namespace galatea::codegen {

/// The name of the function in every cubin.
inline constexpr const char* kDeviceFunction = runtime::kDeviceFunction;

struct DeviceCode {
  std::shared_ptr<const std::string> cubin;  ///< one object for equal kernels
  int inputs = 0;                            ///< tensors of a call that are read; outputs follow
  bool can_be_tiled = false, may_fail = false;
  bool from_cache = false;  ///< of the disk, or of an earlier kernel of this compiler
  double seconds = 0;
  bool shares_phases = false;  ///< blocks that share a call wait for each other by its counters
};

/// What a launch has to know of a kernel; the cubin is null.
std::shared_ptr<const runtime::DeviceKernel> describe_device_kernel(const kernel::Kernel& kernel,
                                                                    const kernel::LoopKernel& loops);

/// The code of a launch: one cubin for all of its kernels, which calls name by their opcodes, their places.
struct DeviceLaunchCode {
  std::shared_ptr<const std::string> cubin;
  bool from_cache = false;
  double seconds = 0;
};

class DeviceCompiler {
 public:
  DeviceCompiler(std::shared_ptr<const Nvrtc> nvrtc, int architecture, CacheOptions cache)
      : nvrtc_(std::move(nvrtc)), architecture_(architecture), cache_(std::move(cache)) {}

  /// The code of all, in order. A text that NVRTC refuses is an internal error; it is saved, and the error
  /// says where.
  Result<std::vector<DeviceCode>> compile(std::span<const KernelJob> jobs);
  /// The code of launches, in order, each of one or several kernels.
  Result<std::vector<DeviceLaunchCode>> compile(std::span<const std::vector<KernelJob>> launches);
  /// What the user should know about the cache; each line is given once.
  std::vector<std::string> take_notes();

 private:
  struct Wanted;
  std::string key_of(const std::string& text) const;
  Status find_or_make(std::vector<Wanted>& wanted);
  Status make(Wanted& wanted) const;
  void save_refused(const Wanted& wanted, Error& error) const;

  std::shared_ptr<const Nvrtc> nvrtc_;
  int architecture_;
  std::mutex mutex_;
  KernelCache cache_;
  std::map<std::string, std::shared_ptr<const std::string>> known_;  ///< by key
};

}  // namespace galatea::codegen
