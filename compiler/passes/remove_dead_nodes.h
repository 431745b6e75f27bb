// Nodes and merges that nothing uses go.
//
// Needs: a legal graph. Gives: every pure node and every merge has a use that reaches a result or a selector.
// Sources stay, used or not: they count epochs, and the host feeds inputs by name. Batch-level nodes go as
// others do. Stands after the passes that leave values without uses, and again after remove_identity_arms,
// which frees selectors.
//
//   %a = arith.add(%x, %y)
//   %b = arith.mul(%a, %a)     ->
//   return %x                         return %x
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool remove_dead_nodes(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
