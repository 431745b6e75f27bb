// See emit.h and llvm_backend.h. One module and one JIT library a kernel; LLVM is set up once per process.
#include "compiler/codegen/llvm/llvm_backend.h"

#include <atomic>
#include <mutex>

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {
namespace {

constexpr const char* kSymbol = "galatea_kernel";

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::unexpected<Error> llvm_error(llvm::Error error) {
  return make_error(ErrorKind::kInternal, "G0561",
                    "LLVM could not compile a kernel: " + llvm::toString(std::move(error)),
                    "please report this");
}

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target) {
  initialize_llvm();
  std::string triple = llvm::sys::getDefaultTargetTriple();
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return make_error(ErrorKind::kSystem, "G0562",
                      "LLVM has no code generator for " + triple + ": " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, target.cpu(), target.features(), options, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Default));
}

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, const kernel::LoopKernel& kernel,
                                          const Target& target) {
  auto module = std::make_unique<llvm::Module>(kernel.name, context);
  FunctionEmitter(kernel, target, *module).run(kSymbol);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  GALATEA_CHECK(!llvm::verifyModule(*module, &stream),
                "illegal LLVM IR for " + kernel.name + ": " + stream.str());
  return module;
}

/// A lean list: vectors are ours, so neither LoopVectorize nor SLP runs.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  passes.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(2).setPartial(false).setRuntime(false).setUpperBound(false)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::DCEPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

class JitCode final : public runtime::KernelCode {
 public:
  JitCode(std::unique_ptr<llvm::orc::LLJIT> jit, runtime::KernelFunction function)
      : jit_(std::move(jit)), function_(function) {}
  void run(const runtime::KernelCall& call) const override { function_(&call); }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  runtime::KernelFunction function_;
};

class LlvmBackend final : public KernelBackend {
 public:
  explicit LlvmBackend(const Target& target) : target_(target) { initialize_llvm(); }
  std::string name() const override { return "llvm"; }
  kernel::ScheduleOptions schedule_options() const override {
    kernel::ScheduleOptions options;
    options.vector_bits = target_.vector_bits();
    return options;
  }

  Result<CompiledKernel> compile(const kernel::Kernel&, const kernel::LoopKernel& loops) override {
    auto context = std::make_unique<llvm::LLVMContext>();
    std::unique_ptr<llvm::Module> module = make_module(*context, loops, target_);
    GALATEA_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, make_machine(target_));
    module->setDataLayout(machine->createDataLayout());
    module->setTargetTriple(machine->getTargetTriple().str());
    optimize(*module, *machine);

    llvm::orc::JITTargetMachineBuilder builder(machine->getTargetTriple());
    builder.setCPU(target_.cpu());
    builder.addFeatures(features());
    builder.setRelocationModel(llvm::Reloc::PIC_);
    builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    auto jit = llvm::orc::LLJITBuilder()
                   .setJITTargetMachineBuilder(std::move(builder))
                   .setNumCompileThreads(0)
                   .create();
    if (!jit) return llvm_error(jit.takeError());
    if (auto error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
      return llvm_error(std::move(error));
    auto symbol = (*jit)->lookup(kSymbol);
    if (!symbol) return llvm_error(symbol.takeError());
    auto function = symbol->toPtr<runtime::KernelFunction>();
    return CompiledKernel{std::make_shared<JitCode>(std::move(*jit), function), false};
  }

 private:
  std::vector<std::string> features() const {
    std::vector<std::string> out;
    std::string text = target_.features();
    for (size_t at = 0; at < text.size();) {
      size_t comma = text.find(',', at);
      out.push_back(text.substr(at, comma - at));
      at = comma == std::string::npos ? text.size() : comma + 1;
    }
    return out;
  }

  Target target_;
};

}  // namespace

std::string emit_llvm_text(const kernel::LoopKernel& kernel, const Target& target) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream stream(text);
  make_module(context, kernel, target)->print(stream, nullptr);
  return stream.str();
}

Result<std::string> emit_assembly(const kernel::LoopKernel& kernel, const Target& target) {
  llvm::LLVMContext context;
  auto module = make_module(context, kernel, target);
  GALATEA_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, make_machine(target));
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple().str());
  optimize(*module, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return make_error(ErrorKind::kInternal, "G0561", "LLVM cannot print assembly for this target");
  emit.run(*module);
  return std::string(text.str());
}

std::unique_ptr<KernelBackend> make_llvm_backend(const Target& target) {
  return std::make_unique<LlvmBackend>(target);
}

Result<std::unique_ptr<KernelBackend>> make_backend(const std::string& name, std::string* note) {
  if (name == "interpreter") return make_interpreter_backend();
  if (name != "llvm") {
    return make_error(ErrorKind::kUser, "G0563", "unknown backend \"" + name + "\"",
                      "use llvm, interpreter or cuda-shim");
  }
  if (auto target = host_target()) return make_llvm_backend(*target);
  if (note) *note = "this processor is below x86-64-v3: kernels run in the interpreter, which is slow";
  return make_interpreter_backend();
}

}  // namespace galatea::codegen
