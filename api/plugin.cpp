// Adding to an engine: functions, texts, plug-ins.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/declare.h"
#include "api/guard.h"
#include "api/handles.h"
#include "api/host_function.h"
#include "api/host_source.h"
#include "api/plugin.h"
#include "api/sized.h"
#include "base/folder.h"
#include "dsl/frontend.h"
#include "runtime/messages.h"

namespace galatea::api {

namespace message = runtime::message;
namespace fs = std::filesystem;

namespace {

Status check_may_register(const Library& library, const std::string& name) {
  if (!library.is_in_use) return {};
  return runtime::make_error(message::kRegistration, name,
                             "the engine has made a program; register before that, or make another engine");
}

/// The functions of a text as operators: all or none.
Status register_text(Library& library, const std::string& name_space, const std::string& file,
                     const std::string& text, SourceMap& sources) {
  const auto& texts = library.operators.texts();
  if (std::ranges::any_of(texts, [&](const auto& other) { return other->file == file; }))
    return runtime::make_error(message::kRegistration, file, "a text of this name is registered already");
  GALATEA_ASSIGN(const auto functions, dsl::functions_of(file, text, library.operators, sources));
  if (functions.empty())
    return runtime::make_error(message::kRegistration, file,
                               "it defines no function whose name does not begin with an underscore");
  const auto shared = std::make_shared<const std::string>(text);
  std::vector<op::TextOperator> operators;
  for (const dsl::FunctionInfo& function : functions) {
    const std::string name = name_space.empty() ? function.name : name_space + "." + function.name;
    if (const std::string why = why_no_name(name, library.operators); !why.empty())
      return runtime::make_error(message::kRegistration, name, why);
    operators.push_back({name, function.name, function.parameters, file, shared});
  }
  for (op::TextOperator& each : operators) library.operators.add(std::move(each));
  return {};
}

std::string last_dl_error() {
  const char* const words = ::dlerror();
  return words ? words : "no reason is given";
}

}  // namespace

galatea_error* load_plugin(galatea_engine& engine, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return make_api_error(runtime::make_error(message::kPlugin, path, why).error());
  };
  std::error_code error;
  if (!fs::exists(path, error)) return refuse("there is no such file");
  // Never closed: what it registered may be called for as long as any program lives, and threads may keep
  // what it made for them.
  void* const handle = ::dlopen(fs::absolute(path, error).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return refuse(last_dl_error());
  void* const symbol = ::dlsym(handle, GALATEA_PLUGIN_ENTRY);
  if (!symbol) return refuse("it does not define " GALATEA_PLUGIN_ENTRY "()");
  const auto entry = reinterpret_cast<galatea_plugin_entry>(symbol);
  if (galatea_error* failed = entry(&engine)) {
    const Error said = take_error(failed);
    return refuse(said.message());
  }
  engine.library->log->tell(GALATEA_LOG_DETAIL, fmt::format("loaded the plug-in {}", path));
  return nullptr;
}

galatea_error* load_plugin_folder(galatea_engine& engine, const std::string& folder) {
  std::vector<std::string> paths;
  const auto names = names_in_folder(folder);
  if (!names)
    return make_api_error(
        runtime::make_error(message::kPlugin, folder, "the folder cannot be read: " + names.error().message())
            .error());
  for (const NameInFolder& entry : *names)
    if (const fs::path path = fs::path(folder) / entry.name; path.extension() == ".so")
      paths.push_back(path.string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    if (galatea_error* failed = load_plugin(engine, path)) return failed;
  return nullptr;
}

}  // namespace galatea::api

using galatea::api::guard;
using galatea::api::make_api_error;
using galatea::api::misuse;

namespace {

/// Runs a registration, one at a time, while nothing uses the engine.
template <typename Register>
galatea_error* register_in(galatea_engine& engine, const std::string& name, Register&& call) {
  galatea::api::Library& library = *engine.library;
  const std::lock_guard lock(library.registering);
  galatea::SourceMap sources;
  auto status = galatea::api::check_may_register(library, name);
  if (status) status = call(library, sources);
  return status ? nullptr : make_api_error(status.error(), sources);
}

}  // namespace

extern "C" {

galatea_error* galatea_engine_register_function(galatea_engine* engine, const galatea_function* given) {
  return guard([&]() -> galatea_error* {
    if (!engine || !given) return misuse("engine or function is NULL");
    galatea_function function;
    if (galatea_error* error = galatea::api::read_struct("galatea_function", given,
                                                         static_cast<size_t>(std::max(given->size, 0)),
                                                         galatea::api::kFirstFunctionSize, function))
      return error;
    return register_in(*engine, function.name ? function.name : "", [&](auto& library, auto&) {
      return galatea::api::register_function(library, function);
    });
  });
}

galatea_error* galatea_engine_register_source(galatea_engine* engine, const galatea_source* given) {
  return guard([&]() -> galatea_error* {
    if (!engine || !given) return misuse("engine or source is NULL");
    galatea_source source;
    if (galatea_error* error =
            galatea::api::read_struct("galatea_source", given, static_cast<size_t>(std::max(given->size, 0)),
                                      galatea::api::kFirstSourceSize, source))
      return error;
    return register_in(*engine, source.name ? source.name : "", [&](auto& library, auto&) {
      return galatea::api::register_host_source(library, source);
    });
  });
}

galatea_error* galatea_engine_register_text(galatea_engine* engine, const char* name_space,
                                            const char* file_name, const char* text) {
  return guard([&]() -> galatea_error* {
    if (!engine || !name_space || !file_name || !text)
      return misuse("engine, name_space, file_name or text is NULL");
    return register_in(*engine, file_name, [&](auto& library, auto& sources) {
      return galatea::api::register_text(library, name_space, file_name, text, sources);
    });
  });
}

galatea_error* galatea_engine_load_plugin(galatea_engine* engine, const char* path) {
  return guard([&]() -> galatea_error* {
    if (!engine || !path) return misuse("engine or path is NULL");
    return galatea::api::load_plugin(*engine, path);
  });
}

}  // extern "C"
