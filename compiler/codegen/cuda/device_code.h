// Kernels as code of a device.
//
// Comes in: kernels, loops lowered for a GPU, an architecture. Goes out: cubins and what a launch has to
// know, from the program cache where they are kept, else by NVRTC, several at a time. Both are found by the
// forms of kernels, as on the CPU: a kernel whose launches are all kept needs neither loops nor a text. Texts
// are compiled without the names of kernels and their parts. The arms of a launch are compiled apart and
// linked, so that they too are an entry each, by its text, which every policy that has the arm shares;
// without nvJitLink they are one text.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/device_kernel_text.h"
#include "compiler/codegen/cuda/device_linker.h"
#include "compiler/codegen/cuda/nvrtc_on_demand.h"
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
  bool shares_phases = false;     ///< blocks that share a call wait for each other by its counters
  std::vector<int32_t> divisors;  ///< runtime::DeviceKernel's
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

/// How the kernels of one launch become one cubin. Results and cubins do not tell which it was.
enum class ArmForm : uint8_t {
  kApart,  ///< compiled apart, side by side, where nvJitLink is found; else together
  kTogether
};

/// Makes the loops of these launches' kernels, which are numbers of what compile() was given.
using LowerLaunches = std::function<void(std::span<const size_t> launches)>;

class DeviceCompiler {
 public:
  DeviceCompiler(NvrtcOnDemand nvrtc, int architecture, CacheOptions cache, ArmForm form = ArmForm::kApart)
      : nvrtc_(std::move(nvrtc)), architecture_(architecture), form_(form), cache_(std::move(cache)) {}

  /// What is known of kernels, in order, without their loops; `options`: what they would be scheduled by.
  std::vector<DeviceKernelFacts> find(std::span<const kernel::Kernel* const> kernels,
                                      const kernel::ScheduleOptions& options);
  /// Keeps what was seen of loops of kernels that were not found; facts in the order of the kernels.
  void keep(std::span<const kernel::Kernel* const> kernels, const kernel::ScheduleOptions& options,
            std::span<const DeviceKernelFacts> facts);
  /// The code of all, in order. A text that NVRTC refuses is an internal error; it is saved, and the error
  /// says where.
  Result<std::vector<DeviceCode>> compile(std::span<const KernelJob> jobs);
  /// The code of launches, in order, each of one or several kernels. What cannot be linked is compiled as one
  /// text, and a note says so. Launches whose jobs all have options are found by the forms of their kernels;
  /// `lower`, if there is one, is called before loops are looked at, once or, where NVRTC turns out to be
  /// another than was remembered, once more.
  Result<std::vector<DeviceLaunchCode>> compile(std::span<const std::vector<KernelJob>> launches,
                                                const LowerLaunches& lower = {});
  /// The code of a kernel of the user's own, by its text. One that NVRTC refuses is an internal error with
  /// its log, and the caller's to word.
  Result<DeviceLaunchCode> compile_text(const std::string& text, const std::string& name);
  /// Whether a text had to be compiled, or NVRTC was open already.
  bool has_opened_nvrtc() const { return nvrtc_.is_open(); }
  /// What the user should know about the cache and the linker; each line is given once.
  std::vector<std::string> take_notes();

 private:
  struct Text;
  struct Wanted;
  class Pieces;
  std::string head(const char* what) const;
  std::string key_of(const Text& text) const;
  std::string key_of(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options) const;
  std::string key_of(const std::vector<KernelJob>& launch) const;
  Result<std::vector<DeviceLaunchCode>> find_or_make(std::span<const std::vector<KernelJob>> launches,
                                                     const LowerLaunches& lower);
  Wanted wanted_for(const std::vector<KernelJob>& launch) const;
  void keep(const Wanted& wanted);
  std::shared_ptr<const std::string> find(const std::string& key);
  bool find(Text& text);
  Status make(Text& text) const;
  Status make_all(std::vector<Wanted*>& missing);
  Status link(Wanted& wanted, const Pieces& pieces, std::string* note) const;
  const DeviceLinker* linker();

  NvrtcOnDemand nvrtc_;
  int architecture_;
  ArmForm form_;
  std::mutex mutex_;
  KernelCache cache_;
  bool looked_for_linker_ = false;
  std::shared_ptr<const DeviceLinker> linker_;
  std::vector<std::string> notes_;
  std::map<std::string, std::shared_ptr<const std::string>> known_;  ///< code by key
  std::map<std::string, DeviceKernelFacts> known_kernels_;           ///< by key
};

}  // namespace galatea::codegen
