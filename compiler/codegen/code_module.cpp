#include "compiler/codegen/code_module.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <filesystem>
#include <mutex>

#include "base/library_search.h"
#include "base/settings.h"
#include "compiler/codegen/build_id.h"
#include "compiler/messages/messages.h"
#include "runtime/messages.h"

namespace galatea::codegen {
namespace {

namespace fs = std::filesystem;
using compiler::Message;

constexpr const char* kFileName = "libgalatea_codegen_llvm.so";

std::mutex g_mutex;
std::shared_ptr<const CodeModule> g_module;
/// Memory ran out while LLVM was loaded: the system takes it for loaded, and it is not.
bool g_is_half_loaded = false;

template <typename... Args>
std::unexpected<Error> system_error(Message message, const Args&... args) {
  return make_error(ErrorKind::kSystem, compiler::diagnostic(message, Span{}, args...));
}

std::vector<fs::path> candidates() {
  if (const std::string named = setting("GALATEA_CODEGEN_MODULE"); !named.empty()) return {named};
  return module_places(kFileName, reinterpret_cast<const void*>(&code_module_is_open),
                       GALATEA_MODULE_FOLDER_FROM_BIN);
}

/// How the module is opened. Where another LLVM shares its names with the whole process (tensorflow does), a
/// shared libLLVM would bind to that one's: the module then looks in what it is linked with first. Only then,
/// since an allocator that was put before the C library's would be passed by as well.
int opening_mode() {
  const bool has_other_llvm = ::dlsym(RTLD_DEFAULT, "LLVMContextCreate") != nullptr;
  return RTLD_LAZY | RTLD_LOCAL | (has_other_llvm ? RTLD_DEEPBIND : 0);
}

Result<const ModuleTable*> load_table(const fs::path& file) {
  if (g_is_half_loaded) return system_error(Message::kModuleRanOutOfMemory);
  // What throws in there for want of memory passes through the C library, which looks for its unwinder only
  // then: it has it from here on.
  void* frame = nullptr;
  ::backtrace(&frame, 1);
  // Never closed: LLVM does not survive being unloaded, and code of ours may be running.
  g_is_half_loaded = true;
  void* library = ::dlopen(file.c_str(), opening_mode());
  g_is_half_loaded = false;
  if (library == nullptr) {
    const char* why = ::dlerror();
    return system_error(Message::kModuleNotLoaded, file.string(), why != nullptr ? why : "unknown error");
  }
  const auto entry = reinterpret_cast<ModuleEntry>(::dlsym(library, kModuleSymbol));
  const ModuleTable* table = entry != nullptr ? entry() : nullptr;
  if (table == nullptr || table->interface != kModuleInterface || build_id() != table->build_id)
    return system_error(Message::kModuleOfAnotherBuild, file.string());
  return table;
}

struct Answer {
  std::string bytes, failure;
  ModuleFailure why = ModuleFailure::kBug;
  uint64_t entry = 0;
  bool has_result = false;
};

Result<Answer> generate(const ModuleTable& table, ModuleOutput what, const kernel::LoopKernel& loops,
                        const Target& target) {
  Answer answer;
  ModuleSink sink;
  sink.self = &answer;
  sink.result = [](void* self, const char* bytes, uint64_t size, uint64_t entry) {
    auto* to = static_cast<Answer*>(self);
    to->bytes.assign(bytes, size);
    to->entry = entry;
    to->has_result = true;
  };
  sink.failure = [](void* self, ModuleFailure why, const char* text, uint64_t size) {
    auto* to = static_cast<Answer*>(self);
    to->why = why;
    to->failure.assign(text, size);
  };
  table.generate(what, loops, target, sink);
  if (answer.has_result) return answer;
  if (answer.why == ModuleFailure::kUnusable) return system_error(Message::kModuleRanOutOfMemory);
  if (answer.why == ModuleFailure::kOutOfMemory) {
    auto error = runtime::make_error(runtime::message::kNoMemory);
    error.error().diagnostics.front().notes.push_back("while the kernel " + loops.name + " was compiled");
    return error;
  }
  return make_error(ErrorKind::kInternal,
                    compiler::diagnostic(Message::kCodeGenerationFailed, Span{}, loops.name, answer.failure));
}

}  // namespace

Result<std::shared_ptr<const CodeModule>> CodeModule::open() {
  const std::lock_guard lock(g_mutex);
  if (g_module) return g_module;
  const std::vector<fs::path> files = candidates();
  for (const fs::path& file : files) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    GALATEA_ASSIGN(const ModuleTable* table, load_table(file));
    g_module = std::shared_ptr<const CodeModule>(new CodeModule(file.string(), table));
    return g_module;
  }
  const fs::path folder = files.front().parent_path();
  return system_error(Message::kModuleMissing, files.front().filename().string(),
                      folder.empty() ? "." : folder.string());
}

bool code_module_is_open() {
  const std::lock_guard lock(g_mutex);
  return g_module != nullptr;
}

Result<runtime::CodeObject> CodeModule::compile(const kernel::LoopKernel& loops, const Target& target,
                                                CodeTier tier) const {
  const ModuleOutput what = tier == CodeTier::kBest ? ModuleOutput::kObject : ModuleOutput::kFirstTierObject;
  GALATEA_ASSIGN(Answer answer, generate(*table_, what, loops, target));
  return runtime::CodeObject{std::move(answer.bytes), answer.entry};
}

Result<std::string> CodeModule::llvm_text(const kernel::LoopKernel& loops, const Target& target) const {
  GALATEA_ASSIGN(Answer answer, generate(*table_, ModuleOutput::kLlvmText, loops, target));
  return std::move(answer.bytes);
}

Result<std::string> CodeModule::assembly(const kernel::LoopKernel& loops, const Target& target) const {
  GALATEA_ASSIGN(Answer answer, generate(*table_, ModuleOutput::kAssembly, loops, target));
  return std::move(answer.bytes);
}

}  // namespace galatea::codegen
