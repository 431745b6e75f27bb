// What only finishes a merged tensor is done in the arms.
//
// Needs: a legal graph without dead nodes. Gives: no map (pointwise work, normalisation, layout, element
// type: stages that compute each element from elements at plain places) stands after a join as the only
// reader of a merged tensor, if the last step of some arm is a map or a band that makes the tensor for nobody
// else: each arm gets a copy instead, and the join merges the copies. So an arm's kernel does the map at once
// and writes the batch itself, where otherwise every sample's pixels would go through memory once more. A
// view in between goes along. Scalars of the join that the map needs (the draw of a
// mirror) rise to the branch, if nothing in them can fail; draws keep their keys, so values stay what they
// were.
//
// Only maps sink, since each copy is compiled; only joins of few arms, for the same reason. What a stencil
// cannot take into its last store (a mirror) is done within its kernel all the same (narrow_producers).
// Nothing is speculated: a sample runs the copy of its own arm. Stands after remove_identity_arms (arms that
// remain do something) and before push_region_into_decode.
//
//   ^1: %a = brighten(%x); jump ^3                  ^1: %a = brighten(%x); %c = brighten(%a); jump ^3
//   ^2: %b = tint(%x); jump ^3               ->     ^2: %b = tint(%x); %d = brighten(%b); jump ^3
//   ^3: %m = merge(%a, %b); %y = brighten(%m)       ^3: %y = merge(%c, %d)
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool sink_tails_into_arms(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
