#include "compiler/kernel/value_range.h"

namespace galatea::kernel {

bool contains(const shape::Range& outer, const shape::Range& inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}
bool fits(const shape::Range& range, DType type) { return contains(shape::everything(type), range); }

shape::Range ValueRanges::of(const Expr& e) {
  if (const auto found = known_.find(e.get()); found != known_.end()) return found->second;
  const shape::Range out = compute(e);
  known_.emplace(e.get(), out);
  keep_.push_back(e);
  return out;
}

shape::Range ValueRanges::compute(const Expr& e) {
  if (e->kind == ExprKind::kConst) return shape::point(e->type, e->value);
  if (e->kind == ExprKind::kParam && promised_ && is_integral(e->type) && size_of(e->type) >= 4)
    return *promised_;
  if (e->kind != ExprKind::kOp) return shape::everything(e->type);
  std::vector<shape::Range> args;
  for (const Expr& arg : e->args) args.push_back(of(arg));
  return shape::range_of(e->op, e->type, e->args[0]->type, args);
}

}  // namespace galatea::kernel
