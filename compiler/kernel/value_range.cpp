#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

bool contains(const ScalarRange& outer, const ScalarRange& inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}
bool fits(const ScalarRange& range, DType type) { return contains(everything(type), range); }

ScalarRange ValueRanges::of(const Expr& e) {
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const ScalarRange out = compute(e);
  known_.emplace(e.get(), out);
  keep_.push_back(e);
  return out;
}

ScalarRange ValueRanges::compute(const Expr& e) {
  if (e->kind == ExprKind::kConst) return point(e->type, e->value);
  if (e->kind == ExprKind::kParam && promised_ && is_integral(e->type) && size_of(e->type) >= 4)
    return *promised_;
  if (e->kind != ExprKind::kOp) return everything(e->type);
  SmallVector<ScalarRange, 3> args;
  for (const Expr& arg : e->args) args.push_back(of(arg));
  return range_of(e->op, e->type, e->args[0]->type, args);
}

}  // namespace galatea::kernel
