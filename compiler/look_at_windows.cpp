#include "compiler/look_at_windows.h"

#include "compiler/op/recipe.h"
#include "compiler/values/value_table.h"
#include "compiler/values/windows.h"

namespace galatea {
namespace {

using kernel::Expr;

/// An operator whose one output has these elements, in symbols of the graph that it is called in.
std::unique_ptr<op::Operator> operator_of(std::vector<Expr> elements) {
  auto made = std::make_unique<op::Operator>();
  made->name = "window";
  made->define = [elements = std::move(elements)](op::RecipeBuilder& b) { b.output_scalars(0, elements); };
  return made;
}

/// First elements, then those behind the last ones.
std::vector<Expr> elements_of(const std::vector<values::Range>& window) {
  std::vector<Expr> elements;
  for (const values::Range& range : window) elements.push_back(range.begin);
  for (const values::Range& range : window) elements.push_back(range.end);
  return elements;
}

ir::ValueId call_at_end(ir::Graph& graph, ir::BlockId block, const op::Operator& op, int64_t ndim) {
  const auto node = static_cast<ir::NodeId>(graph.nodes.size());
  const auto value = static_cast<ir::ValueId>(graph.values.size());
  graph.values.push_back({{DType::kI64, 2, {}, ir::Device::kCpu, {2, ndim}}, node, block, 0, ""});
  ir::Node& call = graph.nodes.emplace_back();
  call.op = &op;
  call.outputs = {value};
  call.block = block;
  graph.blocks[block].nodes.push_back(node);
  return value;
}

}  // namespace

WindowGraph windows_as_outputs(const ir::Graph& graph) {
  WindowGraph made{graph, {}, {}};
  values::ValueTable table(graph);
  table.fill();
  const ir::BlockId exit = graph.exit_block();
  std::vector<ir::ValueId> outputs;
  for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (!node.op || !node.find_arg(values::kRegionFromArg) || !graph.dominates(node.block, exit)) continue;
    const std::vector<values::Range>& window = table.info(node.outputs[0]).window;
    if (window.empty()) continue;
    made.operators.push_back(operator_of(elements_of(window)));
    made.calls.push_back(id);
    outputs.push_back(call_at_end(made.graph, node.block, *made.operators.back(), std::ssize(window)));
  }
  made.graph.output_names.assign(outputs.size(), "");
  made.graph.blocks[exit].terminator.results = std::move(outputs);
  return made;
}

}  // namespace galatea
