// GraphBuilder: nodes checked by schema and type rule; blocks and their edges.
#include <algorithm>

#include "compiler/ir/graph.h"
#include "compiler/op/lifting.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::ir {

namespace {

/// What the call was given, where the type rule complains of it.
void note_types(const Graph& graph, const GraphBuilder::NodeSpec& spec, Error& error) {
  if (error.diagnostics.empty()) return;
  std::vector<std::string>& notes = error.diagnostics.front().notes;
  auto note = [&](ValueId value, const std::string& otherwise) {
    notes.push_back(op::value_note(graph, value, otherwise, to_text(graph.type(value))));
  };
  constexpr size_t kMost = 4;
  for (size_t k = 0; k < spec.inputs.size() && k < kMost; ++k)
    note(spec.inputs[k], "input " + std::to_string(k));
  for (const Arg& arg : spec.args)
    if (arg.is_value() && notes.size() < kMost) note(arg.as_value(), "argument " + arg.name);
}

}  // namespace

BlockId GraphBuilder::add_block() {
  graph_.blocks.emplace_back();
  return static_cast<BlockId>(graph_.blocks.size() - 1);
}

Result<NodeId> GraphBuilder::add_node(NodeSpec spec) {
  GALATEA_CHECK(spec.op != nullptr, "a node needs an operator");
  GALATEA_CHECK(block_ < graph_.blocks.size(), "no insertion block");
  auto checked = op::check_call(graph_, spec);
  if (!checked) {
    note_types(graph_, spec, checked.error());
    return std::unexpected(std::move(checked.error()));
  }
  if (registry_ != nullptr && spec.op->expand) {
    const op::Lifting lifting(graph_, *spec.op, spec.inputs, spec.args);
    GALATEA_ASSIGN(const std::optional<NodeId> expanded, spec.op->expand({*this, *registry_, spec, lifting}));
    if (expanded) return *expanded;
  }
  std::vector<Type> types = std::move(*checked);
  auto id = static_cast<NodeId>(graph_.nodes.size());
  Node node;
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
    node.outputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back({std::move(types[k]), id, block_, static_cast<uint32_t>(k), {}});
  }
  graph_.nodes.push_back(std::move(node));
  graph_.blocks[block_].nodes.push_back(id);
  return id;
}

ValueId GraphBuilder::add_merge(BlockId block, Type type, std::vector<ValueId> operands, Span span) {
  Block& join = graph_.blocks[block];
  GALATEA_CHECK(operands.size() == join.predecessors.size(), "a merge has one operand per predecessor");
  auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({std::move(type), kNoId, block, static_cast<uint32_t>(join.merges.size()), {}});
  join.merges.push_back({id, std::move(operands), span});
  return id;
}

namespace {

void terminate(Graph& graph, BlockId from, Terminator terminator) {
  Terminator& slot = graph.blocks[from].terminator;
  GALATEA_CHECK(slot.kind == TerminatorKind::kNone, "the block has its end already");
  for (BlockId target : terminator.targets) {
    GALATEA_CHECK(graph.blocks[target].merges.empty(), "a block gets its predecessors before its merges");
    graph.blocks[target].predecessors.push_back(from);
  }
  slot = std::move(terminator);
}

}  // namespace

void GraphBuilder::jump(BlockId from, BlockId to, Span span) {
  terminate(graph_, from, {TerminatorKind::kJump, kNoId, {to}, {}, span});
}

void GraphBuilder::branch(BlockId from, ValueId selector, BlockId if_true, BlockId if_false, Span span) {
  GALATEA_CHECK(if_true != if_false, "the two ways of a branch differ");
  terminate(graph_, from, {TerminatorKind::kBranch, selector, {if_true, if_false}, {}, span});
}

void GraphBuilder::switch_to(BlockId from, ValueId selector, std::vector<BlockId> targets, Span span) {
  terminate(graph_, from, {TerminatorKind::kSwitch, selector, std::move(targets), {}, span});
}

void GraphBuilder::return_values(BlockId from, std::vector<ValueId> results, Span span) {
  terminate(graph_, from, {TerminatorKind::kReturn, kNoId, {}, std::move(results), span});
}

}  // namespace galatea::ir
