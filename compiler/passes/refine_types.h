// Extents that follow from what is known better by now.
//
// Needs: a legal graph. Gives: every merge has the extents that all its operands share, and every node's
// outputs those that its type rule finds for the inputs as they are now; known extents stay. Only extents
// change. A rule that complains now that more is known is left to complain when the sample is made: then the
// types stay. Stands after the passes that replace a value by one of a better known type (a merge by its
// operand, a scalar by a constant); before the plan, which makes one buffer of outputs whose extents are all
// known.
//
//   %y = crop(%x) {size=[8, 8]} : u8[8,8,3] HWC              %y = crop(%x) {size=[8, 8]} : u8[8,8,3] HWC
//   %z = brighten(%y) : u8[?,?,3] HWC                  ->    %z = brighten(%y) : u8[8,8,3] HWC
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool refine_types(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
