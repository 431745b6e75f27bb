// A backend that runs what NVRTC makes of kernels on PtxMachine, and keeps what each cost.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/nvrtc.h"
#include "tests/ptx/ptx_program.h"

namespace galatea::testing {

/// What the calls of one kernel cost, all together.
struct KernelCost {
  std::string name, text;
  PtxProgram program;
  std::vector<uint64_t> issued;  ///< per instruction: times that a warp was given it
  int64_t elements = 0;          ///< of the first output, or of the largest tensor where blocks share phases
  int64_t blocks = 0;

  /// Machine instructions that warps were given for each element of the output, times the threads of a warp:
  /// what a thread executes where none is idle. By the weights of PtxInstruction.
  double per_element() const;
  /// How many instructions of the program, executed or not, are such loads.
  int loads(PtxSpace space) const;
};

class PtxBackend final : public codegen::KernelBackend {
 public:
  PtxBackend(std::shared_ptr<const codegen::Nvrtc> nvrtc, int architecture);
  ~PtxBackend() override;
  std::string name() const override { return "ptx"; }
  kernel::ScheduleOptions schedule_options() const override { return {.gpu = true}; }
  using KernelBackend::compile;
  Result<std::vector<codegen::CompiledKernel>> compile(std::span<const codegen::KernelJob> jobs) override;
  /// Those that were called, in the order in which they were compiled.
  std::vector<KernelCost> costs() const;
  /// What went wrong in a call; empty: nothing.
  std::string error() const;

 private:
  struct Kernel;
  class Code;
  std::shared_ptr<const codegen::Nvrtc> nvrtc_;
  int architecture_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
};

}  // namespace galatea::testing
