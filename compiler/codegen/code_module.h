// The code generator, as a module that is opened when a kernel has to be compiled, and not before.
//
// Comes in: loops. Goes out: a code object, LLVM's text or assembly. The module is the only part of galatea
// that links LLVM; it lies beside this library or program (GALATEA_CODEGEN_MODULE names another place), and
// it must be of this very build: what passes between the two are C++ objects, guarded by the build id.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "compiler/codegen/module_interface.h"
#include "compiler/codegen/target.h"
#include "compiler/kernel/loops.h"
#include "runtime/code_loader.h"

namespace galatea::codegen {

class CodeModule {
 public:
  /// The module of this process, opened on the first call. Fails with kSystem where it is missing, cannot be
  /// loaded, or is of another build; a later call tries again.
  static Result<std::shared_ptr<const CodeModule>> open();

  const std::string& path() const { return path_; }
  /// "LLVM 19.1.7".
  std::string generator() const { return table_->generator; }

  // Each may be called by several threads at once.
  Result<runtime::CodeObject> compile(const kernel::LoopKernel& loops, const Target& target,
                                      CodeTier tier = CodeTier::kBest) const;
  /// What is emitted, before LLVM's passes (explain --emit=llvm).
  Result<std::string> llvm_text(const kernel::LoopKernel& loops, const Target& target) const;
  /// After LLVM's passes (explain --emit=asm).
  Result<std::string> assembly(const kernel::LoopKernel& loops, const Target& target) const;

 private:
  CodeModule(std::string path, const ModuleTable* table) : path_(std::move(path)), table_(table) {}
  std::string path_;
  const ModuleTable* table_;
};

/// Whether the module has been opened in this process.
bool code_module_is_open();

}  // namespace galatea::codegen
