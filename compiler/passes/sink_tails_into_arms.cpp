#include "compiler/passes/sink_tails_into_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/op/recipe.h"
#include "compiler/passes/graph_edits.h"

namespace galatea::passes {

using namespace ir;
using kernel::Expr;
using op::LoweredOutput;
using op::Lowering;

namespace {

constexpr size_t kMaxArms = 8;
/// On a GPU the arms of a policy are one launch, and what stands behind them would be one more.
constexpr size_t kMaxArmsOnGpu = 64;
/// Fewer elements are scalars of the sample program.
constexpr int64_t kFewElements = 32;

class TailSinker {
 public:
  TailSinker(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), uses_(graph.count_uses()), idom_(graph.immediate_dominators()) {}

  bool run() {
    bool changed = false;
    std::vector<BlockId> order = graph_.topological_order();
    // Later joins first: what has sunk into an arm that ends in a join of its own can sink on.
    for (size_t b = order.size(); b-- > 0;)
      while (sink_from(order[b])) changed = true;
    return changed;
  }

 private:
  struct Tail {
    NodeId node;
    size_t input;  ///< the one that is merged
    size_t merge;
    std::vector<NodeId> lifted;  ///< scalars of the join, in order
  };

  bool sink_from(BlockId join) {
    const Block& block = graph_.block(join);
    const size_t most = context_.for_gpu ? kMaxArmsOnGpu : kMaxArms;
    if (block.predecessors.size() < 2 || block.predecessors.size() > most || block.merges.empty())
      return false;
    for (NodeId id : block.nodes) {
      std::optional<Tail> tail = as_tail(id, join);
      if (!tail) continue;
      sink(*tail, join);
      return true;
    }
    return false;
  }

  std::ptrdiff_t num_sources() const {
    const auto& nodes = graph_.block(0).nodes;
    return std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return graph_.node(id).op->source; });
  }

  bool is_tensor(ValueId value) const {
    const int64_t volume = graph_.type(value).static_volume();
    return volume < 0 || volume > kFewElements;
  }

  const Lowering* lowering(NodeId id) {
    const Node& node = graph_.node(id);
    if (!is_pure(node) || !node.op->define || node.op->kind != op::OperatorKind::kKernel) return nullptr;
    auto [at, is_new] = lowerings_.try_emplace(id);
    if (is_new) at->second = op::lower_node(graph_, id);
    return &at->second;
  }

