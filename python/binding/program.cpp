#include "binding/program.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "binding/made_text.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace galatea_python {
namespace {

using Options = std::unique_ptr<galatea_program_options, void (*)(galatea_program_options*)>;
using Text = std::optional<std::string>;
/// Element type, number of dimensions, layout.
using InputType = std::tuple<int, int, Text>;

void make_program(Program* self, const Engine& engine, const Text& path, const Text& text,
                  const std::string& file_name, const Text& pipeline,
                  const std::map<std::string, std::string>& parameters, std::optional<int32_t> batch_size,
                  std::optional<int32_t> num_threads, std::optional<int32_t> prefetch_depth,
                  std::optional<int64_t> seed, std::optional<bool> exact, const Text& on_error,
                  std::optional<int64_t> memory_limit, const Text& backend, const Text& device,
                  const Text& decoder, const Text& tiers, const Text& import_root, bool nodes, int32_t draw,
                  const std::map<std::string, int64_t>& limits, const std::vector<std::string>& policies,
                  const std::map<std::string, InputType>& input_types,
                  const std::map<std::string, std::string>& source_texts,
                  const std::vector<MadeRange>& line_map, const std::map<std::string, Constant>& constants) {
  new (self) Program();
  if (path.has_value() == text.has_value()) throw nb::type_error("Program: give either path= or text=");
  galatea_program_options* made = nullptr;
  check(galatea_program_options_create(&made));
  const Options options(made, galatea_program_options_destroy);
  const auto set_text = [&](const Text& value, auto function) {
    if (value) check(function(made, value->c_str()));
  };
  const auto set_number = [&](const auto& value, auto function) {
    if (value) check(function(made, *value));
  };
  set_text(pipeline, galatea_program_options_set_pipeline);
  set_text(on_error, galatea_program_options_set_on_error);
  set_text(backend, galatea_program_options_set_backend);
  set_text(device, galatea_program_options_set_device);
  set_text(decoder, galatea_program_options_set_decoder);
  set_text(tiers, galatea_program_options_set_tiers);
  set_text(import_root, galatea_program_options_set_import_root);
  set_number(batch_size, galatea_program_options_set_batch_size);
  set_number(num_threads, galatea_program_options_set_num_threads);
  set_number(prefetch_depth, galatea_program_options_set_prefetch_depth);
  set_number(seed, galatea_program_options_set_seed);
  set_number(memory_limit, galatea_program_options_set_memory_limit);
  check(galatea_program_options_set_nodes(made, nodes ? 1 : 0));
  check(galatea_program_options_set_draw(made, draw));
  if (exact) check(galatea_program_options_set_exact(made, *exact ? 1 : 0));
  for (const auto& [name, value] : parameters)
    check(galatea_program_options_set_parameter(made, name.c_str(), value.c_str()));
  for (const auto& [name, value] : limits)
    check(galatea_program_options_set_limit(made, name.c_str(), value));
  for (const std::string& policy : policies) check(galatea_program_options_add_policy(made, policy.c_str()));
  for (const auto& [name, type] : input_types) {
    const auto& [dtype, ndim, layout] = type;
    check(galatea_program_options_set_input_type(made, name.c_str(), static_cast<galatea_dtype>(dtype), ndim,
                                                 layout ? layout->c_str() : nullptr));
  }
  set_made_text(made, source_texts, line_map, constants);
  galatea_engine* const handle = engine.get();
  galatea_error* error = nullptr;
  {
    const Released released;
    error = path ? galatea_program_create_from_file(handle, path->c_str(), made, self->owner().put())
                 : galatea_program_create_from_text(handle, file_name.c_str(), text->c_str(), made,
                                                    self->owner().put());
  }
  check(error);
}

}  // namespace

void bind_program(nb::module_& module) {
  nb::class_<Program>(module, "Program", nb::is_weak_referenceable(), "A compiled pipeline.")
      .def("__init__", &make_program, nb::arg("engine"), nb::kw_only(), nb::arg("path") = nb::none(),
           nb::arg("text") = nb::none(), nb::arg("file_name") = "", nb::arg("pipeline") = nb::none(),
           nb::arg("parameters") = std::map<std::string, std::string>(), nb::arg("batch_size") = nb::none(),
           nb::arg("num_threads") = nb::none(), nb::arg("prefetch_depth") = nb::none(),
           nb::arg("seed") = nb::none(), nb::arg("exact") = nb::none(), nb::arg("on_error") = nb::none(),
           nb::arg("memory_limit") = nb::none(), nb::arg("backend") = nb::none(),
           nb::arg("device") = nb::none(), nb::arg("decoder") = nb::none(), nb::arg("tiers") = nb::none(),
           nb::arg("import_root") = nb::none(), nb::arg("nodes") = false, nb::arg("draw") = 0,
           nb::arg("limits") = std::map<std::string, int64_t>(),
           nb::arg("policies") = std::vector<std::string>(),
           nb::arg("input_types") = std::map<std::string, InputType>(),
           nb::arg("source_texts") = std::map<std::string, std::string>(),
           nb::arg("line_map") = std::vector<MadeRange>(),
           nb::arg("constants") = std::map<std::string, Constant>())
      .def_prop_ro("name", [](const Program& self) { return galatea_program_name_borrow(self.get()); })
      .def_prop_ro("seed", [](const Program& self) { return galatea_program_seed(self.get()); })
      .def_prop_ro("batch_size", [](const Program& self) { return galatea_program_batch_size(self.get()); })
      .def_prop_ro("num_outputs", [](const Program& self) { return galatea_program_num_outputs(self.get()); })
      .def_prop_ro("num_inputs", [](const Program& self) { return galatea_program_num_inputs(self.get()); })
      .def("warnings_text",
           [](const Program& self) { return galatea_program_warnings_text_borrow(self.get()); })
      .def("warnings_json",
           [](const Program& self) { return galatea_program_warnings_json_borrow(self.get()); })
      .def("ports_json",
           [](const Program& self) {
             char* text = nullptr;
             check(galatea_program_ports_json_take(self.get(), &text));
             return take_string(text);
           })
      .def("close", [](Program& self) { self.owner().reset(); });
}

}  // namespace galatea_python
