// A program's kernels on their way to code: found by their forms, else scheduled and lowered.
//
// Comes in: kernels after their passes, each once. Goes out: the code that is kept, or loops to make it from;
// and what a program has to know of the loops either way. Nothing is lowered of what is kept, unless its
// loops are to be shown. A kernel of a GPU has its code with its launch, which is known later: its loops are
// made when the launch's code is found to be missing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "compiler/codegen/backend.h"
#include "compiler/codegen/cuda/device_code.h"
#include "compiler/op/text_kernel.h"

namespace galatea {

struct PendingKernel {
  kernel::Kernel kernel;
  /// In place of `kernel`: a kernel of the user's own, which is neither scheduled nor lowered.
  std::shared_ptr<const op::TextCall> text;
  bool on_gpu = false;
  size_t report = 0;  ///< its place in the report
  kernel::Schedule schedule;
  kernel::LoopKernel loops;
  bool is_lowered = false;
  codegen::FoundKernel found;      ///< of the CPU; without code where that has to be made
  codegen::DeviceKernelFacts gpu;  ///< of the GPU

  /// Both are over parameters; of a kernel of the CPU there are no blocks.
  const kernel::Expr& blocks() const { return gpu.blocks; }
  const kernel::Expr& scratch_bytes() const { return on_gpu ? gpu.scratch_bytes : found.scratch_bytes; }
};

class PendingKernels {
 public:
  struct Options {
    bool fuse = true;
    bool lower_all = false;  ///< loops are to be shown
  };
  /// `device` may be nullptr: kernels of a GPU are planned, and not compiled.
  PendingKernels(codegen::KernelBackend& backend, codegen::DeviceCompiler* device, const Options& options)
      : backend_(backend), device_(device), options_(options) {}

  /// Its number is how many were added before.
  void add(kernel::Kernel kernel, bool on_gpu, size_t report);
  void add(std::shared_ptr<const op::TextCall> text, bool on_gpu, size_t report);
  size_t size() const { return all_.size(); }
  const PendingKernel& operator[](size_t number) const { return all_[number]; }
  /// What make_schedule() and lower() are given.
  kernel::ScheduleOptions schedule_options(bool on_gpu) const;

  /// Of all that were added.
  Status find_or_lower();
  /// Loops of those of these kernels that have none.
  void lower(std::span<const size_t> numbers);
  /// How many of them have loops.
  int num_lowered() const { return num_lowered_; }

 private:
  /// Of the CPU, or of the GPU.
  std::vector<size_t> numbers_of(bool on_gpu) const;
  std::vector<const kernel::Kernel*> kernels_of(std::span<const size_t> numbers) const;
  Status find();

  codegen::KernelBackend& backend_;
  codegen::DeviceCompiler* device_;
  Options options_;
  std::vector<PendingKernel> all_;
  int num_lowered_ = 0;
};

}  // namespace galatea
