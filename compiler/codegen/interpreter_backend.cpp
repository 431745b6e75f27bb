// The interpreter as a backend: a KernelCode that keeps the kernel and interprets it at each call.
#include "compiler/codegen/backend.h"
#include "compiler/kernel/interpreter.h"

namespace galatea::codegen {
namespace {

class InterpretedStages final : public runtime::KernelCode {
 public:
  explicit InterpretedStages(kernel::Kernel kernel) : kernel_(std::move(kernel)) {}
  void run(const runtime::KernelCall& call) const override { kernel::interpret_stages(kernel_, call); }

 private:
  kernel::Kernel kernel_;
};

class InterpretedLoops final : public runtime::KernelCode {
 public:
  explicit InterpretedLoops(kernel::LoopKernel loops) : loops_(std::move(loops)) {}
  void run(const runtime::KernelCall& call) const override { kernel::interpret_loops(loops_, call); }

 private:
  kernel::LoopKernel loops_;
};

class InterpreterBackend final : public KernelBackend {
 public:
  InterpreterBackend(bool stages, const kernel::ScheduleOptions& options)
      : stages_(stages), options_(options) {}
  std::string name() const override { return "interpreter"; }
  kernel::ScheduleOptions schedule_options() const override { return options_; }
  using KernelBackend::compile;
  Result<std::vector<CompiledKernel>> compile(std::span<const KernelJob> jobs) override {
    std::vector<CompiledKernel> out;
    for (const KernelJob& job : jobs) {
      if (stages_)
        out.push_back({std::make_shared<InterpretedStages>(*job.kernel)});
      else
        out.push_back({std::make_shared<InterpretedLoops>(*job.loops)});
    }
    return out;
  }

 private:
  bool stages_;
  kernel::ScheduleOptions options_;
};

}  // namespace

std::unique_ptr<KernelBackend> make_interpreter_backend(bool stages, const kernel::ScheduleOptions& options) {
  return std::make_unique<InterpreterBackend>(stages, options);
}

}  // namespace galatea::codegen
