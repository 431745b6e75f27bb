#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "api/plugin.h"
#include "base/fault.h"
#include "base/settings.h"
#include "compiler/op/operator_json.h"
#include "stdlib_ops/native/register_natives.h"
#include "stdlib_ops/register_all.h"

using galatea::api::guard;
using galatea::api::misuse;

namespace {

/// Of the thread that loads the library.
[[maybe_unused]] const bool kIsReady = (galatea::make_ready_for_exceptions(), true);

}  // namespace

extern "C" {

const char* galatea_version_borrow(void) { return GALATEA_LIBRARY_VERSION; }

galatea_error* galatea_engine_options_create(galatea_engine_options** options) {
  if (!options) return misuse("options is NULL");
  *options = nullptr;
  return guard([&]() -> galatea_error* {
    *options = new galatea_engine_options;
    return nullptr;
  });
}

galatea_error* galatea_engine_options_set_cache_folder(galatea_engine_options* options, const char* folder) {
  return guard([&]() -> galatea_error* {
    if (!options || !folder) return misuse("options or folder is NULL");
    options->cache.folder = folder;
    return nullptr;
  });
}

galatea_error* galatea_engine_options_set_cache_size(galatea_engine_options* options, int64_t bytes) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    if (bytes < 0) return misuse(fmt::format("bytes is {}; it must be 0 or more", bytes));
    options->cache.max_bytes = bytes;
    return nullptr;
  });
}

galatea_error* galatea_engine_options_set_log(galatea_engine_options* options,
                                              void (*log)(void* context, galatea_log_level level,
                                                          const char* message),
                                              void* context) {
  return guard([&]() -> galatea_error* {
    if (!options) return misuse("options is NULL");
    options->log = log;
    options->log_context = context;
    return nullptr;
  });
}

galatea_error* galatea_engine_options_add_plugin_folder(galatea_engine_options* options, const char* folder) {
  return guard([&]() -> galatea_error* {
    if (!options || !folder || !*folder) return misuse("options or folder is NULL or empty");
    options->plugin_folders.emplace_back(folder);
    return nullptr;
  });
}

void galatea_engine_options_destroy(galatea_engine_options* options) { delete options; }

galatea_error* galatea_engine_create(galatea_engine** engine) {
  return galatea_engine_create_with_options(nullptr, engine);
}

galatea_error* galatea_engine_create_with_options(const galatea_engine_options* given,
                                                  galatea_engine** engine) {
  if (!engine) return misuse("engine is NULL");
  *engine = nullptr;
  return guard([&]() -> galatea_error* {
    const galatea_engine_options defaults;
    const galatea_engine_options& options = given ? *given : defaults;
    auto library = std::make_shared<galatea::api::Library>();
    library->cache = options.cache;
    library->log = std::make_shared<galatea::api::HostLog>(options.log, options.log_context);
    for (const galatea::SettingProblem& problem : galatea::setting_problems())
      library->log->tell(GALATEA_LOG_WARNING, problem.message);
    galatea::ops::register_all(library->operators);
    galatea::native::register_natives(library->natives);
    auto made = std::make_unique<galatea_engine>(std::move(library));
    for (const std::string& folder : options.plugin_folders)
      if (galatea_error* error = galatea::api::load_plugin_folder(*made, folder)) return error;
    *engine = made.release();
    return nullptr;
  });
}

void galatea_engine_destroy(galatea_engine* engine) { delete engine; }

galatea_error* galatea_engine_operators_json_take(const galatea_engine* engine, char** json) {
  if (json) *json = nullptr;
  return guard([&]() -> galatea_error* {
    if (!engine || !json) return misuse("engine or json is NULL");
    return galatea::api::take_string(galatea::json_text(galatea::op::to_json(engine->library->operators)),
                                     json);
  });
}

}  // extern "C"
