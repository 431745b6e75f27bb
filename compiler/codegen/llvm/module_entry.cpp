// The one function that leaves the module; module_interface.h says what passes through it.
#include <exception>

#include <llvm/Config/llvm-config.h>

#include "compiler/codegen/build_id.h"
#include "compiler/codegen/llvm/generate.h"
#include "compiler/codegen/module_interface.h"

namespace galatea::codegen {
namespace {

void give(const ModuleSink& sink, const std::string& text, uint64_t entry = 0) {
  sink.result(sink.self, text.data(), text.size(), entry);
}

void generate(ModuleOutput what, const kernel::LoopKernel& loops, const Target& target,
              const ModuleSink& sink) {
  try {
    switch (what) {
      case ModuleOutput::kObject:
      case ModuleOutput::kFirstTierObject: {
        const CodeTier tier = what == ModuleOutput::kObject ? CodeTier::kBest : CodeTier::kFirst;
        const runtime::CodeObject object = emit_object(loops, target, tier);
        return give(sink, object.bytes, object.entry);
      }
      case ModuleOutput::kLlvmText:
        return give(sink, emit_llvm_text(loops, target));
      case ModuleOutput::kAssembly:
        return give(sink, emit_assembly(loops, target));
    }
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    sink.failure(sink.self, text.data(), text.size());
  }
}

}  // namespace
}  // namespace galatea::codegen

extern "C" __attribute__((visibility("default"))) const galatea::codegen::ModuleTable*
galatea_codegen_module() {
  using namespace galatea::codegen;  // NOLINT
  static const ModuleTable table = {kModuleInterface, 0, build_id().data(), "LLVM " LLVM_VERSION_STRING,
                                    &generate};
  return &table;
}
