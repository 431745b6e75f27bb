// Equal nodes are computed once.
//
// Needs: a legal graph. Gives: no two pure nodes with equal operator, inputs, arguments and key of which one
// dominates the other, except numbers: two that happen to be equal are two parameters of kernels, as two that
// differ are, so that one kernel serves both (what is computed from equal numbers is still computed once).
// Draws with different keys are different values; draws with one key are one.
// Batch-level nodes see the samples of their block, so they are left alone. Stands after fold_constants,
// which makes equal constants, and again after hoist_over_branch, which brings equal nodes together.
//
//   %a = arith.add(%x, %y)            %a = arith.add(%x, %y)
//   %b = arith.add(%x, %y)     ->     %c = arith.mul(%a, %a)
//   %c = arith.mul(%a, %b)
#pragma once

#include "compiler/passes/pass.h"

namespace galatea::passes {

bool merge_duplicates(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