  std::optional<Tail> as_tail(NodeId id, BlockId join) {
    const Node& node = graph_.node(id);
    if (node.outputs.size() != 1 || !is_tensor(node.outputs[0])) return std::nullopt;
    // A draw counts by the source that its data comes from: in an arm that could be another one.
    if (!is_keyless(node) && num_sources() > 1) return std::nullopt;
    const Lowering* definition = lowering(id);
    if (!definition) return std::nullopt;
    Tail tail{id, 0, 0, {}};
    bool found = false;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Value& input = graph_.value(node.inputs[k]);
      if (input.node != kNoId || input.block != join || !is_tensor(node.inputs[k])) continue;
      if (found || uses_[node.inputs[k]] != 1) return std::nullopt;
      found = true;
      tail.input = k;
      tail.merge = input.index;
    }
    if (!found || !finishes(*definition, id, static_cast<int>(tail.input), join)) return std::nullopt;
    if (!can_join_an_arm(join, tail.merge)) return std::nullopt;
    for (size_t k = 0; k < node.inputs.size(); ++k)
      if (k != tail.input && !can_lift(node.inputs[k], join, tail.lifted)) return std::nullopt;
    for (const Arg& arg : node.args)
      if (arg.is_value() && !can_lift(arg.as_value(), join, tail.lifted)) return std::nullopt;
    return tail;
  }

  /// Maps that read the input at plain places; or a view whose only reader is such a map.
  bool finishes(const Lowering& definition, NodeId id, int input, BlockId join) {
    if (definition.outputs.size() != 1 || !definition.native_scalars.empty()) return false;
    const LoweredOutput& output = definition.outputs[0];
    if (output.kind == LoweredOutput::Kind::kView) return !output.reshape && feeds_a_map(id, join);
    if (output.kind != LoweredOutput::Kind::kStage) return false;
    return std::all_of(definition.stages.begin(), definition.stages.end(), [&](const kernel::Stage& stage) {
      return stage.form == kernel::StageForm::kMap && reads_at_plain_places(stage.body, input);
    });
  }

  bool feeds_a_map(NodeId view, BlockId join) {
    const ValueId shown = graph_.node(view).outputs[0];
    if (uses_[shown] != 1) return false;
    for (NodeId id : graph_.block(join).nodes) {
      const Node& node = graph_.node(id);
      auto at = std::find(node.inputs.begin(), node.inputs.end(), shown);
      if (at == node.inputs.end()) continue;
      const Lowering* definition = lowering(id);
      return definition && node.outputs.size() == 1 &&
             finishes(*definition, id, static_cast<int>(at - node.inputs.begin()), join);
    }
    return false;
  }

  static bool reads_at_plain_places(const Expr& body, int input) {
    bool plain = true;
    kernel::for_each_node(body, [&](const Expr& e) {
      if (e->kind != kernel::ExprKind::kLoad) return;
      const bool from_input = e->target.kind == kernel::LoadTarget::Kind::kInput && e->target.index == input;
      kernel::Affine form;
      for (const Expr& index : e->args) plain = plain && (!from_input || kernel::match_affine(index, &form));
    });
    return plain;
  }

  /// In one arm at least, a kernel makes the operand for this join alone.
  bool can_join_an_arm(BlockId join, size_t merge) {
    const Block& block = graph_.block(join);
    for (size_t e = 0; e < block.predecessors.size(); ++e) {
      const ValueId operand = block.merges[merge].operands[e];
      const BlockId arm = block.predecessors[e];
      if (graph_.block(arm).terminator.kind == TerminatorKind::kJump && graph_.value(operand).block == arm &&
          is_made_by_kernel(operand, arm))
        return true;
    }
    return false;
  }

  /// Whether a kernel of the arm makes the value for nobody else, so that the tail becomes its last step.
  bool is_made_by_kernel(ValueId value, BlockId arm) {
    const Value& made = graph_.value(value);
    if (made.block != arm || uses_[value] != 1) return false;
    // A merge of an inner join: the tail sinks on from there.
    if (made.node == kNoId) return can_join_an_arm(arm, made.index);
    const Lowering* definition = lowering(made.node);
    if (!definition) return false;
    const LoweredOutput& output = definition->outputs[made.index];
    if (output.kind == LoweredOutput::Kind::kView)
      return !output.reshape &&
             is_made_by_kernel(graph_.node(made.node).inputs[static_cast<size_t>(output.input)], arm);
    if (output.kind != LoweredOutput::Kind::kStage) return false;
    const kernel::StageForm form = definition->stages[static_cast<size_t>(output.stage)].form;
    return form == kernel::StageForm::kMap || form == kernel::StageForm::kBand;
  }

  /// Whether the value is known in every arm, once the nodes in `lifted` stand before the branch.
  bool can_lift(ValueId value, BlockId join, std::vector<NodeId>& lifted) {
    const Value& known = graph_.value(value);
    if (known.block != join || known.node == kNoId) return true;  // of merges, each arm has the operand
    if (std::find(lifted.begin(), lifted.end(), known.node) != lifted.end()) return true;
    const Node& node = graph_.node(known.node);
    const Lowering* definition = lowering(known.node);
    if (!definition || is_tensor(value) || !definition->native_scalars.empty()) return false;
    const bool cannot_fail =
        std::all_of(definition->checks.begin(), definition->checks.end(), [](const op::Check& check) {
          return kernel::is_const(check.condition) && kernel::const_value(check.condition) != 0;
        });
    auto liftable = [&](ValueId v) {
      const bool merged = graph_.value(v).block == join && graph_.value(v).node == kNoId;
      return !merged && can_lift(v, join, lifted);
    };
    if (!cannot_fail || !std::all_of(node.inputs.begin(), node.inputs.end(), liftable)) return false;
    for (const Arg& arg : node.args)
      if (arg.is_value() && !liftable(arg.as_value())) return false;
    lifted.push_back(known.node);
    return true;
  }

  void sink(const Tail& tail, BlockId join) {
    for (NodeId id : tail.lifted) move_to_end(graph_, id, idom_[join]);
    const ValueId old = graph_.node(tail.node).outputs[0];
    std::vector<ValueId> results;
    const size_t num_edges = graph_.block(join).predecessors.size();
    for (size_t e = 0; e < num_edges; ++e) results.push_back(copy_into_arm(tail, join, e));
    const ValueId merged = add_merge(join, results, old);
    graph_.replace_uses(old, merged);
    context_.remark(
        fmt::format("{} is done at the end of each of {} arms", graph_.node(tail.node).op->name, num_edges),
        graph_.node(tail.node).span);
    graph_.remove_node(tail.node);
    remove_merge(graph_, join, tail.merge);
    uses_ = graph_.count_uses();
    idom_ = graph_.immediate_dominators();
  }

  ValueId copy_into_arm(const Tail& tail, BlockId join, size_t edge) {
    const BlockId arm = arm_of(join, edge);
    Node copy = graph_.node(tail.node);
    auto on_edge = [&](ValueId value) {
      const Value& known = graph_.value(value);
      return known.node == kNoId && known.block == join
                 ? graph_.block(join).merges[known.index].operands[edge]
                 : value;
    };
    for (ValueId& input : copy.inputs) input = on_edge(input);
    for (Arg& arg : copy.args)
      if (arg.is_value()) arg.value = on_edge(arg.as_value());
    const auto id = static_cast<NodeId>(graph_.nodes.size());
    Value result = graph_.value(copy.outputs[0]);
    result.node = id;
    result.block = copy.block = arm;
    copy.outputs = {static_cast<ValueId>(graph_.values.size())};
    graph_.values.push_back(std::move(result));
    graph_.nodes.push_back(std::move(copy));
    graph_.blocks[arm].nodes.push_back(id);
    return graph_.nodes[id].outputs[0];
  }

  /// The block whose end is this edge's alone: the predecessor, or a new block on the edge.
  BlockId arm_of(BlockId join, size_t edge) {
    const BlockId from = graph_.block(join).predecessors[edge];
    if (graph_.block(from).terminator.kind == TerminatorKind::kJump) return from;
    const auto arm = static_cast<BlockId>(graph_.blocks.size());
    const auto& before = graph_.block(join).predecessors;
    // Two edges of one branch may lead here; they stand in the same order on both sides.
    const auto nth = std::count(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(edge), from);
    Block block;
    block.predecessors = {from};
    block.terminator = {TerminatorKind::kJump, kNoId, {join}, {}, graph_.block(from).terminator.span};
    graph_.blocks.push_back(std::move(block));
    graph_.blocks[join].predecessors[edge] = arm;
    auto& targets = graph_.blocks[from].terminator.targets;
    auto at = targets.begin();
    for (std::ptrdiff_t n = 0; (at = std::find(at, targets.end(), join)) != targets.end() && n < nth; ++n)
      ++at;
    GALATEA_CHECK(at != targets.end(), "no such edge");
    *at = arm;
    return arm;
  }

  ValueId add_merge(BlockId join, std::vector<ValueId> operands, ValueId like) {
    Value value = graph_.value(like);
    value.node = kNoId;
    value.block = join;
    value.index = static_cast<uint32_t>(graph_.block(join).merges.size());
    const auto result = static_cast<ValueId>(graph_.values.size());
    const Span span = graph_.node(graph_.value(like).node).span;
    graph_.values.push_back(std::move(value));
    graph_.blocks[join].merges.push_back({result, std::move(operands), span});
    return result;
  }

  Graph& graph_;
  const PassContext& context_;
  std::vector<uint32_t> uses_;
  std::vector<BlockId> idom_;
  std::map<NodeId, Lowering> lowerings_;
};

}  // namespace

bool sink_tails_into_arms(Graph& graph, const PassContext& context) {
  return TailSinker(graph, context).run();
}

}  // namespace galatea::passes
