// See scalar_bounds.h: intervals whose ends are expressions.
#include "compiler/plan/scalar_bounds.h"

namespace galatea::plan {

using kernel::ExprKind;
using kernel::ExprNode;
using kernel::SymbolKind;

namespace {

Expr zero(DType type) { return kernel::constant(type, cell_from_int(type, 0)); }

bool is_not_negative(const Expr& lower) {
  return lower && kernel::is_const(lower) && cell_to_double(lower.type(), lower->value) >= 0;
}

bool is_positive_constant(const Expr& e) {
  return kernel::is_const(e) && cell_to_double(e.type(), e->value) > 0;
}

/// Conversions that keep the order of numbers.
bool is_monotone(const ExprNode& e) {
  const DType from = e.args[0].type();
  if (e.op == ScalarOp::kSaturate) return true;
  if (e.op != ScalarOp::kConvert || is_bool(e.type)) return false;
  if (is_float(from) || is_float(e.type)) return true;
  return size_of(e.type) > size_of(from) || e.type == from ||
         (size_of(e.type) == size_of(from) && is_bool(from));
}

/// Element types so small that their limits are worth something.
bool is_small(DType type) { return is_integral(type) && size_of(type) <= 2; }

}  // namespace

ScalarBounds::ScalarBounds(const ValueTable& table, CanCompute can_compute)
    : table_(table), can_compute_(std::move(can_compute)) {}

Expr ScalarBounds::upper(const Expr& e) { return bounds(e).upper; }
Expr ScalarBounds::lower(const Expr& e) { return bounds(e).lower; }
Expr ScalarBounds::exact(const Expr& e) { return is_known(e) ? guarded(e) : Expr(); }

bool ScalarBounds::is_known(const Expr& e) {
  if (auto found = known_.find(e.get()); found != known_.end()) return found->second.second;
  bool known = e->kind == ExprKind::kConst || e->kind == ExprKind::kOp || e->kind == ExprKind::kPhilox ||
               (e->kind == ExprKind::kSymbol && can_compute_(*e));
  for (const Expr& arg : e->args) known = known && is_known(arg);
  known_.emplace(e.get(), std::pair{e, known});
  return known;
}

Expr ScalarBounds::guarded(const Expr& e) {
  if (auto found = guarded_.find(e.get()); found != guarded_.end()) return found->second;
  kernel::Operands args = kernel::detail::changed_args(*e, [&](const Expr& arg) { return guarded(arg); });
  const bool divides = e->kind == ExprKind::kOp && (e->op == ScalarOp::kDiv || e->op == ScalarOp::kRem) &&
                       is_integral(e->type) && !kernel::is_const((args.empty() ? e->args : args)[1]);
  if (divides) {
    if (args.empty()) args = e->args;
    args[1] = kernel::select(kernel::equal(args[1], zero(e->type)),
                             kernel::constant(e->type, cell_from_int(e->type, 1)), args[1]);
  }
  Expr out = args.empty() ? e : kernel::detail::with_args(*e, std::move(args));
  guarded_.emplace(e.get(), out);
  return out;
}

const ScalarBounds::Bounds& ScalarBounds::bounds(const Expr& e) {
  if (auto found = bounds_.find(e.get()); found != bounds_.end()) return found->second.second;
  Bounds made = compute(e);
  return bounds_.emplace(e.get(), std::pair{e, std::move(made)}).first->second.second;
}

ScalarBounds::Bounds ScalarBounds::compute(const Expr& e) {
  if (is_known(e)) return {guarded(e), guarded(e)};
  Bounds out;
  if (e->kind == ExprKind::kSymbol) out = of_symbol(*e);
  if (e->kind == ExprKind::kOp) out = of_operation(*e);
  if (is_small(e->type)) {
    if (!out.lower) out.lower = kernel::constant(e->type, cell_from_int(e->type, min_int(e->type)));
    if (!out.upper) out.upper = kernel::constant(e->type, cell_from_int(e->type, max_int(e->type)));
  }
  return out;
}

/// What the operands of a merge have in common.
ScalarBounds::Bounds ScalarBounds::of_merge(ir::ValueId value, const std::function<Expr(ir::ValueId)>& part) {
  for (const ir::Merge& merge : table_.graph().block(table_.graph().value(value).block).merges) {
    if (merge.result != value) continue;
    Bounds out;
    for (size_t i = 0; i < merge.operands.size(); ++i) {
      const Bounds& operand = bounds(table_.resolve(part(merge.operands[i])));
      const bool first = i == 0;
      out.lower = first                        ? operand.lower
                  : out.lower && operand.lower ? kernel::min(out.lower, operand.lower)
                                               : Expr();
      out.upper = first                        ? operand.upper
                  : out.upper && operand.upper ? kernel::max(out.upper, operand.upper)
                                               : Expr();
    }
    return out;
  }
  return {};
}

ScalarBounds::Bounds ScalarBounds::of_symbol(const ExprNode& e) {
  if (e.symbol != SymbolKind::kExtent && e.symbol != SymbolKind::kElement) return {};
  const auto value = static_cast<ir::ValueId>(e.a);
  Bounds out;
  if (table_.graph().value(value).node == ir::kNoId) {
    const auto index = static_cast<size_t>(e.b);
    out = of_merge(value, [&](ir::ValueId operand) {
      return e.symbol == SymbolKind::kExtent ? table_.info(operand).extents.at(index)
                                             : table_.element(operand, e.b);
    });
  }
  if (e.symbol == SymbolKind::kExtent && !out.lower) out.lower = zero(e.type);
  return out;
}

ScalarBounds::Bounds ScalarBounds::of_operation(const ExprNode& e) {
  std::vector<Bounds> args;
  for (const Expr& arg : e.args) args.push_back(bounds(arg));
  auto both = [&](ScalarOp op, const Expr& a, const Expr& b) {
    return a && b ? kernel::make_op(op, e.type, {a, b}) : Expr();
  };
  auto one = [&](const Expr& a) { return a ? kernel::make_op(e.op, e.type, {a}) : Expr(); };
  switch (e.op) {
    case ScalarOp::kAdd:
      return {both(e.op, args[0].lower, args[1].lower), both(e.op, args[0].upper, args[1].upper)};
    case ScalarOp::kSub:
      return {both(e.op, args[0].lower, args[1].upper), both(e.op, args[0].upper, args[1].lower)};
    case ScalarOp::kNeg:
      return {one(args[0].upper), one(args[0].lower)};
    case ScalarOp::kMul:
      if (!is_not_negative(args[0].lower) || !is_not_negative(args[1].lower)) return {};
      return {both(e.op, args[0].lower, args[1].lower), both(e.op, args[0].upper, args[1].upper)};
    case ScalarOp::kDiv:
      if (!is_positive_constant(e.args[1])) return {};
      return {both(e.op, args[0].lower, e.args[1]), both(e.op, args[0].upper, e.args[1])};
    case ScalarOp::kAnd:  // rounding up to a multiple, mostly
      if (is_bool(e.type) || !is_not_negative(args[0].lower)) return {};
      return {zero(e.type), args[0].upper};
    case ScalarOp::kMin:
      return {both(e.op, args[0].lower, args[1].lower),
              args[0].upper && args[1].upper      ? both(e.op, args[0].upper, args[1].upper)
              : args[1].upper || is_float(e.type) ? args[1].upper  // of a NaN and b, b is taken
                                                  : args[0].upper};
    case ScalarOp::kMax:
      return {args[0].lower && args[1].lower      ? both(e.op, args[0].lower, args[1].lower)
              : args[1].lower || is_float(e.type) ? args[1].lower
                                                  : args[0].lower,
              both(e.op, args[0].upper, args[1].upper)};
    case ScalarOp::kSelect: {
      Expr condition = exact(e.args[0]);
      auto either = [&](ScalarOp op, const Expr& a, const Expr& b) {
        if (!a || !b || is_bool(e.type)) return Expr();
        return condition ? kernel::select(condition, a, b) : kernel::make_op(op, e.type, {a, b});
      };
      return {either(ScalarOp::kMin, args[1].lower, args[2].lower),
              either(ScalarOp::kMax, args[1].upper, args[2].upper)};
    }
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kTrunc:
    case ScalarOp::kRound:
    case ScalarOp::kRoundAway:
      return {one(args[0].lower), one(args[0].upper)};
    case ScalarOp::kConvert:
    case ScalarOp::kSaturate:
      if (!is_monotone(e)) return {};
      return {one(args[0].lower), one(args[0].upper)};
    default:
      return {};
  }
}

}  // namespace galatea::plan
