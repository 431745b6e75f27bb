#include "binding/engine.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

namespace galatea_python {

void Log::add(galatea_log_level level, const char* message) {
  const std::lock_guard lock(mutex_);
  if (messages_.size() == kMost) {
    messages_.pop_front();
    ++dropped_;
  }
  messages_.emplace_back(level, message);
}

nb::list Log::take() {
  std::deque<std::pair<int, std::string>> messages;
  size_t dropped = 0;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
    std::swap(dropped, dropped_);
  }
  nb::list out;
  if (dropped > 0)
    out.append(nb::make_tuple(static_cast<int>(GALATEA_LOG_WARNING),
                              std::to_string(dropped) + " older messages were dropped"));
  for (const auto& [level, text] : messages) out.append(nb::make_tuple(level, text));
  return out;
}

namespace {

using Options = std::unique_ptr<galatea_engine_options, void (*)(galatea_engine_options*)>;

void make_engine(Engine* self, const std::optional<std::string>& cache_folder,
                 std::optional<int64_t> cache_size, const std::vector<std::string>& plugin_folders) {
  new (self) Engine();
  galatea_engine_options* made = nullptr;
  check(galatea_engine_options_create(&made));
  const Options options(made, galatea_engine_options_destroy);
  if (cache_folder) check(galatea_engine_options_set_cache_folder(made, cache_folder->c_str()));
  if (cache_size) check(galatea_engine_options_set_cache_size(made, *cache_size));
  for (const std::string& folder : plugin_folders)
    check(galatea_engine_options_add_plugin_folder(made, folder.c_str()));
  self->log = new Log();
  check(galatea_engine_options_set_log(
      made,
      [](void* log, galatea_log_level level, const char* message) {
        static_cast<Log*>(log)->add(level, message);
      },
      self->log));
  galatea_error* error = nullptr;
  {
    const Released released;
    error = galatea_engine_create_with_options(made, self->owner().put());
  }
  check(error);
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<Engine>(module, "Engine", nb::is_weak_referenceable(), "Operators, and what programs share.")
      .def("__init__", &make_engine, nb::kw_only(), nb::arg("cache_folder") = nb::none(),
           nb::arg("cache_size") = nb::none(), nb::arg("plugin_folders") = std::vector<std::string>())
      .def("operators_json",
           [](const Engine& self) {
             char* text = nullptr;
             check(galatea_engine_operators_json_take(self.get(), &text));
             return take_string(text);
           })
      .def(
          "register_text",
          [](const Engine& self, const std::string& name_space, const std::string& file_name,
             const std::string& text) {
            check(galatea_engine_register_text(self.get(), name_space.c_str(), file_name.c_str(),
                                               text.c_str()));
          },
          nb::arg("name_space"), nb::arg("file_name"), nb::arg("text"))
      .def(
          "load_plugin",
          [](const Engine& self, const std::string& path) {
            check(galatea_engine_load_plugin(self.get(), path.c_str()));
          },
          nb::arg("path"))
      .def("take_log", [](const Engine& self) { return self.log->take(); });
}

}  // namespace galatea_python
