// Backends: how a canonical kernel becomes something that runs.
//
// Comes in: kernels after the kernel passes. Goes out: KernelCode for the program. All backends agree bit
// for bit.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/kernel/kernel.h"
#include "compiler/kernel/schedule.h"
#include "runtime/program.h"

namespace galatea::codegen {

struct CompiledKernel {
  std::shared_ptr<const runtime::KernelCode> code;
  bool from_cache = false;  ///< of this process or of the disk
  double seconds = 0;       ///< making its code
  bool first_tier = false;  ///< it was made quickly and will be replaced (runtime/code_upgrade.h)
};

/// `loops` was lowered from `kernel` under the backend's schedule_options(), or others for the same machine.
struct KernelJob {
  const kernel::Kernel* kernel = nullptr;
  const kernel::LoopKernel* loops = nullptr;
  /// Those options, if the schedule is what make_schedule() makes for them: then the code is found by the
  /// kernel's form.
  const kernel::ScheduleOptions* options = nullptr;
};

/// What is needed of a kernel's loops once there is code.
struct FoundKernel {
  std::shared_ptr<const runtime::KernelCode> code;  ///< nullptr: not found
  kernel::Expr scratch_bytes;                       ///< over kParam (kernel::layout_scratch)
  double seconds = 0;
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  /// "llvm", "interpreter", "cuda-shim".
  virtual std::string name() const = 0;
  /// What the schedule should plan for.
  virtual kernel::ScheduleOptions schedule_options() const = 0;
  /// Code that there is already, in order: kernels that are found need no schedule and no loops.
  virtual Result<std::vector<FoundKernel>> find(std::span<const kernel::Kernel* const> kernels,
                                                const kernel::ScheduleOptions& options);
  /// The code of all, in order; may use several threads. Jobs with options were not found before.
  virtual Result<std::vector<CompiledKernel>> compile(std::span<const KernelJob> jobs) = 0;
  /// The code of one.
  Result<CompiledKernel> compile(const kernel::Kernel& kernel, const kernel::LoopKernel& loops);
  /// What the user should know about what compile() met; each line is given once.
  virtual std::vector<std::string> take_notes() { return {}; }
};

/// Runs loops in the loop interpreter; `stages` = true: the stage interpreter, the judge of all.
std::unique_ptr<KernelBackend> make_interpreter_backend(bool stages = false,
                                                        const kernel::ScheduleOptions& options = {});

}  // namespace galatea::codegen
