// See ptx_backend.h.
#include "tests/ptx/ptx_backend.h"

#include <algorithm>
#include <array>

#include "compiler/codegen/cuda/emit.h"
#include "compiler/codegen/cuda/host_call.h"
#include "compiler/kernel/spread_phases.h"
#include "runtime/program.h"
#include "tests/loops/loop_harness.h"
#include "tests/ptx/ptx_machine.h"

namespace galatea::testing {

struct PtxBackend::Kernel {
  KernelCost cost;
  int inputs = 0, tensors = 0;
  size_t num_params = 0;
  bool is_tiled = false, shares_phases = false;
  kernel::Expr blocks;
  std::unique_ptr<PtxMachine> machine;
  std::string error;
};

class PtxBackend::Code final : public runtime::KernelCode {
 public:
  explicit Code(std::shared_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}

  void run(const runtime::KernelCall& call) const override {
    codegen::HostCall device_call(call);
    const uint32_t blocks = count_blocks(call);
    const std::array<uint32_t, 2> first_blocks = {0, blocks};
    const std::array<uint64_t, 3> arguments = {reinterpret_cast<uint64_t>(&device_call),
                                               reinterpret_cast<uint64_t>(first_blocks.data()), 1};
    for (uint32_t block = 0; block < blocks && kernel_->error.empty(); ++block)
      kernel_->error = kernel_->machine->run_block(arguments, block);
    int64_t largest = 0;
    for (int t = 0; t < kernel_->tensors; ++t) largest = std::max(largest, volume(call.tensors[t]));
    kernel_->cost.elements += kernel_->shares_phases ? largest : volume(call.tensors[kernel_->inputs]);
    kernel_->cost.blocks += blocks;
  }

 private:
  static int64_t volume(const runtime::KernelTensor& tensor) {
    int64_t out = 1;
    for (int d = 0; d < runtime::kMaxRank && tensor.extents[d] > 0; ++d) out *= tensor.extents[d];
    return out;
  }
  /// Like BatchLaunch::count_tiles().
  uint32_t count_blocks(const runtime::KernelCall& call) const {
    if (!kernel_->is_tiled) return 1;
    const int64_t most = kernel_->shares_phases ? 128 : 65536;
    if (kernel_->blocks)
      return static_cast<uint32_t>(std::clamp<int64_t>(
          value_of(kernel_->blocks, {call.params, call.params + kernel_->num_params}), 1, most));
    int64_t largest = volume(call.tensors[kernel_->inputs]);
    for (int t = 0; kernel_->shares_phases && t < kernel_->tensors; ++t)
      largest = std::max(largest, volume(call.tensors[t]));
    return static_cast<uint32_t>(std::clamp<int64_t>((largest + 2047) / 2048, 1, most));
  }

  std::shared_ptr<Kernel> kernel_;
};

PtxBackend::PtxBackend(std::shared_ptr<const codegen::Nvrtc> nvrtc, int architecture)
    : nvrtc_(std::move(nvrtc)), architecture_(architecture) {}
PtxBackend::~PtxBackend() = default;

Result<std::vector<codegen::CompiledKernel>> PtxBackend::compile(std::span<const codegen::KernelJob> jobs) {
  std::vector<codegen::CompiledKernel> out;
  for (const codegen::KernelJob& job : jobs) {
    auto kernel = std::make_shared<Kernel>();
    kernel->cost.name = job.loops->name;
    kernel->cost.text = codegen::emit_cuda(*job.loops, "kernel");
    GALATEA_ASSIGN(const std::string ptx, nvrtc_->compile_to_ptx(codegen::cuda_prelude() + kernel->cost.text,
                                                                 "kernel.cu", architecture_));
    GALATEA_ASSIGN(kernel->cost.program, read_ptx(ptx));
    kernel->inputs = codegen::num_inputs(*job.loops);
    for (const kernel::LoopBuffer& buffer : job.loops->buffers)
      kernel->tensors = std::max(kernel->tensors, buffer.tensor + 1);
    kernel->is_tiled = codegen::can_be_tiled(*job.loops);
    kernel->shares_phases = kernel::shares_phases(*job.loops);
    kernel->blocks = codegen::blocks_with_work(*job.loops);
    kernel->num_params = job.loops->params.size();
    kernel->machine = std::make_unique<PtxMachine>(kernel->cost.program);
    kernels_.push_back(kernel);
    out.push_back({std::make_shared<Code>(kernel), false, 0});
  }
  return out;
}

std::vector<KernelCost> PtxBackend::costs() const {
  std::vector<KernelCost> out;
  for (const auto& kernel : kernels_) {
    if (kernel->cost.blocks == 0) continue;
    out.push_back(kernel->cost);
    out.back().issued = kernel->machine->issued();
  }
  return out;
}

std::string PtxBackend::error() const {
  for (const auto& kernel : kernels_)
    if (!kernel->error.empty()) return kernel->error;
  return {};
}

double KernelCost::per_element() const {
  double all = 0;
  for (size_t n = 0; n < issued.size(); ++n)
    all += static_cast<double>(issued[n]) * program.instructions[n].weight;
  return all * PtxMachine::kWarp / static_cast<double>(elements);
}

int KernelCost::loads(PtxSpace space) const {
  return static_cast<int>(std::ranges::count_if(
      program.instructions, [&](const PtxInstruction& i) { return i.op == PtxOp::kLd && i.space == space; }));
}

}  // namespace galatea::testing
