// What is legal in a graph. Each rule is one function; the message names the value, node or block in the
// words of the printer.
#include "compiler/ir/text/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ir/text/printer.h"
#include "compiler/messages/messages.h"
#include "compiler/op/operator.h"
#include "compiler/op/schema.h"

namespace galatea::ir {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, bool types) : graph_(graph), types_(types) {}

  Status run() {
    GALATEA_TRY(check_ids());
    GALATEA_TRY(check_edges());
    order_ = graph_.topological_order();
    GALATEA_TRY(check_order());
    idom_ = graph_.immediate_dominators();
    GALATEA_TRY(check_definitions());
    for (BlockId block : order_) GALATEA_TRY(check_block(block));
    return {};
  }

 private:
  template <typename... Args>
  std::unexpected<Error> fail(Span span, fmt::format_string<Args...> text, Args&&... args) const {
    std::string message = fmt::format(text, std::forward<Args>(args)...);
    return make_error(ErrorKind::kInternal,
                      compiler::diagnostic(compiler::Message::kIllegalGraph, span, message));
  }
  /// Asked for once at most: verifying ends with its first message.
  std::string name(ValueId id) const {
    const std::vector<std::string> names = value_names(graph_);
    return id < names.size() && !names[id].empty() ? names[id] : fmt::format("value {}", id);
  }

  Status check_value_id(ValueId id, Span span) const {
    if (id >= graph_.values.size()) return fail(span, "there is no value {}", id);
    return {};
  }

  Status check_ids() const {
    if (graph_.blocks.empty()) return fail({}, "no entry block");
    for (const Node& node : graph_.nodes) {
      if (!node.op) continue;
      for (ValueId input : node.inputs) GALATEA_TRY(check_value_id(input, node.span));
      for (ValueId output : node.outputs) GALATEA_TRY(check_value_id(output, node.span));
      for (const Arg& arg : node.args)
        if (arg.is_value()) GALATEA_TRY(check_value_id(arg.as_value(), node.span));
    }
    for (const Block& block : graph_.blocks) {
      for (NodeId node : block.nodes)
        if (node >= graph_.nodes.size() || !graph_.nodes[node].op)
          return fail({}, "a block lists node {}, which is removed", node);
      for (const Merge& merge : block.merges) {
        GALATEA_TRY(check_value_id(merge.result, merge.span));
        for (ValueId operand : merge.operands) GALATEA_TRY(check_value_id(operand, merge.span));
      }
      if (block.terminator.selector != kNoId)
        GALATEA_TRY(check_value_id(block.terminator.selector, block.terminator.span));
      for (ValueId result : block.terminator.results)
        GALATEA_TRY(check_value_id(result, block.terminator.span));
      for (BlockId target : block.terminator.targets)
        if (target >= graph_.blocks.size())
          return fail(block.terminator.span, "there is no block {}", target);
    }
    return {};
  }

  Status check_edges() const {
    for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
      const Block& block = graph_.block(b);
      for (BlockId p : block.predecessors) {
        if (p >= graph_.blocks.size()) return fail({}, "there is no block {}", p);
        const auto& targets = graph_.block(p).terminator.targets;
        if (std::count(targets.begin(), targets.end(), b) != 1 ||
            std::count(block.predecessors.begin(), block.predecessors.end(), p) != 1)
          return fail(block.terminator.span,
                      "block {} lists block {} as its predecessor, but there is not exactly one edge", b, p);
      }
      for (BlockId target : block.terminator.targets) {
        const auto& back = graph_.block(target).predecessors;
        if (std::find(back.begin(), back.end(), b) == back.end())
          return fail(block.terminator.span, "block {} goes to block {}, which does not list it", b, target);
      }
    }
    if (!graph_.block(0).predecessors.empty()) return fail({}, "the entry block has predecessors");
    return {};
  }

  Status check_order() {
    std::vector<size_t> position(graph_.blocks.size(), graph_.blocks.size());
    for (size_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
    int returns = 0;
    for (BlockId b : order_) {
      const Terminator& end = graph_.block(b).terminator;
      returns += end.kind == TerminatorKind::kReturn;
      if (end.kind == TerminatorKind::kNone) return fail(end.span, "block {} has no end", b);
      for (BlockId target : end.targets)
        if (position[target] <= position[b])
          return fail(end.span, "the blocks {} and {} form a cycle", b, target);
      for (BlockId p : graph_.block(b).predecessors)
        if (position[p] == graph_.blocks.size())
          return fail({}, "block {} lists the unreachable block {}", b, p);
    }
    for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
      const Block& block = graph_.block(b);
      bool empty =
          block.nodes.empty() && block.merges.empty() && block.terminator.kind == TerminatorKind::kNone;
      if (position[b] == graph_.blocks.size() && !empty)
        return fail(block.terminator.span, "no path leads to block {}, which is not empty", b);
    }
    if (returns != 1) return fail({}, "{} blocks end in return, not one", returns);
    return {};
  }

  /// Every value is defined once, where it says; definitions_ holds its place in its block (merges first).
  Status check_definitions() {
    place_.assign(graph_.values.size(), kUndefined);
    for (BlockId b : order_) {
      int at = 0;
      const Block& block = graph_.block(b);
      for (size_t m = 0; m < block.merges.size(); ++m) {
        const Value& value = graph_.value(block.merges[m].result);
        if (value.node != kNoId || value.block != b || value.index != m)
          return fail(block.merges[m].span, "{} does not know its merge", name(block.merges[m].result));
        if (place_[block.merges[m].result] != kUndefined)
          return fail(block.merges[m].span, "{} is defined twice", name(block.merges[m].result));
        place_[block.merges[m].result] = at;
      }
      for (NodeId id : block.nodes) {
        const Node& node = graph_.node(id);
        ++at;
        if (node.block != b)
          return fail(node.span, "{} stands in block {}, but says {}", node.op->name, b, node.block);
        for (size_t k = 0; k < node.outputs.size(); ++k) {
          const Value& value = graph_.value(node.outputs[k]);
          if (value.node != id || value.block != b || value.index != k)
            return fail(node.span, "{} does not know its node", name(node.outputs[k]));
          if (place_[node.outputs[k]] != kUndefined)
            return fail(node.span, "{} is defined twice", name(node.outputs[k]));
          place_[node.outputs[k]] = at;
        }
      }
    }
    return {};
  }

  bool dominates(BlockId a, BlockId b) const {
    while (b != a && idom_[b] != b) b = idom_[b];
    return a == b;
  }

  /// Used in `block` by the node at place `at` (or by its end).
  Status check_use(ValueId id, BlockId block, int at, Span span) const {
    if (place_[id] == kUndefined) return fail(span, "{} is used, but nothing reachable defines it", name(id));
    BlockId home = graph_.value(id).block;
    if (home == block ? place_[id] >= at : !dominates(home, block))
      return fail(span, "{} is used where its definition does not come before on every path", name(id));
    return {};
  }

  Status check_merge(BlockId b, const Merge& merge) const {
    const Block& block = graph_.block(b);
    if (block.predecessors.size() < 2)
      return fail(merge.span, "block {} has merges, but fewer than two predecessors", b);
    if (merge.operands.size() != block.predecessors.size())
      return fail(merge.span, "{} does not have one operand per predecessor", name(merge.result));
    const Type& type = graph_.type(merge.result);
    for (size_t k = 0; k < merge.operands.size(); ++k) {
      GALATEA_TRY(check_use(merge.operands[k], block.predecessors[k], kEnd, merge.span));
      const Type& operand = graph_.type(merge.operands[k]);
      if (operand.dtype != type.dtype || operand.ndim != type.ndim || operand.layout != type.layout ||
          operand.device != type.device)
        return fail(merge.span, "{} is {}, but merges {} of type {}", name(merge.result), to_text(type),
                    name(merge.operands[k]), to_text(operand));
      for (size_t d = 0; d < type.extents.size(); ++d)
        if (type.extents[d] >= 0 && operand.extents[d] != type.extents[d])
          return fail(merge.span, "{} is {}, but merges {} of type {}", name(merge.result), to_text(type),
                      name(merge.operands[k]), to_text(operand));
    }
    return {};
  }

  Status check_node(BlockId b, const Node& node, int at) const {
    for (ValueId input : node.inputs) GALATEA_TRY(check_use(input, b, at, node.span));
    for (const Arg& arg : node.args)
      if (arg.is_value()) GALATEA_TRY(check_use(arg.as_value(), b, at, node.span));
    if (node.op->source && b != 0)
      return fail(node.span, "the source {} stands outside the entry block", node.op->name);
    if (node.op->random && node.key == 0)
      return fail(node.span, "the random operator {} has no key", node.op->name);
    return types_ ? check_types(node) : Status();
  }

  /// The types must be those that the operator's rule gives, but for extents: an input may have been replaced
  /// by one that is known better.
  Status check_types(const Node& node) const {
    op::GraphBuilder::NodeSpec spec{node.op, node.inputs, node.args,         node.span,
                                    {},      node.key,    node.has_own_seed, node.name};
    auto types = op::check_call(graph_, spec);
    // The call was accepted when the node was added. A rule that complains now knows more of its inputs:
    // every sample will fail, with an error of its own.
    if (!types) return {};
    if (types->size() != node.outputs.size())
      return fail(node.span, "{} has {} outputs, not {}", node.op->name, node.outputs.size(), types->size());
    for (size_t k = 0; k < types->size(); ++k) {
      const Type& found = graph_.type(node.outputs[k]);
      Type expected = (*types)[k];
      if (found.extents.size() != static_cast<size_t>(found.ndim))
        return fail(node.span, "{} has {} extents for {} dimensions", name(node.outputs[k]),
                    found.extents.size(), found.ndim);
      for (size_t d = 0; d < expected.extents.size() && d < found.extents.size(); ++d)
        if (expected.extents[d] < 0 || found.extents[d] < 0) expected.extents[d] = found.extents[d];
      if (expected != found)
        return fail(node.span, "{} is {}, but {} gives {}", name(node.outputs[k]), to_text(found),
                    node.op->name, to_text((*types)[k]));
    }
    return {};
  }

  Status check_end(BlockId b) const {
    const Terminator& end = graph_.block(b).terminator;
    size_t targets = end.targets.size();
    bool chooses = end.kind == TerminatorKind::kBranch || end.kind == TerminatorKind::kSwitch;
    bool count_fits = end.kind == TerminatorKind::kJump     ? targets == 1
                      : end.kind == TerminatorKind::kBranch ? targets == 2
                      : end.kind == TerminatorKind::kSwitch ? targets >= 1
                                                            : targets == 0;
    if (!count_fits) return fail(end.span, "the end of block {} has {} targets", b, targets);
    if (chooses != (end.selector != kNoId))
      return fail(end.span, "the end of block {} {} a selector", b, chooses ? "needs" : "must not have");
    for (ValueId result : end.results) GALATEA_TRY(check_use(result, b, kEnd, end.span));
    if (!chooses) return {};
    GALATEA_TRY(check_use(end.selector, b, kEnd, end.span));
    const Type& type = graph_.type(end.selector);
    if (!type.is_scalar())
      return fail(end.span, "the selector {} is {}, not a scalar", name(end.selector), to_text(type));
    if (end.kind == TerminatorKind::kSwitch && !is_integral(type.dtype))
      return fail(end.span, "the selector {} is {}, not an integer", name(end.selector), to_text(type));
    return {};
  }

  Status check_block(BlockId b) const {
    const Block& block = graph_.block(b);
    for (const Merge& merge : block.merges) GALATEA_TRY(check_merge(b, merge));
    int at = 0;
    for (NodeId id : block.nodes) GALATEA_TRY(check_node(b, graph_.node(id), ++at));
    return check_end(b);
  }

  static constexpr int kUndefined = -1;
  static constexpr int kEnd = 1 << 30;
  const Graph& graph_;
  bool types_;
  std::vector<BlockId> order_, idom_;
  std::vector<int> place_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph, true).run(); }
Status verify_form(const Graph& graph) { return Verifier(graph, false).run(); }

}  // namespace galatea::ir
