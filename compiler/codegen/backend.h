// Backends: how a canonical kernel becomes something that runs.
//
// Comes in: a kernel after the kernel passes. Goes out: KernelCode for the program. All backends agree bit
// for bit.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "compiler/kernel/kernel.h"
#include "compiler/kernel/schedule.h"
#include "runtime/program.h"

namespace galatea::codegen {

struct CompiledKernel {
  std::shared_ptr<const runtime::KernelCode> code;
  bool from_cache = false;
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  /// "llvm", "interpreter", "cuda-shim".
  virtual std::string name() const = 0;
  /// What the schedule should plan for.
  virtual kernel::ScheduleOptions schedule_options() const = 0;
  /// `loops` was lowered from `kernel` under schedule_options(). Thread-safe.
  virtual Result<CompiledKernel> compile(const kernel::Kernel& kernel, const kernel::LoopKernel& loops) = 0;
};

/// Runs loops in the loop interpreter; `stages` = true: the stage interpreter, the judge of all.
std::unique_ptr<KernelBackend> make_interpreter_backend(bool stages = false);

}  // namespace galatea::codegen
