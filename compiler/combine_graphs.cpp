// See combine_graphs.h. One graph grows; the others are added to it, each along its trunk.
#include "compiler/combine_graphs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/messages/messages.h"
#include "compiler/op/operator.h"
#include "compiler/passes/graph_edits.h"

namespace galatea {

using namespace ir;

namespace {

/// Blocks through which every sample passes, in order.
std::vector<BlockId> trunk_of(const Graph& graph) {
  const std::vector<BlockId> idom = graph.immediate_dominators();
  std::vector<BlockId> trunk;
  for (BlockId b = graph.exit_block();; b = idom[b]) {
    trunk.push_back(b);
    if (idom[b] == b) break;
  }
  std::reverse(trunk.begin(), trunk.end());
  return trunk;
}

/// The blocks between two of the trunk, each after its predecessors.
std::vector<BlockId> blocks_between(const Graph& graph, BlockId from, BlockId to) {
  std::vector<uint8_t> reached(graph.blocks.size(), 0);
  std::vector<BlockId> inner;
  for (BlockId b : graph.topological_order()) {
    if (b != from && !reached[b]) continue;
    if (b == to) continue;
    if (b != from) inner.push_back(b);
    for (BlockId target : graph.block(b).terminator.targets) reached[target] = 1;
  }
  return inner;
}

std::vector<NodeId> sources_of(const Graph& graph) {
  std::vector<NodeId> sources;
  for (NodeId id : graph.block(0).nodes)
    if (graph.node(id).op->source) sources.push_back(id);
  return sources;
}

bool is_fork(const Graph& graph, BlockId from) {
  return graph.block(from).terminator.kind != TerminatorKind::kJump;
}

class Combiner {
 public:
  explicit Combiner(const Graph& graph) : made_(std::make_unique<Graph>(graph)) {
    const std::vector<BlockId> trunk = trunk_of(graph);
    trunk_place_.assign(graph.blocks.size(), kNowhere);
    for (size_t i = 0; i < trunk.size(); ++i) {
      trunk_place_[trunk[i]] = i;
      if (i + 1 < trunk.size() && is_fork(graph, trunk[i])) forks_.push_back({trunk[i], trunk[i + 1]});
    }
    // Each block after its predecessors, so that what is known has been computed.
    for (BlockId block : graph.topological_order())
      for (NodeId id : graph.block(block).nodes)
        if (!graph.node(id).op->source) remember(id);
    end_ = trunk.back();
    results_.push_back(made_->block(end_).terminator.results);
    made_->blocks[end_].terminator = {};
  }

  Status add(const Graph& graph) {
    from_ = &graph;
    value_.assign(graph.values.size(), kNoId);
    GALATEA_TRY(take_sources());
    const std::vector<BlockId> trunk = trunk_of(graph);
    for (size_t i = 0; i < trunk.size(); ++i) {
      for (NodeId id : graph.block(trunk[i]).nodes)
        if (!graph.node(id).op->source) take_node(id, end_);
      if (i + 1 < trunk.size()) take_blocks(trunk[i], trunk[i + 1]);
    }
    const Terminator& end = graph.block(trunk.back()).terminator;
    if (end.results.size() != results_[0].size())
      return different(end.span,
                       fmt::format("one has {} outputs, another {}", results_[0].size(), end.results.size()));
    results_.push_back(mapped(end.results));
    return {};
  }

  CombinedGraph finish(std::span<const size_t> separate, Span span) {
    CombinedGraph out;
    std::vector<ValueId> all;
    std::vector<std::string> names;
    for (size_t k = 0; k < results_[0].size(); ++k) {
      const bool same =
          std::ranges::find(separate, k) == separate.end() &&
          std::ranges::all_of(results_, [&](const auto& r) { return first(r[k]) == first(results_[0][k]); });
      for (size_t g = 0; g < (same ? 1 : results_.size()); ++g) {
        all.push_back(results_[g][k]);
        if (k < made_->output_names.size()) names.push_back(made_->output_names[k]);
        out.outputs.push_back({same ? -1 : static_cast<int>(g), k});
      }
    }
    made_->output_names = std::move(names);
    made_->blocks[end_].terminator = {TerminatorKind::kReturn, kNoId, {}, std::move(all), span};
    out.graph = std::move(made_);
    return out;
  }

