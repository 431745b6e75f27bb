#include "compiler/kernel/expand_math.h"

#include <unordered_map>

#include "base/math_expand.h"
#include "base/result.h"

namespace galatea::kernel {
namespace {

struct ExprMath {
  using F = Expr;
  using I = Expr;
  using B = Expr;
  static Expr real(double value) { return const_float(value, DType::kF64); }
  static Expr integer(int64_t value) { return const_int(value); }
  static Expr select(const Expr& condition, const Expr& a, const Expr& b) {
    return kernel::select(condition, a, b);
  }
  static Expr abs(const Expr& x) { return unary(ScalarOp::kAbs, x); }
  static Expr fma(const Expr& a, const Expr& b, const Expr& c) { return kernel::fma(a, b, c); }
  static Expr sqrt(const Expr& x) { return unary(ScalarOp::kSqrt, x); }
  static Expr round(const Expr& x) { return unary(ScalarOp::kRound, x); }
  static Expr trunc(const Expr& x) { return unary(ScalarOp::kTrunc, x); }
  static Expr eq(const Expr& a, const Expr& b) { return equal(a, b); }
  static Expr ne(const Expr& a, const Expr& b) { return not_equal(a, b); }
  static Expr both(const Expr& a, const Expr& b) { return a & b; }
  static Expr either(const Expr& a, const Expr& b) { return a | b; }
  static Expr inverse(const Expr& a) { return logical_not(a); }
  static Expr ne_bool(const Expr& a, const Expr& b) { return not_equal(a, b); }
  static Expr to_bits(const Expr& x) { return make_op(ScalarOp::kBitcast, DType::kI64, {x}); }
  static Expr from_bits(const Expr& bits) { return make_op(ScalarOp::kBitcast, DType::kF64, {bits}); }
  static Expr bit_and(const Expr& a, int64_t mask) { return a & const_int(mask); }
  static Expr bit_or(const Expr& a, const Expr& b) { return a | b; }
  static Expr shift_left(const Expr& a, int count) { return binary(ScalarOp::kShl, a, const_int(count)); }
  static Expr shift_right(const Expr& a, int count) { return binary(ScalarOp::kShr, a, const_int(count)); }
  static Expr is_negative_int(const Expr& a) { return a < const_int(0); }
  static Expr is_nonzero(const Expr& a) { return not_equal(a, const_int(0)); }
  static Expr to_real(const Expr& a) { return convert(a, DType::kF64); }
  static Expr to_int(const Expr& x) { return convert(x, DType::kI64); }
};

/// By squaring, one step per bit of the exponent (of a constant exponent: only as many as it has).
Expr expand_power(const Expr& base, const Expr& exponent) {
  DType type = base->type;
  int bits = is_bool(type) ? 1 : 8 * size_of(type);
  Expr result = const_int(1, type);
  Expr square = base;
  for (int i = 0; i < bits; ++i) {
    Expr rest = i == 0 ? exponent : binary(ScalarOp::kShr, exponent, const_int(i, type));
    if (is_const_int(rest, 0)) break;
    Expr is_set = not_equal(rest & const_int(1, type), const_int(0, type));
    result = select(is_set, result * square, result);
    square = square * square;
  }
  return is_signed_int(type) ? select(exponent < const_int(0, type), const_int(0, type), result) : result;
}

Expr expand_op(const ExprNode& node, const Operands& args) {
  if (node.op == ScalarOp::kPowInt) return expand_power(args[0], args[1]);
  Expr x = convert(args[0], DType::kF64);
  Expr y = args.size() > 1 ? convert(args[1], DType::kF64) : const_float(0, DType::kF64);
  return convert(expand_math<ExprMath>(node.op, node.type, x, y), node.type);
}

Expr expand(const Expr& e, NodeMap<Expr>& done) {
  if (e->args.empty()) return e;
  if (auto found = done.find(e.get()); found != done.end()) return found->second;
  Operands args = detail::changed_args(*e, [&](const Expr& arg) { return expand(arg, done); });
  Expr out = e;
  if (e->kind == ExprKind::kOp && is_math(e->op)) {
    out = expand_op(*e, args.empty() ? e->args : args);
  } else if (!args.empty()) {
    out = detail::with_args(*e, std::move(args));
  }
  done.emplace(e.get(), out);
  return out;
}

}  // namespace

Expr expand_math(const Expr& e) {
  NodeMap<Expr> done;
  return e ? expand(e, done) : e;
}

}  // namespace galatea::kernel
