// See generate.h. One LLVM context and module a kernel; the target is set up once per process.
#include "compiler/codegen/llvm/generate.h"

#include <algorithm>
#include <mutex>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
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

#include "base/result.h"
#include "compiler/codegen/llvm/emitter.h"

namespace galatea::codegen {
namespace {

void initialize_llvm(const Target& target) {
  static std::once_flag x86, aarch64;
  if (target.is_x86()) {
    std::call_once(x86, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmPrinter();
    });
  } else {
    std::call_once(aarch64, [] {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
    });
  }
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target, CodeTier tier) {
  initialize_llvm(target);
  const std::string triple = target.triple();
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  GALATEA_CHECK(found != nullptr, "LLVM has no code generator for " + triple + ": " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // Addresses on AArch64 are of pages unless the code model says that all is near: objects lie anywhere.
  const auto model = target.is_x86() ? std::nullopt : std::optional(llvm::CodeModel::Tiny);
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu(), target.features(), options, llvm::Reloc::PIC_, model,
      tier == CodeTier::kFirst ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
  GALATEA_CHECK(machine != nullptr, "LLVM has no machine " + target.name());
  // Without optimization AArch64 would take another instruction selector, which does not know all vectors.
  machine->setGlobalISel(false);
  return machine;
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

/// Whether loads may be of what the kernel stored a few loops before: windows over rings of rows, tables,
/// statistics. Rows of hand-made bands (resizes) leave nothing to find.
bool reads_its_stores(const kernel::LoopKernel& kernel) {
  bool has_bands = false;
  kernel::for_each_statement(kernel.body, [&](const kernel::Statement& statement) {
    has_bands |= std::holds_alternative<kernel::BandRow>(statement.node);
  });
  return !has_bands && std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [](const auto& buffer) {
    return buffer.kind == kernel::BufferKind::kScratch;
  });
}

/// Of the first tier: what makes less code for the code generator, and costs less than it saves there.
void add_first_tier_passes(llvm::FunctionPassManager& passes) {
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
}

/// A lean list: vectors are ours, so neither LoopVectorize nor SLP runs. GVN takes a third of all passes'
/// time and makes the same code of kernels that do not read what they store, but for 1 % of a resize.
void add_best_passes(llvm::FunctionPassManager& passes, bool follow_memory) {
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
  if (follow_memory)
    passes.addPass(llvm::GVNPass());
  else
    passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::DCEPass());
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const kernel::LoopKernel& kernel,
              CodeTier tier) {
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
  if (tier == CodeTier::kFirst)
    add_first_tier_passes(passes);
  else
    add_best_passes(passes, reads_its_stores(kernel));
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

/// Loop strength reduction takes more than a third of the time of code generation: our kernels have many
/// induction variables of few kinds. Its results are no faster (docs/performance/start-up.md).
class FasterCodegen final : public llvm::OptPassGate {
 public:
  bool shouldRunPass(const llvm::StringRef name, llvm::StringRef) override {
    return name != "Loop Strength Reduction";
  }
  bool isEnabled() const override { return true; }
};

std::string emit_file(const kernel::LoopKernel& kernel, const Target& target, CodeTier tier,
                      llvm::CodeGenFileType type) {
  llvm::LLVMContext context;
  FasterCodegen gate;
  context.setOptPassGate(gate);
  auto module = make_module(context, kernel, target);
  std::unique_ptr<llvm::TargetMachine> machine = make_machine(target, tier);
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple().str());
  optimize(*module, *machine, kernel, tier);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emit;
  GALATEA_CHECK(!machine->addPassesToEmitFile(emit, stream, nullptr, type),
                "LLVM cannot write for this target");
  emit.run(*module);
  return std::string(text.str());
}

}  // namespace

std::string emit_llvm_text(const kernel::LoopKernel& kernel, const Target& target) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream stream(text);
  make_module(context, kernel, target)->print(stream, nullptr);
  return stream.str();
}

std::string emit_assembly(const kernel::LoopKernel& kernel, const Target& target) {
  return emit_file(kernel, target, CodeTier::kBest, llvm::CodeGenFileType::AssemblyFile);
}

std::string emit_elf(const kernel::LoopKernel& kernel, const Target& target, CodeTier tier) {
  return emit_file(kernel, target, tier, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace galatea::codegen
