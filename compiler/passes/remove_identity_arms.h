// Branches whose arms do nothing go.
//
// Needs: a legal graph. Gives: no merge of equal operands; no branch or switch all of whose ways lead through
// empty blocks to one block whose merges do not tell them apart; no block that alone follows a jump (its
// nodes stand in the block before). The selector's range check of a switch goes with it. Stands after
// hoist_over_branch and remove_dead_nodes, which empty arms.
//
//   ^0: branch %c ^1, ^2              ^0: return %x
//   ^1: jump ^3                ->
//   ^2: jump ^3
//   ^3(^1, ^2):
//     %y = merge(%x, %x) : f32[]
//     return %y
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool remove_identity_arms(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
