// Rewrites that hold for every value, NaN, infinities and signed zeros included; see simplify_expr.h.
//
// Comes in: expressions as recipes and other passes leave them. Goes out: cheaper ones. Building already
// folds constants; here stand the rewrites that need a look at two or three operations at once.
#include <unordered_map>

#include "compiler/kernel/simplify_expr.h"

namespace galatea::kernel {
namespace {

bool is_op(const Expr& e, ScalarOp op) { return e->kind == ExprKind::kOp && e->op == op; }

/// Every value of `from` is a value of `to`, so that converting there and back changes nothing.
bool holds_exactly(DType to, DType from) {
  if (to == from || is_bool(from)) return true;
  if (is_bool(to)) return false;
  if (is_float(from)) return is_float(to) && size_of(to) >= size_of(from);
  if (is_float(to)) {
    int digits = to == DType::kF64 ? 53 : to == DType::kF32 ? 24 : 11;
    return 8 * size_of(from) - (is_signed_int(from) ? 1 : 0) <= digits;
  }
  if (is_signed_int(from)) return is_signed_int(to) && size_of(to) >= size_of(from);
  return size_of(to) > size_of(from) || (is_unsigned_int(to) && size_of(to) == size_of(from));
}

/// A float expression that has no fraction and is not NaN or -0: a converted integer.
bool is_converted_int(const Expr& e) {
  return (is_op(e, ScalarOp::kConvert) || is_op(e, ScalarOp::kSaturate)) && is_float(e->type) &&
         is_integral(e->args[0]->type);
}
bool is_rounding(const Expr& e) {
  return e->kind == ExprKind::kOp && e->op >= ScalarOp::kFloor && e->op <= ScalarOp::kRoundAway;
}

Expr simplify_conversion(const Expr& e) {
  const Expr& x = e->args[0];
  bool saturates = e->op == ScalarOp::kSaturate;
  // Nothing to clamp or round.
  if (saturates && !is_bool(e->type) && is_integral(x->type) && holds_exactly(e->type, x->type))
    return convert(x, e->type);
  if (saturates && is_float(e->type)) return convert(x, e->type);
  if (saturates && is_integral(e->type) && !is_bool(e->type) && is_op(x, ScalarOp::kRound))
    return saturate(x->args[0], e->type);
  // An integer that already lies in the range, as a float.
  bool is_int_type = is_integral(e->type) && !is_bool(e->type);
  if (is_int_type && is_converted_int(x) && holds_exactly(e->type, x->args[0]->type) &&
      holds_exactly(x->type, x->args[0]->type)) {
    return convert(x->args[0], e->type);
  }
  if (!is_op(x, ScalarOp::kConvert)) return {};
  const Expr& inner = x->args[0];
  // f16 goes through f32 for good reason (see make_op).
  if (inner->type == DType::kF16 || e->type == DType::kF16) return {};
  if (!holds_exactly(x->type, inner->type)) {
    // Integers: the low bits stay the low bits.
    bool low_bits = !saturates && is_int_type && is_integral(x->type) && is_integral(inner->type) &&
                    !is_bool(x->type) && size_of(e->type) <= size_of(x->type);
    return low_bits ? convert(inner, e->type) : Expr();
  }
  // From a float both conversions clamp; from an integer kConvert would wrap.
  bool clamps = saturates || (is_int_type && is_float(x->type) && is_integral(inner->type));
  return clamps ? saturate(inner, e->type) : convert(inner, e->type);
}

/// f32(saturate_u8(x)): rounding and clamping stay in f32. max comes first, so that NaN and -0 become +0 as
/// in the integer.
Expr clamp_instead_of_integer(const Expr& e) {
  if (!is_op(e, ScalarOp::kConvert) || e->type != DType::kF32 || !is_op(e->args[0], ScalarOp::kSaturate))
    return {};
  DType through = e->args[0]->type;
  const Expr& x = e->args[0]->args[0];
  if ((through != DType::kU8 && through != DType::kU16) || x->type != DType::kF32) return {};
  Expr rounded = is_converted_int(x) || is_rounding(x) ? x : unary(ScalarOp::kRound, x);
  return min(max(rounded, const_float(0)), const_float(static_cast<double>(max_int(through))));
}

/// The range of a converted small integer.
bool known_range(const Expr& e, double* low, double* high) {
  if (is_const(e)) {
    *low = *high = cell_to_double(e->type, e->value);
    return *low == *low;
  }
  if (!is_converted_int(e) || size_of(e->args[0]->type) > 2) return false;
  *low = static_cast<double>(min_int(e->args[0]->type));
  *high = static_cast<double>(max_int(e->args[0]->type));
  return true;
}

/// min and max of a converted integer with a bound that it cannot cross. On equality both sides are the same
/// number, and +0 both.
Expr drop_idle_bound(const Expr& e) {
  if (!is_op(e, ScalarOp::kMin) && !is_op(e, ScalarOp::kMax)) return {};
  if (e->type != DType::kF32 || !is_const(e->args[1])) return {};
  double low = 0;
  double high = 0;
  double bound = cell_to_double(e->type, e->args[1]->value);
  if (is_const(e->args[0]) || !known_range(e->args[0], &low, &high)) return {};
  bool negative_zero = bound == 0 && e->args[1]->value.bits != 0;
  if (negative_zero) return {};
  bool idle = e->op == ScalarOp::kMin ? high <= bound : low >= bound;
  return idle ? e->args[0] : Expr();
}

Expr simplify_rounding(const Expr& e) {
  if (!is_rounding(e) || !is_float(e->type)) return {};
  return is_converted_int(e->args[0]) || is_rounding(e->args[0]) ? e->args[0] : Expr();
}

Expr simplify_logic(const Expr& e) {
  if (is_op(e, ScalarOp::kNot)) {
    const Expr& x = e->args[0];
    if (is_op(x, ScalarOp::kNot)) return x->args[0];
    // Comparisons of integers (floats: NaN is neither less nor not less).
    if (!is_bool(e->type) || x->kind != ExprKind::kOp || !is_comparison(x->op) ||
        !is_integral(x->args[0]->type))
      return {};
    static constexpr ScalarOp kOpposite[] = {ScalarOp::kNe, ScalarOp::kEq, ScalarOp::kGe,
                                             ScalarOp::kGt, ScalarOp::kLe, ScalarOp::kLt};
    return binary(kOpposite[static_cast<int>(x->op) - static_cast<int>(ScalarOp::kEq)], x->args[0],
                  x->args[1]);
  }
  if (!is_op(e, ScalarOp::kSelect)) return {};
  const Expr& condition = e->args[0];
  const Expr& a = e->args[1];
  const Expr& b = e->args[2];
  if (is_op(condition, ScalarOp::kNot)) return select(condition->args[0], b, a);
  if (is_op(a, ScalarOp::kSelect) && same(a->args[0], condition)) return select(condition, a->args[1], b);
  if (is_op(b, ScalarOp::kSelect) && same(b->args[0], condition)) return select(condition, a, b->args[2]);
  if (is_bool(e->type) && is_const_int(a, 1) && is_const_int(b, 0)) return condition;
  return {};
}

Expr simplify_node(const Expr& e) {
  if (e->kind != ExprKind::kOp) return {};
  if (Expr out = clamp_instead_of_integer(e)) return out;
  if (e->op == ScalarOp::kConvert || e->op == ScalarOp::kSaturate) return simplify_conversion(e);
  if (Expr out = drop_idle_bound(e)) return out;
  if (Expr out = simplify_rounding(e)) return out;
  return simplify_logic(e);
}

Expr simplify_expr(const Expr& e, std::unordered_map<const ExprNode*, Expr>& done) {
  if (auto found = done.find(e.get()); found != done.end()) return found->second;
  bool changed = false;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) {
    args.push_back(simplify_expr(arg, done));
    changed |= args.back().get() != arg.get();
  }
  Expr out = changed ? detail::with_args(*e, std::move(args)) : e;
  // Each rewrite removes an operation or lowers a conversion, so this ends.
  for (Expr next = simplify_node(out); next; next = simplify_node(out)) out = next;
  done.emplace(e.get(), out);
  return out;
}

}  // namespace

Expr simplified(const Expr& e) {
  std::unordered_map<const ExprNode*, Expr> done;
  return simplify_expr(e, done);
}

}  // namespace galatea::kernel
