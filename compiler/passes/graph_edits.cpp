#include "compiler/passes/graph_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "compiler/op/operator.h"

namespace galatea::passes {

using namespace ir;

bool is_pure(const Node& node) { return node.op && !node.op->source && !op::sees_batch(node); }
bool is_keyless(const Node& node) { return !node.op->random && node.key == 0; }

namespace {

/// Texts of attributes as a graph's printer has them would do; making and reading them is what costs.
class SignatureWriter {
 public:
  SignatureWriter() { out_.reserve(kUsualBytes); }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void add(const T& value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(const std::string& text) {
    add(text.size());
    out_ += text;
  }
  template <typename T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& element : list) add(element);
  }
  void add(None) {}
  void add(const AttrList& list) { add(list.items); }
  void add(const AttrDict& dict) {
    add(dict.entries.size());
    for (const auto& [name, value] : dict.entries) {
      add(name);
      add(value);
    }
  }
  /// By its bits, so that 0.0 and -0.0 differ; every kind of attribute has its own number.
  void add(const Attr& attr) {
    add(attr.index());
    std::visit([this](const auto& value) { add(value); }, attr);
  }
  std::string take() { return std::move(out_); }

 private:
  static constexpr size_t kUsualBytes = 256;

  std::string out_;
};

template <typename Resolve>
std::string signature_of(const Node& node, const Resolve& resolve) {
  SignatureWriter writer;
  writer.add(node.op);
  writer.add(node.key);
  writer.add(node.has_own_seed);
  writer.add(node.inputs.size());
  for (ValueId input : node.inputs) writer.add(resolve(input));
  std::vector<const Arg*> args;
  args.reserve(node.args.size());
  for (const Arg& arg : node.args) args.push_back(&arg);
  std::sort(args.begin(), args.end(), [](const Arg* a, const Arg* b) { return a->name < b->name; });
  for (const Arg* arg : args) {
    writer.add(arg->name);
    writer.add(arg->is_value());
    if (arg->is_value())
      writer.add(resolve(arg->as_value()));
    else
      writer.add(arg->as_attr());
  }
  return writer.take();
}

}  // namespace

std::string signature(const Node& node) {
  return signature_of(node, [](ValueId value) { return value; });
}
std::string signature(const Node& node, const Replacements& replacements) {
  return signature_of(node, [&](ValueId value) { return replacements.resolve(value); });
}

Replacements::Replacements(const Graph& graph) : to_(graph.values.size()) {
  for (ValueId v = 0; v < to_.size(); ++v) to_[v] = v;
}

ValueId Replacements::resolve(ValueId value) const {
  while (value < to_.size() && to_[value] != value) value = to_[value];
  return value;
}

void Replacements::apply(Node& node) const {
  for (ValueId& input : node.inputs) input = resolve(input);
  for (Arg& arg : node.args)
    if (arg.is_value()) arg.value = resolve(arg.as_value());
}

void Replacements::apply(Block& block) const {
  for (Merge& merge : block.merges)
    for (ValueId& operand : merge.operands) operand = resolve(operand);
  if (block.terminator.selector != kNoId) block.terminator.selector = resolve(block.terminator.selector);
  for (ValueId& result : block.terminator.results) result = resolve(result);
}

void Replacements::apply(Graph& graph) const {
  for (Node& node : graph.nodes) apply(node);
  for (Block& block : graph.blocks) apply(block);
}

namespace {

void take_out(Graph& graph, NodeId node) {
  auto& list = graph.blocks[graph.nodes[node].block].nodes;
  list.erase(std::remove(list.begin(), list.end(), node), list.end());
}

void set_block(Graph& graph, NodeId node, BlockId block) {
  graph.nodes[node].block = block;
  for (ValueId output : graph.nodes[node].outputs) graph.values[output].block = block;
}

}  // namespace

void move_to_end(Graph& graph, NodeId node, BlockId block) {
  take_out(graph, node);
  set_block(graph, node, block);
  graph.blocks[block].nodes.push_back(node);
}

void move_before(Graph& graph, NodeId node, NodeId other) {
  take_out(graph, node);
  BlockId block = graph.nodes[other].block;
  set_block(graph, node, block);
  auto& list = graph.blocks[block].nodes;
  list.insert(std::find(list.begin(), list.end(), other), node);
}

void remove_merge(Graph& graph, BlockId block, size_t index) {
  auto& merges = graph.blocks[block].merges;
  graph.values[merges[index].result].index = kNoId;
  merges.erase(merges.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t m = index; m < merges.size(); ++m)
    graph.values[merges[m].result].index = static_cast<uint32_t>(m);
}

void remove_edge(Graph& graph, BlockId predecessor, BlockId block) {
  Block& target = graph.blocks[block];
  auto at = std::find(target.predecessors.begin(), target.predecessors.end(), predecessor);
  GALATEA_CHECK(at != target.predecessors.end(), "no such edge");
  auto k = at - target.predecessors.begin();
  target.predecessors.erase(at);
  for (Merge& merge : target.merges) merge.operands.erase(merge.operands.begin() + k);
  if (target.predecessors.size() != 1) return;
  for (const Merge& merge : target.merges) graph.replace_uses(merge.result, merge.operands[0]);
  target.merges.clear();
}

void jump_instead(Graph& graph, BlockId block, BlockId target) {
  std::vector<BlockId> others = graph.blocks[block].terminator.targets;
  Span span = graph.blocks[block].terminator.span;
  graph.blocks[block].terminator = {TerminatorKind::kJump, kNoId, {target}, {}, span};
  for (BlockId other : others)
    if (other != target) remove_edge(graph, block, other);
}

void remove_unreachable_blocks(Graph& graph) {
  std::vector<uint8_t> reachable(graph.blocks.size(), 0);
  for (BlockId b : graph.topological_order()) reachable[b] = 1;
  for (BlockId b = 0; b < graph.blocks.size(); ++b) {
    if (reachable[b]) continue;
    std::vector<BlockId> targets = graph.blocks[b].terminator.targets;
    graph.blocks[b].terminator = {};
    for (BlockId target : targets) remove_edge(graph, b, target);
    for (NodeId id : std::vector<NodeId>(graph.blocks[b].nodes)) graph.remove_node(id);
    graph.blocks[b].merges.clear();
  }
  for (BlockId b = 0; b < graph.blocks.size(); ++b)
    if (!reachable[b]) graph.blocks[b].predecessors.clear();
}

bool append_lone_successors(Graph& graph) {
  bool changed = false;
  for (BlockId b : graph.topological_order()) {
    while (graph.blocks[b].terminator.kind == TerminatorKind::kJump) {
      BlockId next = graph.blocks[b].terminator.targets[0];
      if (graph.blocks[next].predecessors.size() != 1) break;
      GALATEA_CHECK(graph.blocks[next].merges.empty(), "a merge needs two predecessors");
      changed = true;
      for (NodeId id : std::vector<NodeId>(graph.blocks[next].nodes)) move_to_end(graph, id, b);
      graph.blocks[b].terminator = graph.blocks[next].terminator;
      graph.blocks[next].terminator = {};
      graph.blocks[next].predecessors.clear();
      for (BlockId target : graph.blocks[b].terminator.targets) {
        auto& predecessors = graph.blocks[target].predecessors;
        std::replace(predecessors.begin(), predecessors.end(), next, b);
      }
    }
  }
  return changed;
}

}  // namespace galatea::passes
