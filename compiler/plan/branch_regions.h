// The blocks between a branch and the place where its ways come together.
//
// Comes in: a graph and a block that ends in a branch. Goes out: the blocks of each arm; and, on request, a
// graph in which each arm ends in one block, and one block follows both.
#pragma once

#include <array>
#include <set>

#include "compiler/ir/graph.h"

namespace galatea::plan {

struct BranchRegion {
  ir::BlockId join = 0;                       ///< every way from the branch passes it, and none before it
  std::array<std::set<ir::BlockId>, 2> arms;  ///< empty: the way goes straight to the join
  /// Nobody enters an arm but through the branch, and no block is of both.
  bool is_structured = false;

  bool contains(ir::BlockId block) const { return arms[0].contains(block) || arms[1].contains(block); }
};

/// Of a branch with two targets.
BranchRegion region_of(const ir::Graph& graph, ir::BlockId branch);

/// Where both arms of a structured region end.
struct ClosedRegion {
  std::array<ir::BlockId, 2> ends{};  ///< each jumps to the join
  ir::BlockId join = 0;               ///< they are its only predecessors
};
/// Adds the blocks that are missing. Merges go along; values stay in the blocks where they are.
ClosedRegion close_region(ir::Graph& graph, ir::BlockId branch);

}  // namespace galatea::plan
