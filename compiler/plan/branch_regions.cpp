// See branch_regions.h.
#include "compiler/plan/branch_regions.h"

#include <algorithm>
#include <map>

namespace galatea::plan {

using namespace ir;

namespace {

/// The block behind each block that no way to the end avoids, and none other of that kind before it.
std::vector<BlockId> immediate_post_dominators(const Graph& graph) {
  const std::vector<BlockId> order = graph.topological_order();
  std::vector<size_t> position(graph.blocks.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<BlockId> out(graph.blocks.size(), kNoId);
  for (size_t i = order.size(); i-- > 0;) {
    const auto& targets = graph.block(order[i]).terminator.targets;
    if (targets.empty()) {
      out[order[i]] = order[i];
      continue;
    }
    BlockId common = targets[0];
    for (BlockId other : targets)
      while (common != other) {
        if (position[common] < position[other])
          common = out[common];
        else
          other = out[other];
      }
    out[order[i]] = common;
  }
  return out;
}

std::set<BlockId> reached_from(const Graph& graph, BlockId start, BlockId end) {
  std::set<BlockId> out;
  std::vector<BlockId> work = {start};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (block == end || !out.insert(block).second) continue;
    const auto& targets = graph.block(block).terminator.targets;
    work.insert(work.end(), targets.begin(), targets.end());
  }
  return out;
}

/// A new block between some predecessors of `join` and it.
BlockId gather(Graph& graph, const std::vector<BlockId>& from, BlockId join) {
  const auto made = static_cast<BlockId>(graph.blocks.size());
  graph.blocks.emplace_back();
  Block& block = graph.blocks[made];
  Block& target = graph.blocks[join];
  block.predecessors = from;
  block.terminator = {TerminatorKind::kJump, kNoId, {join}, {}, graph.blocks[from[0]].terminator.span};
  for (BlockId p : from) std::ranges::replace(graph.blocks[p].terminator.targets, join, made);
  const auto place = [&](BlockId p) {
    return std::ranges::find(target.predecessors, p) - target.predecessors.begin();
  };
  for (Merge& merge : target.merges) {
    std::vector<ValueId> operands;
    for (BlockId p : from) operands.push_back(merge.operands[static_cast<size_t>(place(p))]);
    ValueId value = operands[0];
    if (!std::ranges::all_of(operands, [&](ValueId each) { return each == operands[0]; })) {
      value = static_cast<ValueId>(graph.values.size());
      const Value& result = graph.value(merge.result);
      graph.values.push_back({result.type, kNoId, made, static_cast<uint32_t>(block.merges.size()), {}});
      graph.values.back().variable = graph.value(merge.result).variable;
      block.merges.push_back({value, std::move(operands), merge.span});
    }
    for (BlockId p : from) merge.operands[static_cast<size_t>(place(p))] = kNoId;
    std::erase(merge.operands, kNoId);
    merge.operands.push_back(value);
  }
  for (BlockId p : from) target.predecessors.erase(target.predecessors.begin() + place(p));
  target.predecessors.push_back(made);
  return made;
}

}  // namespace

BranchRegion region_of(const Graph& graph, BlockId branch) {
  BranchRegion out;
  const auto& targets = graph.block(branch).terminator.targets;
  GALATEA_CHECK(targets.size() >= 2, "a region of something that is no branch");
  out.join = immediate_post_dominators(graph)[branch];
  std::map<BlockId, size_t> arm_of;
  bool is_apart = true;
  for (size_t arm = 0; arm < targets.size(); ++arm) {
    out.arms.push_back(reached_from(graph, targets[arm], out.join));
    for (BlockId block : out.arms[arm]) is_apart = arm_of.emplace(block, arm).second && is_apart;
  }
  const auto is_entered_alone = [&](BlockId block, size_t arm) {
    const auto& before = graph.block(block).predecessors;
    return block == targets[arm]
               ? before.size() == 1
               : std::ranges::all_of(before, [&](BlockId p) { return out.arms[arm].contains(p); });
  };
  out.is_structured = is_apart && std::ranges::all_of(arm_of, [&](const auto& each) {
                        return is_entered_alone(each.first, each.second);
                      });
  // A block with two ways to one target counts as an edge for each.
  const auto& before = graph.block(out.join).predecessors;
  out.is_structured =
      out.is_structured && std::set<BlockId>(before.begin(), before.end()).size() == before.size();
  return out;
}

ClosedRegion close_region(Graph& graph, BlockId branch) {
  const BranchRegion region = region_of(graph, branch);
  GALATEA_CHECK(region.is_structured, "the ways of a branch cross");
  ClosedRegion out;
  for (const std::set<BlockId>& arm : region.arms) {
    std::vector<BlockId> last;
    for (BlockId p : graph.block(region.join).predecessors)
      if (arm.contains(p) || (p == branch && arm.empty())) last.push_back(p);
    const bool is_closed = last.size() == 1 && graph.block(last[0]).terminator.kind == TerminatorKind::kJump;
    out.ends.push_back(is_closed ? last[0] : gather(graph, last, region.join));
  }
  out.join = graph.block(region.join).predecessors.size() == out.ends.size()
                 ? region.join
                 : gather(graph, out.ends, region.join);
  return out;
}

}  // namespace galatea::plan
