// The one function that leaves the module; module_interface.h says what passes through it.
//
// LLVM is compiled without exceptions, and so is all of this module but this file and link_object.cpp: memory
// that runs out in the middle passes through everybody's functions without tidying up. What was worked on
// stays where it is, locks may stay taken, and nothing is compiled in this process any more.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/ErrorHandling.h>

#include "base/result.h"
#include "compiler/codegen/build_id.h"
#include "compiler/codegen/llvm/generate.h"
#include "compiler/codegen/module_interface.h"

namespace galatea::codegen {
namespace {

std::atomic<bool> g_is_unusable = false;

/// Whether this thread is in LLVM on our behalf: a host may use the same library for itself. Its place is
/// there from the start, since the first use of any other thread-local variable takes memory.
__attribute__((tls_model("initial-exec"))) thread_local bool t_is_inside = false;

struct Inside {
  Inside() { t_is_inside = true; }
  ~Inside() { t_is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Where LLVM asks for memory without `new`. It would end the process.
void on_no_memory(void*, const char*, bool) {
  if (t_is_inside) throw std::bad_alloc();
  std::fputs("LLVM ERROR: out of memory\n", stderr);
  std::abort();
}

/// What LLVM takes for hopeless is a mistake in what we asked for.
void on_fatal_error(void*, const char* reason, bool) {
  if (t_is_inside) {
    g_is_unusable = true;
    throw InternalError(std::string("LLVM: ") + reason);
  }
  std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
  std::abort();
}

/// Before the constructors of LLVM's own static objects, which take memory, too: the module is linked to be
/// initialized first. They run on this thread, which is inside until the module's table is asked for.
__attribute__((constructor(101))) void watch_over_constructors() {
  llvm::install_bad_alloc_error_handler(&on_no_memory);
  llvm::install_fatal_error_handler(&on_fatal_error);
  t_is_inside = true;
}

void give(const ModuleSink& sink, const std::string& text, uint64_t entry = 0) {
  sink.result(sink.self, text.data(), text.size(), entry);
}

void fail(const ModuleSink& sink, ModuleFailure why, std::string_view text = {}) {
  sink.failure(sink.self, why, text.data(), text.size());
}

/// What is made inside LLVM.
std::string emit(ModuleOutput what, const kernel::LoopKernel& loops, const Target& target) {
  const Inside inside;
  try {
    switch (what) {
      case ModuleOutput::kObject:
        return emit_elf(loops, target, CodeTier::kBest);
      case ModuleOutput::kFirstTierObject:
        return emit_elf(loops, target, CodeTier::kFirst);
      case ModuleOutput::kLlvmText:
        return emit_llvm_text(loops, target);
      case ModuleOutput::kAssembly:
        return emit_assembly(loops, target);
    }
  } catch (const std::bad_alloc&) {
    g_is_unusable = true;
    throw;
  }
  return {};
}

void generate(ModuleOutput what, const kernel::LoopKernel& loops, const Target& target,
              const ModuleSink& sink) {
  try {
    if (g_is_unusable) return fail(sink, ModuleFailure::kUnusable);
    const std::string text = emit(what, loops, target);
    if (what == ModuleOutput::kLlvmText || what == ModuleOutput::kAssembly) return give(sink, text);
    const runtime::CodeObject object = link_object(text, kSymbol);
    give(sink, object.bytes, object.entry);
  } catch (const std::bad_alloc&) {
    fail(sink, ModuleFailure::kOutOfMemory);
  } catch (const std::exception& error) {
    try {
      fail(sink, ModuleFailure::kBug, error.what());
    } catch (const std::bad_alloc&) {  // not even for the text
      fail(sink, ModuleFailure::kOutOfMemory);
    }
  }
}

}  // namespace
}  // namespace galatea::codegen

extern "C" __attribute__((visibility("default"))) const galatea::codegen::ModuleTable*
galatea_codegen_module() {
  using namespace galatea::codegen;  // NOLINT
  static const ModuleTable table = {kModuleInterface, 0, build_id().data(), "LLVM " LLVM_VERSION_STRING,
                                    &generate};
  t_is_inside = false;
  return &table;
}
