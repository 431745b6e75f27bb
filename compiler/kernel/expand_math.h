// Mathematical functions become basic operations before any code generator sees them.
//
// Comes in: an expression with kExp, kSin, kPow, … Goes out: one without, which evaluates to the same bits
// (base/math_expand.h is the one source of both).
#pragma once

#include "compiler/kernel/expr.h"

namespace galatea::kernel {

Expr expand_math(const Expr& e);

}  // namespace galatea::kernel
