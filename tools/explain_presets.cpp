#include "tools/explain_presets.h"

#include <fmt/core.h>

#include "compiler/op/compat.h"
#include "compiler/op/schema.h"

namespace galatea::tools {

std::string describe_presets(const ir::Graph& graph, const SourceMap& sources) {
  std::string text;
  for (const ir::Node& node : graph.nodes) {
    if (node.op == nullptr) continue;
    const op::Compat compat = op::compat_of(node.args);
    const op::Preset* preset = op::find_preset(*node.op, compat);
    if (preset == nullptr) continue;
    const std::string place = node.span.valid() ? " (" + sources.describe(node.span) + ")" : "";
    text += fmt::format("  {}{}: {}'s numbers in place of DALI's\n    {}\n", op::display_name(*node.op),
                        place, op::library_of(compat), preset->differs);
  }
  return text.empty() ? text : "\npresets\n" + text;
}

}  // namespace galatea::tools
