#include "compiler/op/lineage.h"

#include <utility>

#include "compiler/op/operator.h"

namespace galatea::op {
namespace {

constexpr int64_t kNone = -1, kUnknown = -2;

/// What a node's outputs are made from, in order.
std::vector<ir::ValueId> parents(const ir::Node& node) {
  std::vector<ir::ValueId> out = node.inputs;
  for (const ir::Arg& arg : node.args)
    if (arg.is_value()) out.push_back(arg.as_value());
  return out;
}

int64_t first_source(const ir::Graph& graph) {
  if (graph.blocks.empty()) return kNone;
  for (ir::NodeId id : graph.block(0).nodes)
    if (graph.node(id).op->source) return id;
  return kNone;
}

}  // namespace

Lineage::Lineage(const ir::Graph& graph)
    : graph_(graph), above_(graph.values.size(), kUnknown), first_source_(first_source(graph)) {}

int64_t Lineage::counting_source(ir::NodeId node) {
  for (ir::ValueId parent : parents(graph_.node(node)))
    if (int64_t source = source_above(parent); source != kNone) return source;
  return first_source_;
}

int64_t Lineage::source_above(ir::ValueId start) {
  struct Visit {
    ir::ValueId value;
    std::vector<ir::ValueId> parents;
    size_t next = 0;
  };
  std::vector<Visit> path;  // graphs are deeper than the stack
  auto enter = [&](ir::ValueId value) {
    const ir::Node* node = graph_.defining_node(value);
    if (!node)
      path.push_back(
          {value, graph_.block(graph_.value(value).block).merges[graph_.value(value).index].operands});
    else if (node->op->source)
      above_[value] = graph_.value(value).node;
    else
      path.push_back({value, parents(*node)});
  };
  if (above_[start] == kUnknown) enter(start);
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next == visit.parents.size()) {
      above_[visit.value] = kNone;
      path.pop_back();
      continue;
    }
    ir::ValueId parent = visit.parents[visit.next];
    if (above_[parent] == kUnknown) {
      enter(parent);  // and then this parent again
    } else if (above_[parent] == kNone) {
      ++visit.next;
    } else {
      above_[visit.value] = above_[parent];
      path.pop_back();
    }
  }
  return above_[start];
}

int64_t counting_source(const ir::Graph& graph, ir::NodeId node) {
  return Lineage(graph).counting_source(node);
}

}  // namespace galatea::op
