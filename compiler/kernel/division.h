// Divisions that may raise the flag of a division by zero.
//
// Comes in: expressions and stages. Goes out: whether computing one may raise it. Only integers do: floats
// divide by zero as IEEE 754 says. A constant says by itself whether it is zero, and so does the larger of
// something and a positive constant; of whatever else divides, passes and loops take it that it may be, and
// who has the time asks for its range.
#pragma once

#include "compiler/kernel/kernel.h"

namespace galatea::kernel {

/// Of an integer: whether the ranges of what it is made of leave that open.
bool may_be_zero(const Expr& e);
/// Whether an integer says by its form that it is not zero.
bool is_never_zero(const Expr& divisor);
/// The divisor where the node divides integers (kDiv, kRem) by what may be zero; null where it does not. Its
/// operands are not looked at.
const Expr* doubtful_divisor(const ExprNode& node);
/// Whether a division in `e`, at any depth, may be by zero.
bool may_divide_by_zero(const Expr& e);
/// The same of any expression of a stage: computing it at fewer elements, or at more, may change its flags.
bool may_raise_flag(const Stage& stage);

}  // namespace galatea::kernel
