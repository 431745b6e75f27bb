#include "compiler/passes/remove_dead_nodes.h"

#include "compiler/passes/graph_edits.h"

namespace galatea::passes {
namespace {

/// Marks the nodes and merges whose values reach a result, a selector or a source.
class Liveness {
 public:
  explicit Liveness(const ir::Graph& graph) : graph_(graph), live_(graph.values.size(), 0) {
    for (const ir::Block& block : graph.blocks) {
      if (block.terminator.selector != ir::kNoId) mark(block.terminator.selector);
      for (ir::ValueId result : block.terminator.results) mark(result);
      for (ir::NodeId id : block.nodes)
        if (graph.node(id).op->source) mark_operands(graph.node(id));
    }
    while (!work_.empty()) {
      ir::ValueId value = work_.back();
      work_.pop_back();
      if (const ir::Node* node = graph_.defining_node(value)) {
        mark_operands(*node);
      } else {
        for (ir::ValueId operand :
             graph_.block(graph_.value(value).block).merges[graph_.value(value).index].operands)
          mark(operand);
      }
    }
  }
  bool is_live(ir::ValueId value) const { return live_[value]; }
  bool is_live(const ir::Node& node) const {
    if (node.op->source) return true;
    for (ir::ValueId output : node.outputs)
      if (live_[output]) return true;
    return false;
  }

 private:
  void mark(ir::ValueId value) {
    if (live_[value]) return;
    live_[value] = 1;
    work_.push_back(value);
  }
  void mark_operands(const ir::Node& node) {
    for (ir::ValueId input : node.inputs) mark(input);
    for (const ir::Arg& arg : node.args)
      if (arg.is_value()) mark(arg.as_value());
  }

  const ir::Graph& graph_;
  std::vector<uint8_t> live_;
  std::vector<ir::ValueId> work_;
};

}  // namespace

bool remove_dead_nodes(ir::Graph& graph, const PassContext&) {
  Liveness liveness(graph);
  bool changed = false;
  for (ir::BlockId b = 0; b < graph.blocks.size(); ++b) {
    for (size_t m = graph.blocks[b].merges.size(); m-- > 0;) {
      if (liveness.is_live(graph.blocks[b].merges[m].result)) continue;
      remove_merge(graph, b, m);
      changed = true;
    }
    for (ir::NodeId id : std::vector<ir::NodeId>(graph.blocks[b].nodes)) {
      if (liveness.is_live(graph.node(id))) continue;
      graph.remove_node(id);
      changed = true;
    }
  }
  return changed;
}

}  // namespace galatea::passes
