// See division.h.
#include "compiler/kernel/division.h"

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

bool may_be_zero(const Expr& e) {
  const ScalarRange range = ValueRanges().of(e);
  return range.low <= 0 && range.high >= 0;
}

bool is_never_zero(const Expr& divisor) {
  if (is_const(divisor)) return divisor->value.bits != 0;
  return divisor->kind == ExprKind::kOp && divisor->op == ScalarOp::kMax && is_const(divisor->args[1]) &&
         const_value(divisor->args[1]) > 0;
}

const Expr* doubtful_divisor(const ExprNode& node) {
  if (node.kind != ExprKind::kOp || is_float(node.type)) return nullptr;
  if (node.op != ScalarOp::kDiv && node.op != ScalarOp::kRem) return nullptr;
  const Expr& divisor = node.args[1];
  return is_never_zero(divisor) ? nullptr : &divisor;
}

bool may_divide_by_zero(const Expr& e) {
  return lowering::any_node(e, [](const ExprNode& node) { return doubtful_divisor(node) != nullptr; });
}

bool may_raise_flag(const Stage& stage) {
  bool found = false;
  lowering::for_each_stage_expr(stage, [&](const Expr& e) { found = found || may_divide_by_zero(e); });
  return found;
}

}  // namespace galatea::kernel
