// Element arithmetic: see numeric.h.
#include "stdlib_ops/arith/numeric.h"

#include <limits>

namespace galatea::ops {
namespace {

Expr float_remainder(DType type, const Expr& a, const Expr& b) {
  // In f64: trunc of the quotient may be one too large where the division rounds up to an integer, so the
  // result is put right by its sign.
  const Expr x = to_f64(a), y = to_f64(b);
  const Expr q = kernel::unary(ScalarOp::kTrunc, x / y);
  const Expr r = kernel::fma(-q, y, x);
  const Expr wrong = select(x<f64(0), r> f64(0), r < f64(0));
  const Expr fixed = select(wrong, select((y < f64(0)) ^ (x < f64(0)), r - y, r + y), r);
  const Expr infinite =
      equal(absolute(y), kernel::const_float(std::numeric_limits<double>::infinity(), DType::kF64));
  const Expr finite_x =
      absolute(x) < kernel::const_float(std::numeric_limits<double>::infinity(), DType::kF64);
  return kernel::convert(select(infinite & finite_x, x, fixed), type);
}

}  // namespace

Expr in_type(DType type, ScalarOp op, const Expr& a, const Expr& b) {
  const DType compute = compute_type(type);
  return kernel::convert(kernel::binary(op, kernel::convert(a, compute), kernel::convert(b, compute)), type);
}

Expr compare(ScalarOp op, const Expr& a, const Expr& b) {
  const DType ta = a.type(), tb = b.type();
  const bool u64_with_signed =
      (ta == DType::kU64 && is_signed_int(tb)) || (tb == DType::kU64 && is_signed_int(ta));
  if (!u64_with_signed) {
    const DType compute = compute_type(promote(ta, tb));
    const DType wide = compute == DType::kBool ? DType::kU8 : compute;
    return kernel::binary(op, kernel::convert(a, wide), kernel::convert(b, wide));
  }
  // A negative operand decides by itself; otherwise both fit u64.
  const Expr zero = i64(0);
  const Expr compared = kernel::binary(op, kernel::convert(a, DType::kU64), kernel::convert(b, DType::kU64));
  if (is_signed_int(ta)) {
    const bool if_negative = op == ScalarOp::kLt || op == ScalarOp::kLe || op == ScalarOp::kNe;
    return select(to_i64(a) < zero, truth(if_negative), compared);
  }
  const bool if_negative = op == ScalarOp::kGt || op == ScalarOp::kGe || op == ScalarOp::kNe;
  return select(to_i64(b) < zero, truth(if_negative), compared);
}

std::string bools_alone(std::string_view operation, int num_inputs) {
  return fmt::format("'{}' is not defined for {}", operation, num_inputs > 1 ? "bools alone" : "a bool");
}

Expr remainder(DType type, const Expr& a, const Expr& b) {
  if (is_float(type))
    return float_remainder(type, kernel::convert(a, compute_type(type)),
                           kernel::convert(b, compute_type(type)));
  return in_type(type, ScalarOp::kRem, a, b);
}

}  // namespace galatea::ops
