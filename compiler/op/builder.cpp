// GraphBuilder: nodes checked by schema and type rule; blocks and their edges.
#include "compiler/op/builder.h"

#include <algorithm>

#include "compiler/op/lifting.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::op {

ir::BlockId GraphBuilder::add_block() {
  graph_.blocks.emplace_back();
  return static_cast<ir::BlockId>(graph_.blocks.size() - 1);
}

Result<ir::NodeId> GraphBuilder::add_node(NodeSpec spec) {
  GALATEA_CHECK(spec.op != nullptr, "a node needs an operator");
  GALATEA_CHECK(block_ < graph_.blocks.size(), "no insertion block");
  wanted_.clear();
  auto checked = check_call(graph_, spec, &wanted_);
  if (!checked) {
    note_types(graph_, spec, checked.error());
    return std::unexpected(std::move(checked.error()));
  }
  if (registry_ != nullptr && spec.op->expand) {
    const Lifting lifting(graph_, *spec.op, spec.inputs, spec.args);
    GALATEA_ASSIGN(const std::optional<ir::NodeId> expanded,
                   spec.op->expand({*this, *registry_, spec, lifting}));
    if (expanded) return *expanded;
  }
  std::vector<ir::Type> types = std::move(*checked);
  auto id = static_cast<ir::NodeId>(graph_.nodes.size());
  ir::Node node;
  node.op = spec.op;
  node.inputs = std::move(spec.inputs);
  node.args = std::move(spec.args);
  node.block = block_;
  node.span = spec.span;
  node.calls = std::move(spec.calls);
  node.key = spec.key;
  node.has_own_seed = spec.has_own_seed;
  node.name = std::move(spec.name);
  for (size_t k = 0; k < types.size(); ++k) {
    node.outputs.push_back(static_cast<ir::ValueId>(graph_.values.size()));
    graph_.values.push_back({std::move(types[k]), id, block_, static_cast<uint32_t>(k), {}});
  }
  graph_.nodes.push_back(std::move(node));
  graph_.blocks[block_].nodes.push_back(id);
  return id;
}

ir::ValueId GraphBuilder::add_merge(ir::BlockId block, ir::Type type, std::vector<ir::ValueId> operands,
                                    Span span) {
  ir::Block& join = graph_.blocks[block];
  GALATEA_CHECK(operands.size() == join.predecessors.size(), "a merge has one operand per predecessor");
  auto id = static_cast<ir::ValueId>(graph_.values.size());
  graph_.values.push_back({std::move(type), ir::kNoId, block, static_cast<uint32_t>(join.merges.size()), {}});
  join.merges.push_back({id, std::move(operands), span});
  return id;
}

namespace {

void terminate(ir::Graph& graph, ir::BlockId from, ir::Terminator terminator) {
  ir::Terminator& slot = graph.blocks[from].terminator;
  GALATEA_CHECK(slot.kind == ir::TerminatorKind::kNone, "the block has its end already");
  for (ir::BlockId target : terminator.targets) {
    GALATEA_CHECK(graph.blocks[target].merges.empty(), "a block gets its predecessors before its merges");
    graph.blocks[target].predecessors.push_back(from);
  }
  slot = std::move(terminator);
}

}  // namespace

void GraphBuilder::jump(ir::BlockId from, ir::BlockId to, Span span) {
  terminate(graph_, from, {ir::TerminatorKind::kJump, ir::kNoId, {to}, {}, span});
}

void GraphBuilder::branch(ir::BlockId from, ir::ValueId selector, ir::BlockId if_true, ir::BlockId if_false,
                          Span span) {
  GALATEA_CHECK(if_true != if_false, "the two ways of a branch differ");
  terminate(graph_, from, {ir::TerminatorKind::kBranch, selector, {if_true, if_false}, {}, span});
}

void GraphBuilder::switch_to(ir::BlockId from, ir::ValueId selector, std::vector<ir::BlockId> targets,
                             Span span) {
  terminate(graph_, from, {ir::TerminatorKind::kSwitch, selector, std::move(targets), {}, span});
}

void GraphBuilder::return_values(ir::BlockId from, std::vector<ir::ValueId> results, Span span) {
  terminate(graph_, from, {ir::TerminatorKind::kReturn, ir::kNoId, {}, std::move(results), span});
}

}  // namespace galatea::op
