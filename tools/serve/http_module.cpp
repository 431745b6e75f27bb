#include "tools/serve/http_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "tools/messages.h"

namespace galatea::tools::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libgalatea_http.so";

/// Beside the library or program that holds this code; installed: in a folder of our own, or beside bin/.
std::vector<fs::path> module_places() {
  std::vector<fs::path> folders, places;
  std::error_code ignored;
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&listen_on_loopback), &info) != 0 && info.dli_fname != nullptr)
    folders.push_back(fs::canonical(info.dli_fname, ignored).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  for (const fs::path& folder : folders)
    for (const char* place : {".", "galatea", "../lib", GALATEA_MODULE_FOLDER_FROM_BIN})
      places.push_back((folder / place / kFileName).lexically_normal());
  return places;
}

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
  for (const fs::path& file : module_places())
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