 private:
  static constexpr size_t kNowhere = ~size_t{0};
  struct Fork {
    BlockId from, to;  ///< of the trunk
  };

  static std::unexpected<Error> different(Span span, const std::string& what) {
    return compiler::user_error(compiler::Message::kDifferentGraphs, span, what);
  }

  // ---- values of the graph that is made ----

  /// The first of the values that are known to be equal.
  ValueId first(ValueId value) const {
    const auto found = first_.find(value);
    return found == first_.end() ? value : found->second;
  }
  std::vector<ValueId> first(std::vector<ValueId> values) const {
    for (ValueId& value : values) value = first(value);
    return values;
  }
  /// Equal texts: equal values.
  std::string key_of(Node node) const {
    node.inputs = first(std::move(node.inputs));
    for (Arg& arg : node.args)
      if (arg.is_value()) arg.value = first(arg.as_value());
    return passes::signature(node);
  }
  bool on_trunk(BlockId block) const { return trunk_place_[block] != kNowhere; }

  /// Makes a node known, or an equal of one that is.
  void remember(NodeId id) {
    const Node& node = made_->node(id);
    std::string key = key_of(node);
    auto known = known_.find(key);
    if (known == known_.end() && !on_trunk(node.block)) {
      known = in_arms_[node.block].try_emplace(std::move(key), id).first;
    } else if (known == known_.end()) {
      known = known_.emplace(std::move(key), id).first;
    }
    for (size_t k = 0; known->second != id && k < node.outputs.size(); ++k)
      first_[node.outputs[k]] = first(made_->node(known->second).outputs[k]);
  }

  // ---- what the graph that is added becomes in the one that is made ----

  std::vector<ValueId> mapped(std::vector<ValueId> values) const {
    for (ValueId& value : values) value = value_[value];
    return values;
  }
  Node mapped(Node node) const {
    node.inputs = mapped(std::move(node.inputs));
    for (Arg& arg : node.args)
      if (arg.is_value()) arg.value = value_[arg.as_value()];
    return node;
  }
  void map_outputs(const Node& from, const Node& to) {
    for (size_t k = 0; k < from.outputs.size(); ++k) value_[from.outputs[k]] = to.outputs[k];
  }

  Status take_sources() {
    const std::vector<NodeId> theirs = sources_of(*from_), ours = sources_of(*made_);
    for (size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) {
      const Node &a = from_->node(theirs[i]), &b = made_->node(ours[i]);
      if (a.name != b.name || passes::signature(mapped(a)) != passes::signature(b))
        return different(a.span, "they read different data");
      map_outputs(a, b);
    }
    if (theirs.size() == ours.size()) return {};
    const bool more = theirs.size() > ours.size();
    return different((more ? from_->node(theirs[ours.size()]) : made_->node(ours[theirs.size()])).span,
                     "they read different data");
  }

  /// Maps a node to an equal one of the trunk, or to a copy at the end of `block`.
  void take_node(NodeId id, BlockId block) {
    const Node& from = from_->node(id);
    Node copy = mapped(from);
    if (auto known = known_.find(key_of(copy)); known != known_.end())
      return map_outputs(from, made_->node(known->second));
    const auto made = static_cast<NodeId>(made_->nodes.size());
    copy.block = block;
    for (size_t k = 0; k < from.outputs.size(); ++k) {
      Value value = from_->value(from.outputs[k]);
      value.node = made, value.block = block;
      copy.outputs[k] = value_[from.outputs[k]] = static_cast<ValueId>(made_->values.size());
      made_->values.push_back(std::move(value));
    }
    made_->nodes.push_back(std::move(copy));
    made_->blocks[block].nodes.push_back(made);
    remember(made);
  }

  ValueId add_merge(BlockId block, const Merge& from, std::vector<ValueId> operands) {
    const auto made = static_cast<ValueId>(made_->values.size());
    Value value = from_->value(from.result);
    value.block = block;
    value.index = static_cast<uint32_t>(made_->block(block).merges.size());
    made_->values.push_back(std::move(value));
    made_->blocks[block].merges.push_back({made, std::move(operands), from.span});
    return made;
  }

