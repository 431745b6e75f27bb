#include "compiler/op/operator_json.h"

#include <algorithm>

#include "base/port_json.h"
#include "compiler/ir/attr_json.h"
#include "compiler/op/schema.h"

namespace galatea::op {

using Json = nlohmann::ordered_json;

const char* kind_name(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kKernel:
      return "kernel";
    case OperatorKind::kNative:
      return "native";
  }
  return "kernel";
}

Json to_json(const ir::Attr& attr) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, ir::None>)
          return nullptr;
        else if constexpr (std::is_same_v<T, DType>)
          return types_name(value);
        else if constexpr (std::is_same_v<T, ir::AttrList> || std::is_same_v<T, ir::AttrDict>)
          return ir::attr_json(value);
        else
          return value;
      },
      attr);
}

Json to_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) list.push_back(port_json(port));
  return list;
}

Json to_json(const Operator& op) {
  Json args = Json::object();
  for (const ArgSpec& arg : all_arguments(op)) {
    args[arg.name] = {{"type", kind_name(arg.kind)},
                      {"default", to_json(arg.default_value)},
                      {"per_sample", arg.per_sample},
                      {"required", arg.required},
                      {"documentation", arg.documentation}};
  }
  Json presets = Json::object();
  for (const Preset& preset : op.presets)
    presets[std::string(name_of(preset.peer))] = {{"differs", preset.differs}, {"refused", preset.refused}};
  return {{"name", op.name},
          {"inputs", {op.min_inputs, op.max_inputs}},
          {"input_ports", to_json(op.inputs)},
          {"output_ports", to_json(op.outputs)},
          {"output_needs", op.output_needs},
          {"outputs_argument", op.outputs_argument},
          {"gives_dictionary", op.gives_dictionary},
          {"args", std::move(args)},
          {"devices", op.devices},
          {"kind", kind_name(op.kind)},
          {"random", op.random},
          {"presets", std::move(presets)},
          {"aliases", op.aliases},
          {"summary", op.summary},
          {"documentation", op.documentation}};
}

std::vector<const Operator*> listed(const Registry& registry) {
  std::vector<const Operator*> list;
  for (const auto& op : registry.all()) {
    if (!op->internal) list.push_back(op.get());
  }
  std::sort(list.begin(), list.end(), [](const Operator* a, const Operator* b) { return a->name < b->name; });
  return list;
}

Json to_json(const std::vector<const Operator*>& operators) {
  Json list = Json::array();
  for (const Operator* op : operators) list.push_back(to_json(*op));
  return Json{{"operators", std::move(list)}};
}

Json to_json(const Registry& registry) {
  Json json = to_json(listed(registry));
  for (const auto& op : registry.texts())
    json["texts"].push_back({{"name", op->name}, {"parameters", op->parameters}});
  return json;
}

}  // namespace galatea::op
