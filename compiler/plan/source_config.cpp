#include "compiler/plan/source_config.h"

#include "compiler/ir/attr_json.h"
#include "compiler/op/operator.h"

namespace galatea::plan {
std::string source_config(const ir::Node& node) {
  nlohmann::json out = nlohmann::json::object();
  for (const op::ArgSpec& spec : node.op->args) {
    const ir::Arg* arg = node.find_arg(spec.name);
    const ir::Attr& value = arg && !arg->is_value() ? arg->as_attr() : spec.default_value;
    if (!std::holds_alternative<ir::None>(value)) out[spec.name] = ir::attr_json(value);
  }
  return json_text(out);
}

std::string external_name(const ir::Node& node) { return node.name.empty() ? "input" : node.name; }

}  // namespace galatea::plan
