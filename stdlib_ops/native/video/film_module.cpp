#include "stdlib_ops/native/video/film_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/fault.h"
#include "base/library_search.h"
#include "base/settings.h"

namespace galatea::native::video {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libgalatea_video.so";

std::unexpected<Error> no_module(std::string why, std::string help) {
  return make_error(ErrorKind::kSystem, "G0998", "films cannot be read or written: " + std::move(why),
                    std::move(help));
}

std::vector<fs::path> candidates() {
  if (const std::string named = setting("GALATEA_VIDEO_MODULE"); !named.empty()) return {named};
  return module_places(kFileName, reinterpret_cast<const void*>(&open_film), GALATEA_MODULE_FOLDER_FROM_BIN);
}

struct Module {
  const ModuleTable* table = nullptr;
  std::string path;
};

Result<Module> load(const fs::path& file) {
  need_room(kRoomOfLibraries);
  // Never closed: its libraries have tables and threads that outlive every handle.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return no_module(fmt::format("{} does not load: {}", file.string(), why != nullptr ? why : "no reason"),
                     "install libav: Debian's packages are libavformat59, libavcodec59 and libavutil57");
  }
  const auto entry = reinterpret_cast<ModuleEntry>(::dlsym(library, kModuleSymbol));
  const ModuleTable* const table = entry != nullptr ? entry() : nullptr;
  if (table == nullptr || table->interface != kModuleInterface ||
      std::string_view(table->version) != GALATEA_VERSION)
    return no_module(fmt::format("{} belongs to another build of galatea", file.string()),
                     "install galatea and its modules together");
  return Module{table, file.string()};
}

Result<Module> find() {
  std::error_code ignored;
  for (const fs::path& file : candidates())
    if (fs::exists(file, ignored)) return load(file);
  return no_module(
      fmt::format("{} is not there", kFileName),
      "build galatea where libav's headers are (Debian's packages are libavformat-dev, libavcodec-dev "
      "and libavutil-dev), or set GALATEA_VIDEO_MODULE to where it lies");
}

const Result<Module>& module() {
  static const Result<Module> found = find();
  return found;
}

}  // namespace

Result<std::unique_ptr<Film>> open_film(std::shared_ptr<const ByteSource> bytes) {
  const Result<Module>& found = module();
  if (!found) return std::unexpected(found.error());
  return found->table->open(std::move(bytes));
}

Result<std::vector<uint8_t>> write_film(const FrameBytes& frames) {
  const Result<Module>& found = module();
  if (!found) return std::unexpected(found.error());
  return found->table->write(frames);
}

std::string module_text() {
  const Result<Module>& found = module();
  return found ? fmt::format("{} ({})", found->table->libraries, found->path) : found.error().message();
}

}  // namespace galatea::native::video
