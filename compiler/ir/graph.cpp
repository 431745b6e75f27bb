// Graph: look-ups, orders, dominators, uses, small edits.
#include "compiler/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace galatea::ir {

int64_t Type::static_volume() const {
  int64_t volume = 1;
  bool is_empty = false, overflows = false;
  for (int64_t extent : extents) {
    if (extent < 0) return -1;
    is_empty |= extent == 0;
    overflows |= __builtin_mul_overflow(volume, extent, &volume);
  }
  // More than any tensor has must not wrap to a few.
  if (overflows) volume = is_empty ? 0 : std::numeric_limits<int64_t>::max();
  return static_cast<int>(extents.size()) == ndim ? volume : -1;
}

std::string to_text(const Type& type) {
  std::string out = fmt::format("{}[", short_name(type.dtype));
  for (int d = 0; d < type.ndim; ++d) {
    if (d) out += ',';
    int64_t extent = d < static_cast<int>(type.extents.size()) ? type.extents[static_cast<size_t>(d)] : -1;
    out += extent < 0 ? "?" : fmt::to_string(extent);
  }
  out += ']';
  if (!type.layout.empty()) out += " " + type.layout.str();
  if (type.device == Device::kGpu) out += " gpu";
  return out;
}

const Arg* Node::find_arg(std::string_view arg_name) const {
  for (const Arg& arg : args)
    if (arg.name == arg_name) return &arg;
  return nullptr;
}

const Node* Graph::defining_node(ValueId id) const {
  NodeId node_id = values[id].node;
  return node_id == kNoId ? nullptr : &nodes[node_id];
}

BlockId Graph::exit_block() const {
  for (BlockId b = 0; b < blocks.size(); ++b)
    if (blocks[b].terminator.kind == TerminatorKind::kReturn) return b;
  return kNoId;
}

std::vector<BlockId> Graph::topological_order() const {
  std::vector<BlockId> order;
  if (blocks.empty()) return order;
  std::vector<uint8_t> seen(blocks.size(), 0);
  // Depth first with a stack of its own: chains of arms may be long. Reverse postorder follows every edge
  // forwards.
  struct Visit {
    BlockId block;
    size_t next;
  };
  std::vector<Visit> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    Visit& top = stack.back();
    const auto& targets = blocks[top.block].terminator.targets;
    if (top.next < targets.size()) {
      // The last target first, so that the reversed order lists the first arm first.
      BlockId target = targets[targets.size() - 1 - top.next++];
      if (!seen[target]) {
        seen[target] = 1;
        stack.push_back({target, 0});
      }
    } else {
      order.push_back(top.block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<BlockId> Graph::immediate_dominators() const {
  std::vector<BlockId> order = topological_order();
  std::vector<size_t> position(blocks.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<BlockId> idom(blocks.size(), kNoId);
  if (order.empty()) return idom;
  idom[order[0]] = order[0];
  // The graph has no cycles, so one round in topological order is enough.
  for (size_t i = 1; i < order.size(); ++i) {
    BlockId block = order[i];
    BlockId common = kNoId;
    for (BlockId p : blocks[block].predecessors) {
      if (idom[p] == kNoId) continue;  // unreachable
      if (common == kNoId) {
        common = p;
        continue;
      }
      BlockId other = p;
      while (common != other) {
        if (position[common] > position[other])
          common = idom[common];
        else
          other = idom[other];
      }
    }
    idom[block] = common;
  }
  return idom;
}

bool Graph::dominates(BlockId a, BlockId b) const {
  std::vector<BlockId> idom = immediate_dominators();
  if (idom[b] == kNoId) return false;
  while (b != a && idom[b] != b) b = idom[b];
  return a == b;
}

std::vector<uint32_t> Graph::count_uses() const {
  std::vector<uint32_t> uses(values.size(), 0);
  for (const Block& block : blocks) {
    for (const Merge& merge : block.merges)
      for (ValueId operand : merge.operands) ++uses[operand];
    for (NodeId id : block.nodes) {
      for (ValueId input : nodes[id].inputs) ++uses[input];
      for (const Arg& arg : nodes[id].args)
        if (arg.is_value()) ++uses[arg.as_value()];
    }
    if (block.terminator.selector != kNoId) ++uses[block.terminator.selector];
    for (ValueId result : block.terminator.results) ++uses[result];
  }
  return uses;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Block& block : blocks) {
    for (Merge& merge : block.merges) std::replace(merge.operands.begin(), merge.operands.end(), from, to);
    if (block.terminator.selector == from) block.terminator.selector = to;
    auto& results = block.terminator.results;
    std::replace(results.begin(), results.end(), from, to);
  }
  for (Node& node : nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    for (Arg& arg : node.args)
      if (arg.is_value() && arg.as_value() == from) arg.value = to;
  }
}

void Graph::remove_node(NodeId id) {
  Node& gone = nodes[id];
  GALATEA_CHECK(gone.op != nullptr, "the node is removed already");
  auto& list = blocks[gone.block].nodes;
  list.erase(std::remove(list.begin(), list.end(), id), list.end());
  gone.op = nullptr;
  gone.inputs.clear();
  gone.args.clear();
}

}  // namespace galatea::ir