  /// What lies between two blocks of the trunk: a fork that is there already, or a copy.
  void take_blocks(BlockId from, BlockId to) {
    if (!is_fork(*from_, from)) return;  // the trunk goes straight on
    for (const Fork& fork : forks_)
      if (take_equal_fork(fork, from, to)) return;
    copy_blocks(from, to);
  }

  void copy_blocks(BlockId from, BlockId to) {
    std::map<BlockId, BlockId> copies = {{from, end_}};
    const std::vector<BlockId> inner = blocks_between(*from_, from, to);
    auto add_block = [&](BlockId block) {
      copies[block] = static_cast<BlockId>(made_->blocks.size());
      made_->blocks.emplace_back();
      trunk_place_.push_back(kNowhere);
    };
    for (BlockId block : inner) add_block(block);
    add_block(to);
    auto end_like = [&](BlockId block) {
      Terminator end = from_->block(block).terminator;
      if (end.selector != kNoId) end.selector = value_[end.selector];
      for (BlockId& target : end.targets) target = copies.at(target);
      made_->blocks[copies.at(block)].terminator = std::move(end);
    };
    auto begin_like = [&](BlockId block) {
      for (BlockId predecessor : from_->block(block).predecessors)
        made_->blocks[copies.at(block)].predecessors.push_back(copies.at(predecessor));
      for (const Merge& merge : from_->block(block).merges)
        value_[merge.result] = add_merge(copies.at(block), merge, mapped(merge.operands));
    };
    end_like(from);
    for (BlockId block : inner) {
      begin_like(block);
      for (NodeId id : from_->block(block).nodes) take_node(id, copies.at(block));
      end_like(block);
    }
    begin_like(to);
    forks_.push_back({end_, copies.at(to)});
    trunk_place_[copies.at(to)] = trunk_place_[end_] + 1;
    end_ = copies.at(to);
  }

  // ---- equal forks ----

  /// Blocks of the graph that is added, and those that are the same here.
  using Pairs = std::map<BlockId, BlockId>;

  bool take_equal_fork(const Fork& fork, BlockId from, BlockId to) {
    Pairs pairs = {{from, fork.from}};
    if (!pair_targets(from, fork.from, pairs)) return false;
    std::vector<ValueId> before = value_;
    if (pair_arms(fork, from, to, pairs) && merge_alike(fork, to, pairs)) return true;
    value_ = std::move(before);
    return false;
  }

  bool pair_targets(BlockId theirs, BlockId ours, Pairs& pairs) const {
    const Terminator &a = from_->block(theirs).terminator, &b = made_->block(ours).terminator;
    if (a.kind != b.kind || a.targets.size() != b.targets.size()) return false;
    if (a.selector != kNoId && first(value_[a.selector]) != first(b.selector)) return false;
    for (size_t i = 0; i < a.targets.size(); ++i)
      if (pairs.try_emplace(a.targets[i], b.targets[i]).first->second != b.targets[i]) return false;
    return true;
  }

  bool pair_arms(const Fork& fork, BlockId from, BlockId to, Pairs& pairs) {
    for (BlockId theirs : blocks_between(*from_, from, to)) {
      const BlockId ours = pairs.at(theirs);
      if (ours == fork.to || !same_predecessors(theirs, ours, pairs)) return false;
      for (const Merge& merge : from_->block(theirs).merges) {
        value_[merge.result] = find_merge(theirs, merge, ours, pairs);
        if (value_[merge.result] == kNoId) return false;
      }
      for (NodeId id : from_->block(theirs).nodes)
        if (!find_node(id, fork, ours)) return false;
      if (!pair_targets(theirs, ours, pairs)) return false;
    }
    return pairs.at(to) == fork.to && same_predecessors(to, fork.to, pairs);
  }

  bool same_predecessors(BlockId theirs, BlockId ours, const Pairs& pairs) const {
    std::vector<BlockId> a, b = made_->block(ours).predecessors;
    for (BlockId predecessor : from_->block(theirs).predecessors) a.push_back(pairs.at(predecessor));
    std::ranges::sort(a);
    std::ranges::sort(b);
    // Two edges from one block would leave open which is which.
    return a == b && std::ranges::adjacent_find(a) == a.end();
  }

