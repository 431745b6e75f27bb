#include "tools/serve/http_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "base/library_search.h"
#include "tools/messages.h"

namespace galatea::tools::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libgalatea_http.so";

Result<const ModuleTable*> load(const fs::path& file) {
  // Never closed: its threads and tables outlive every handle.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return tool_error(Message::kNoHttpModule, why != nullptr ? why : "it does not load");
  }
  const auto entry = reinterpret_cast<ModuleEntry>(::dlsym(library, kModuleSymbol));
  const ModuleTable* const table = entry != nullptr ? entry() : nullptr;
  if (table == nullptr || table->interface != kModuleInterface ||
      std::string_view(table->version) != GALATEA_VERSION)
    return tool_error(Message::kNoHttpModule, file.string() + " belongs to another build of galatea");
  return table;
}

Result<const ModuleTable*> find_module() {
  std::error_code ignored;
  const void* const code = reinterpret_cast<const void*>(&listen_on_loopback);
  for (const fs::path& file : module_places(kFileName, code, GALATEA_MODULE_FOLDER_FROM_BIN))
    if (fs::exists(file, ignored)) return load(file);
  return tool_error(Message::kNoHttpModule, std::string(kFileName) + " is not there");
}

}  // namespace

Result<std::unique_ptr<HttpServer>> listen_on_loopback(int port) {
  GALATEA_ASSIGN(const ModuleTable* table, find_module());
  std::unique_ptr<HttpServer> server = table->listen(port);
  if (!server) return tool_error(Message::kCannotListen, port);
  return server;
}

}  // namespace galatea::tools::serve
