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
  explicit InterpreterBackend(bool stages) : stages_(stages) {}
  std::string name() const override { return "interpreter"; }
  kernel::ScheduleOptions schedule_options() const override { return {}; }
  Result<CompiledKernel> compile(const kernel::Kernel& kernel, const kernel::LoopKernel& loops) override {
    if (stages_) return CompiledKernel{std::make_shared<InterpretedStages>(kernel), false};
    return CompiledKernel{std::make_shared<InterpretedLoops>(loops), false};
  }

 private:
  bool stages_;
};

}  // namespace

std::unique_ptr<KernelBackend> make_interpreter_backend(bool stages) {
  return std::make_unique<InterpreterBackend>(stages);
}

}  // namespace galatea::codegen
