// Cheaper expressions with the same bits.
//
// Comes in: an expression as recipes, passes or inlining leave it. Goes out: one with the same value for
// every value of its leaves, and the same flags. Building already folds constants; here stand the rewrites
// that need a look at two or three operations at once.
#pragma once

#include "compiler/kernel/expr.h"

namespace galatea::kernel {

Expr simplified(const Expr& e);

}  // namespace galatea::kernel
