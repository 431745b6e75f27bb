#include "compiler/op/known_lowerings.h"

#include <algorithm>
#include <utility>

namespace galatea::op {
namespace {

/// Calls visit(type) for each type that a definition may ask for, in the order of Known::types, until one
/// says no.
template <typename F>
bool all_types(const ir::Graph& graph, const ir::Node& node, const F& visit) {
  for (const ir::ValueId input : node.inputs)
    if (!visit(graph.type(input))) return false;
  for (const ir::Arg& arg : node.args)
    if (arg.is_value() && !visit(graph.type(arg.as_value()))) return false;
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ir::ValueId output) { return visit(graph.type(output)); });
}

/// What resamples a scaled image asks the decoder's definition.
bool reads_scaled(const ir::Graph& graph, const ir::Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ir::ValueId input) {
    const ir::Node* made = graph.defining_node(input);
    return made != nullptr && made->find_arg(kScaledForArg) != nullptr;
  });
}

bool are_equal(const ir::Arg& a, const ir::Arg& b) { return a.name == b.name && a.value == b.value; }

}  // namespace

void KnownLowerings::keep(const ir::Graph& graph, ir::NodeId id, Lowering lowering, Lineage& lineage) {
  const ir::Node& node = graph.node(id);
  if (known_.size() < graph.nodes.size()) known_.resize(graph.nodes.size());
  known_[id].reset();
  if (lowering.looks_around || reads_scaled(graph, node)) return;
  auto known = std::make_unique<Known>();
  known->op = node.op;
  known->inputs = node.inputs;
  known->outputs = node.outputs;
  known->args = node.args;
  all_types(graph, node, [&](const ir::Type& type) {
    known->types.push_back(type);
    return true;
  });
  known->span = node.span;
  if (node.op->random) known->source = lineage.counting_source(id);
  known->lowering = std::move(lowering);
  known_[id] = std::move(known);
}

const Lowering* KnownLowerings::find(const ir::Graph& graph, ir::NodeId id, Lineage* lineage) const {
  if (id >= known_.size() || !known_[id]) return nullptr;
  const Known& known = *known_[id];
  const ir::Node& node = graph.node(id);
  if (known.op != node.op || known.inputs != node.inputs || known.outputs != node.outputs ||
      known.span != node.span)
    return nullptr;
  if (!std::equal(known.args.begin(), known.args.end(), node.args.begin(), node.args.end(), are_equal))
    return nullptr;
  auto type = known.types.begin();
  if (!all_types(graph, node, [&](const ir::Type& now) { return now == *type++; })) return nullptr;
  if (reads_scaled(graph, node)) return nullptr;
  if (node.op->random && lineage != nullptr && lineage->counting_source(id) != known.source) return nullptr;
  return &known.lowering;
}

}  // namespace galatea::op
