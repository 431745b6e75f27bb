#include "compiler/passes/remove_identity_arms.h"

#include <algorithm>

#include "compiler/kernel/value_range.h"
#include "compiler/passes/graph_edits.h"
#include "compiler/values/value_table.h"

namespace galatea::passes {

using namespace ir;

namespace {

/// Merges whose operands are one value become that value: it dominates every predecessor, hence the join.
bool remove_equal_merges(Graph& graph) {
  bool changed = false;
  for (BlockId b : graph.topological_order()) {
    for (size_t m = graph.blocks[b].merges.size(); m-- > 0;) {
      const Merge& merge = graph.blocks[b].merges[m];
      ValueId first = merge.operands[0];
      if (std::any_of(merge.operands.begin(), merge.operands.end(), [&](ValueId v) { return v != first; }))
        continue;
      graph.replace_uses(merge.result, first);
      remove_merge(graph, b, m);
      changed = true;
    }
  }
  return changed;
}

/// Where one way of a branch leads: to the join itself, or through an empty block.
struct Way {
  BlockId via = kNoId;  ///< kNoId: straight
  BlockId join = kNoId;
};

bool is_empty_arm(const Graph& graph, BlockId b) {
  const Block& block = graph.block(b);
  return block.nodes.empty() && block.merges.empty() && block.predecessors.size() == 1 &&
         block.terminator.kind == TerminatorKind::kJump;
}

/// An index that may be of no arm is an error of the sample, whatever the arms do.
bool is_always_an_arm(const Graph& graph, const Terminator& end) {
  values::ValueTable table(graph, values::TableUse::kAnalysis);
  table.fill();
  const kernel::ScalarRange index = kernel::ValueRanges().of(table.resolve(table.element(end.selector, 0)));
  return index.low >= 0 && index.high < static_cast<kernel::Wide>(end.targets.size());
}

/// The ways of the branch that ends `b`, if all of them do nothing and meet; else empty.
std::vector<Way> idle_ways(const Graph& graph, BlockId b) {
  const Terminator& end = graph.block(b).terminator;
  if (end.kind != TerminatorKind::kBranch && end.kind != TerminatorKind::kSwitch) return {};
  std::vector<Way> ways;
  for (BlockId target : end.targets) {
    Way way{kNoId, target};
    if (is_empty_arm(graph, target)) way = {target, graph.block(target).terminator.targets[0]};
    ways.push_back(way);
  }
  // `branch c ^1, ^join` with an empty ^1, and `branch c ^1, ^2` where ^2 is empty and goes elsewhere: all
  // must meet in one block.
  BlockId join = ways[0].join;
  for (const Way& way : ways)
    if (way.join != join) return {};
  if (end.kind == TerminatorKind::kSwitch && !is_always_an_arm(graph, end)) return {};
  return ways;
}

bool remove_idle_branch(Graph& graph, BlockId b) {
  std::vector<Way> ways = idle_ways(graph, b);
  if (ways.empty()) return false;
  BlockId join = ways[0].join;
  Block& target = graph.blocks[join];
  // The merges must give the same value whichever way was taken.
  std::vector<size_t> places;
  for (const Way& way : ways) {
    BlockId from = way.via == kNoId ? b : way.via;
    auto at = std::find(target.predecessors.begin(), target.predecessors.end(), from);
    places.push_back(static_cast<size_t>(at - target.predecessors.begin()));
  }
  for (const Merge& merge : target.merges)
    for (size_t place : places)
      if (merge.operands[place] != merge.operands[places[0]]) return false;
  // The first way's edge becomes the jump's; the other edges and the empty blocks go.
  target.predecessors[places[0]] = b;
  Span span = graph.blocks[b].terminator.span;
  graph.blocks[b].terminator = {TerminatorKind::kJump, kNoId, {join}, {}, span};
  for (size_t k = 0; k < ways.size(); ++k) {
    BlockId from = ways[k].via;
    if (from != kNoId) {
      graph.blocks[from].terminator = {};
      graph.blocks[from].predecessors.clear();
    }
    if (k == 0) continue;
    // An edge straight from `b` now occurs twice: take the later one out.
    auto& predecessors = graph.blocks[join].predecessors;
    size_t place = from != kNoId
                       ? static_cast<size_t>(std::find(predecessors.begin(), predecessors.end(), from) -
                                             predecessors.begin())
                       : static_cast<size_t>(std::find(predecessors.rbegin(), predecessors.rend(), b).base() -
                                             predecessors.begin()) -
                             1;
    if (from == kNoId && place == static_cast<size_t>(std::find(predecessors.begin(), predecessors.end(), b) -
                                                      predecessors.begin()))
      continue;
    predecessors[place] = kNoId;
    remove_edge(graph, kNoId, join);
  }
  return true;
}

}  // namespace

bool remove_identity_arms(Graph& graph, const PassContext&) {
  bool changed = false, again = true;
  while (again) {
    again = remove_equal_merges(graph);
    std::vector<BlockId> order = graph.topological_order();
    // Inner branches first: an outer arm may become empty.
    for (auto b = order.rbegin(); b != order.rend(); ++b) again |= remove_idle_branch(graph, *b);
    again |= append_lone_successors(graph);
    changed |= again;
  }
  return changed;
}

}  // namespace galatea::passes
