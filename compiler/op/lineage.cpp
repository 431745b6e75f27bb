#include "compiler/op/lineage.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compiler/op/operator.h"

namespace galatea::op {
namespace {

/// What a value is made from, in order.
std::vector<ir::ValueId> parents(const ir::Node& node) {
  std::vector<ir::ValueId> out = node.inputs;
  for (const ir::Arg& arg : node.args)
    if (arg.is_value()) out.push_back(arg.as_value());
  return out;
}

}  // namespace

int64_t counting_source(const ir::Graph& graph, ir::NodeId start) {
  std::unordered_set<ir::ValueId> seen;  // few of the graph's values
  std::vector<ir::ValueId> stack;
  auto push = [&](std::vector<ir::ValueId> values) {
    std::reverse(values.begin(), values.end());  // the first is looked at first
    for (ir::ValueId value : values)
      if (!seen.contains(value)) stack.push_back(value);
  };
  push(parents(graph.node(start)));
  while (!stack.empty()) {
    ir::ValueId value = stack.back();
    stack.pop_back();
    if (!seen.insert(value).second) continue;
    const ir::Node* node = graph.defining_node(value);
    if (!node) {
      push(graph.block(graph.value(value).block).merges[graph.value(value).index].operands);
    } else if (node->op->source) {
      return graph.value(value).node;
    } else {
      push(parents(*node));
    }
  }
  if (!graph.blocks.empty())
    for (ir::NodeId id : graph.block(0).nodes)
      if (graph.node(id).op->source) return id;
  return -1;
}

}  // namespace galatea::op
