// The blocks between a branch and the place where its ways come together.
//
// Comes in: a graph and a block that ends in a branch of two ways or of many. Goes out: the blocks of each
// arm; and, on request, a graph in which each arm ends in one block, and one block follows all of them.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::plan {

struct BranchRegion {
  ir::BlockId join = 0;                     ///< every way from the branch passes it, and none before it
  std::vector<std::set<ir::BlockId>> arms;  ///< one for each target; empty: the way goes straight to the join
  /// Nobody enters an arm but through the branch, and no block is of two.
  bool is_structured = false;

  bool contains(ir::BlockId block) const {
    return std::ranges::any_of(arms, [&](const auto& arm) { return arm.contains(block); });
  }
};

/// Of a branch or a switch.
BranchRegion region_of(const ir::Graph& graph, ir::BlockId branch);

/// Where the arms of a structured region end.
struct ClosedRegion {
  std::vector<ir::BlockId> ends;  ///< each jumps to the join
  ir::BlockId join = 0;           ///< they are its only predecessors
};
/// Adds the blocks that are missing. Merges go along; values stay in the blocks where they are.
ClosedRegion close_region(ir::Graph& graph, ir::BlockId branch);

}  // namespace galatea::plan
