// What every arm computes is computed once, before the branch.
//
// Needs: a legal graph. Gives: no pure, keyless node stands with equal inputs in every arm of a branch while
// its inputs are known before the branch. Never speculates: every sample that reaches the branch would have
// computed the node anyway. Draws stay (their keys differ by call path); batch-level nodes stay (an arm is a
// smaller batch). Inner branches first, so that a node can rise over several. Stands after merge_duplicates,
// so that inputs are equal ids; the merges that become trivial are remove_identity_arms' to take away.
//
//   ^0: branch %c ^1, ^2                            ^0: %a = math.sqrt(%x)
//   ^1: %a = math.sqrt(%x); %b = arith.neg(%a)  ->      branch %c ^1, ^2
//   ^2: %d = math.sqrt(%x); …                       ^1: %b = arith.neg(%a)
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool hoist_over_branch(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
