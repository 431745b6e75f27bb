// The mathematical functions on cells: math_expand.h on native doubles, and integer powers.
#include "base/math_numeric.h"

#include <bit>
#include <cmath>

#include "base/math_expand.h"
#include "base/result.h"

namespace galatea {
namespace {

struct NumericMath {
  using F = double;
  using I = int64_t;
  using B = bool;
  static F real(double value) { return value; }
  static I integer(int64_t value) { return value; }
  static F select(B condition, F a, F b) { return condition ? a : b; }
  static F abs(F x) { return std::fabs(x); }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static F sqrt(F x) { return std::sqrt(x); }
  static F round(F x) { return std::nearbyint(x); }
  static F trunc(F x) { return std::trunc(x); }
  static B eq(F a, F b) { return a == b; }
  static B ne(F a, F b) { return a != b; }
  static B both(B a, B b) { return a && b; }
  static B either(B a, B b) { return a || b; }
  static B inverse(B a) { return !a; }
  static B ne_bool(B a, B b) { return a != b; }
  static I to_bits(F x) { return std::bit_cast<int64_t>(x); }
  static F from_bits(I bits) { return std::bit_cast<double>(bits); }
  static I bit_and(I a, int64_t mask) { return a & mask; }
  static I bit_or(I a, I b) { return a | b; }
  static I shift_left(I a, int count) { return static_cast<I>(static_cast<uint64_t>(a) << count); }
  static I shift_right(I a, int count) { return a >> count; }
  static B is_negative_int(I a) { return a < 0; }
  static B is_nonzero(I a) { return a != 0; }
  static F to_real(I a) { return static_cast<double>(a); }
  static I to_int(F x) {
    Cell cell{std::bit_cast<uint64_t>(x)};
    return static_cast<int64_t>(evaluate(ScalarOp::kConvert, DType::kI64, DType::kF64, &cell, nullptr).bits);
  }
};

/// base^exponent by squaring, modulo 2^bits; a negative exponent gives 0.
Cell power(DType type, Cell base, Cell exponent) {
  if (is_signed_int(type) && static_cast<int64_t>(exponent.bits) < 0) return {0};
  Cell result{1};
  uint32_t flags = 0;
  for (uint64_t bits = exponent.bits; bits != 0; bits >>= 1) {
    Cell operands[] = {result, base};
    if ((bits & 1) != 0) result = evaluate(ScalarOp::kMul, type, type, operands, &flags);
    Cell square[] = {base, base};
    base = evaluate(ScalarOp::kMul, type, type, square, &flags);
  }
  return result;
}

}  // namespace

Cell evaluate_math(ScalarOp op, DType type, const Cell* operands) {
  if (op == ScalarOp::kPowInt) {
    GALATEA_CHECK(!is_float(type), "pow_int takes integers");
    return power(type, operands[0], operands[1]);
  }
  GALATEA_CHECK(type == DType::kF32 || type == DType::kF64, std::string(name_of(op)) + " takes f32 and f64");
  double x = cell_to_double(type, operands[0]);
  double y = num_operands(op) > 1 ? cell_to_double(type, operands[1]) : 0.0;
  return cell_from_double(type, expand_math<NumericMath>(op, type, x, y));
}

}  // namespace galatea