  /// The operands of a merge in the order of our block's predecessors.
  std::vector<ValueId> operands_here(BlockId theirs, const Merge& merge, BlockId ours,
                                     const Pairs& pairs) const {
    const std::vector<BlockId>&a = from_->block(theirs).predecessors, &b = made_->block(ours).predecessors;
    std::vector<ValueId> operands(b.size(), kNoId);
    for (size_t i = 0; i < a.size(); ++i) {
      const auto at = std::ranges::find(b, pairs.at(a[i])) - b.begin();
      operands[static_cast<size_t>(at)] = value_[merge.operands[i]];
    }
    return operands;
  }

  ValueId find_merge(BlockId theirs, const Merge& merge, BlockId ours, const Pairs& pairs) const {
    const std::vector<ValueId> operands = first(operands_here(theirs, merge, ours, pairs));
    for (const Merge& here : made_->block(ours).merges)
      if (first(here.operands) == operands) return here.result;
    return kNoId;
  }

  /// Whether an equal node is in the block, or in the trunk before the fork.
  bool find_node(NodeId id, const Fork& fork, BlockId block) {
    const Node& from = from_->node(id);
    const std::string key = key_of(mapped(from));
    if (const auto known = known_.find(key);
        known != known_.end() && is_before(made_->node(known->second).block, fork)) {
      map_outputs(from, made_->node(known->second));
      return true;
    }
    const auto& here = in_arms_[block];
    const auto known = here.find(key);
    if (known == here.end()) return false;
    map_outputs(from, made_->node(known->second));
    return true;
  }

  bool is_before(BlockId block, const Fork& fork) const {
    return on_trunk(block) && trunk_place_[block] <= trunk_place_[fork.from];
  }

  /// Merges where the arms meet: variables join when they are first read, so there may be others here.
  bool merge_alike(const Fork& fork, BlockId to, const Pairs& pairs) {
    std::vector<uint8_t> inside(made_->blocks.size(), 0);
    for (BlockId b : blocks_between(*made_, fork.from, fork.to)) inside[b] = 1;
    auto is_there = [&](ValueId value) {
      const BlockId block = made_->value(value).block;
      return inside[block] || is_before(block, fork);
    };
    for (const Merge& merge : from_->block(to).merges)
      if (!std::ranges::all_of(mapped(merge.operands), is_there)) return false;
    for (const Merge& merge : from_->block(to).merges) {
      const ValueId found = find_merge(to, merge, fork.to, pairs);
      value_[merge.result] =
          found != kNoId ? found : add_merge(fork.to, merge, operands_here(to, merge, fork.to, pairs));
    }
    return true;
  }

  std::unique_ptr<Graph> made_;
  using Known = std::unordered_map<std::string, NodeId>;  ///< nodes by key_of()
  Known known_;                                           ///< of the trunk
  std::unordered_map<BlockId, Known> in_arms_;            ///< of the other blocks
  std::unordered_map<ValueId, ValueId> first_;            ///< of values that are not the first
  std::vector<Fork> forks_;
  std::vector<size_t> trunk_place_;  ///< of each block; kNowhere: in an arm
  BlockId end_ = 0;                  ///< of the trunk
  std::vector<std::vector<ValueId>> results_;

  const Graph* from_ = nullptr;  ///< the graph that is being added
  std::vector<ValueId> value_;   ///< of its values: those here
};

}  // namespace

Result<CombinedGraph> combine_graphs(std::span<const std::unique_ptr<Graph>> graphs,
                                     std::span<const size_t> separate) {
  GALATEA_CHECK(!graphs.empty(), "nothing to combine");
  Combiner combiner(*graphs[0]);
  for (const std::unique_ptr<Graph>& graph : graphs.subspan(1)) GALATEA_TRY(combiner.add(*graph));
  return combiner.finish(separate, graphs[0]->block(graphs[0]->exit_block()).terminator.span);
}

}  // namespace galatea
