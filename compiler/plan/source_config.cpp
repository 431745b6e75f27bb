#include "compiler/plan/source_config.h"

#include "base/json.h"
#include "compiler/op/operator.h"

namespace galatea::plan {
namespace {

nlohmann::json to_json(const ir::Attr& attr) {
  return std::visit(
      [](const auto& value) -> nlohmann::json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, ir::None>)
          return nullptr;
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(short_name(value));
        else
          return value;
      },
      attr);
}

}  // namespace

std::string source_config(const ir::Node& node) {
  nlohmann::json out = nlohmann::json::object();
  for (const op::ArgSpec& spec : node.op->args) {
    const ir::Arg* arg = node.find_arg(spec.name);
    const ir::Attr& value = arg && !arg->is_value() ? arg->as_attr() : spec.default_value;
    if (!std::holds_alternative<ir::None>(value)) out[spec.name] = to_json(value);
  }
  return json_text(out);
}

std::string external_name(const ir::Node& node) { return node.name.empty() ? "input" : node.name; }

}  // namespace galatea::plan
