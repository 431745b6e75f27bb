// Scalars that are known become constants, and branches on them become jumps.
//
// Needs: a legal graph; the registry's `constant` operator. Gives: every pure node whose definition yields
// few elements, all of which fold with what is known of its inputs and static extents, is a `constant` (so
// arithmetic on constants, casts, shapes of tensors of fixed extents, draws whose outcome is certain); a
// branch or switch on a known selector is a jump, and the ways not taken are gone. A node with a check that
// is known to fail stays, for its error to be reported where it belongs; so does a NaN, whose bits a constant
// could not keep. Stands first: every later pass sees fewer nodes.
//
//   %a = constant() {value=[2], dtype=i32} : i32[]
//   %b = constant() {value=[3], dtype=i32} : i32[]
//   %c = arith.add(%a, %b) : i32[]                    ->     %c = constant() {value=[5], dtype=i32} : i32[]
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool fold_constants(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
