// Rewrites that hold for every value, NaN, infinities and signed zeros included; see simplify_expr.h.
#include <cmath>
#include <unordered_map>
#include <vector>

#include "compiler/kernel/simplify_expr.h"

namespace galatea::kernel {
namespace {

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

/// A number that is 1 or 0, as a condition decides.
struct Choice {
  Expr condition;
  bool if_true = true, if_false = false;
};

bool match_choice(const Expr& e, Choice* out) {
  if (!is_integral(e->type) || is_bool(e->type)) return false;
  if (is_op(e, ScalarOp::kConvert) && is_bool(e->args[0]->type)) {
    *out = {e->args[0], true, false};
    return true;
  }
  if (!is_op(e, ScalarOp::kSelect)) return false;
  for (size_t i : {size_t{1}, size_t{2}})
    if (!is_const_int(e->args[i], 0) && !is_const_int(e->args[i], 1)) return false;
  *out = {e->args[0], is_const_int(e->args[1], 1), is_const_int(e->args[2], 1)};
  return true;
}

/// Policies choose by multiplying with masks: mask * x + (1 - mask) * y is select(mask, x, y).
Expr simplify_mask(const Expr& e) {
  if (!is_integral(e->type) || is_bool(e->type) || e->args.size() != 2) return {};
  const Expr &a = e->args[0], &b = e->args[1];
  const Expr zero = const_int(0, e->type);
  Choice choice;
  if (e->op == ScalarOp::kMul) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      if (!match_choice(e->args[i], &choice)) continue;
      const Expr& x = e->args[1 - i];
      return select(choice.condition, choice.if_true ? x : zero, choice.if_false ? x : zero);
    }
    return {};
  }
  if (e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      if (!is_const(e->args[1 - i]) || !match_choice(e->args[i], &choice)) continue;
      const auto with = [&](bool one) {
        const Expr number = const_int(one ? 1 : 0, e->type);
        return i == 0 ? binary(e->op, number, b) : binary(e->op, a, number);
      };
      return select(choice.condition, with(choice.if_true), with(choice.if_false));
    }
  }
  // Two choices of one condition, of which each leaves the other alone.
  if (e->op != ScalarOp::kAdd && e->op != ScalarOp::kOr && e->op != ScalarOp::kXor) return {};
  if (!is_op(a, ScalarOp::kSelect) || !is_op(b, ScalarOp::kSelect) || !same(a->args[0], b->args[0]))
    return {};
  const auto sum = [&](size_t i) {
    return is_const_int(a->args[i], 0) ? b->args[i] : is_const_int(b->args[i], 0) ? a->args[i] : Expr();
  };
  const Expr if_true = sum(1), if_false = sum(2);
  return if_true && if_false ? select(a->args[0], if_true, if_false) : Expr();
}

/// Whether the low bits of `e` come from the low bits of what it is made of, which costs nothing to narrow.
bool has_narrow_parts(const Expr& e, DType to) {
  if (!is_integral(e->type) || is_bool(e->type)) return false;
  if (is_const(e) || e->kind == ExprKind::kParam) return true;
  if (e->kind != ExprKind::kOp) return false;
  switch (e->op) {
    case ScalarOp::kConvert:
      return is_integral(e->args[0]->type) && size_of(e->args[0]->type) <= size_of(to);
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kNeg:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
      for (const Expr& arg : e->args)
        if (!has_narrow_parts(arg, to)) return false;
      return true;
    default:
      return false;
  }
}

/// u8(i32(x) + i32(y)) is x + y in u8: sums, products and bits wrap alike in every width.
Expr narrow_arithmetic(const Expr& e) {
  if (!is_op(e, ScalarOp::kConvert) || !is_integral(e->type) || is_bool(e->type)) return {};
  const Expr& x = e->args[0];
  if (!is_integral(x->type) || size_of(x->type) <= size_of(e->type) || x->kind != ExprKind::kOp ||
      x->op == ScalarOp::kConvert || !has_narrow_parts(x, e->type))
    return {};
  Operands args;
  for (const Expr& arg : x->args) args.push_back(convert(arg, e->type));
  return make_op(x->op, e->type, std::move(args));
}

/// The middle of a pixel along an axis: f32(axis) + 0.5, finite and positive.
bool is_pixel_centre(const Expr& e) {
  if (!is_op(e, ScalarOp::kAdd) || !is_converted_int(e->args[0]) || !is_const(e->args[1])) return false;
  Expr place = e->args[0];
  while (is_op(place, ScalarOp::kConvert)) place = place->args[0];
  return place->kind == ExprKind::kAxis && cell_to_double(e->type, e->args[1]->value) > 0;
}

/// A matrix without slant: -0 * x + y is y, +0 * x + y is y + 0 (which makes +0 of -0).
Expr drop_zero_slant(const Expr& e) {
  if (!is_op(e, ScalarOp::kFma) || !is_float(e->type) || !is_const(e->args[0]) ||
      is_user_constant(e->args[0]))
    return {};
  const double slant = cell_to_double(e->type, e->args[0]->value);
  if (slant != 0 || !is_pixel_centre(e->args[1])) return {};
  return std::signbit(slant) ? e->args[2] : e->args[2] + e->args[0];
}

Expr simplify_node(const Expr& e) {
  if (e->kind != ExprKind::kOp) return {};
  if (Expr out = drop_zero_slant(e)) return out;
  if (Expr out = clamp_instead_of_integer(e)) return out;
  if (Expr out = narrow_arithmetic(e)) return out;
  if (e->op == ScalarOp::kConvert || e->op == ScalarOp::kSaturate) return simplify_conversion(e);
  if (Expr out = simplify_mask(e)) return out;
  if (Expr out = drop_idle_bound(e)) return out;
  if (Expr out = simplify_rounding(e)) return out;
  return simplify_logic(e);
}

class Simplifier {
 public:
  Expr run(const Expr& e) {
    if (e->args.empty()) return e;
    if (auto found = done_.find(e.get()); found != done_.end()) return found->second;
    Operands args = detail::changed_args(*e, [&](const Expr& arg) { return run(arg); });
    Expr out = args.empty() ? e : detail::with_args(*e, std::move(args));
    // Each rewrite removes an operation, or lowers a conversion or moves it down, so this ends.
    if (const Expr next = simplify_node(out)) out = run(next);
    done_.emplace(e.get(), out);
    keep_.push_back(e);
    return out;
  }

 private:
  NodeMap<Expr> done_;
  std::vector<Expr> keep_;  ///< nodes whose addresses are keys above
};

}  // namespace

Expr simplified(const Expr& e) { return Simplifier().run(e); }

}  // namespace galatea::kernel
