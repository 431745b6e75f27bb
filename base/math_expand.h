// exp, log, sin, pow and the rest as fixed sequences of basic operations.
//
// Comes in: an arithmetic M that says what numbers are: NumericMath (native doubles, used by evaluate()) or
// ExprMath (expressions, used by the compiler). Goes out: the function's value, or the expression that
// computes it. Both run this one source, so interpreter, bytecode and generated code agree in every bit.
//
// Everything is computed in f64; the f32 functions round the f64 result once, so they err by less than 0.501
// ulp. (Their logarithms come from one double instead of two; with two, `decibels` of `./dev bench asr` takes
// 1.7 times as long.) The f64 functions err by less than 1 ulp (exp, log, log2, log10, sin, cos, pow, cbrt),
// 1.5 ulp (rsqrt), 2 ulp (atan) or 4 ulp (the others). sin, cos and tan hold this for |x| < 2^31. Up to 2^64,
// which is every integer, they err by 2^-70 beside that, which is far below an ulp of f32; beyond, the
// reduction has too few bits: the result is some number in the function's range. Special values are those of C99.
//
// Methods, all textbook: exp(x) = 2^k exp(r); log by 2 atanh((m-1)/(m+1)) in two doubles; sin and cos by
// reduction to [-pi/4, pi/4] in parts of pi/2 (twice, of large angles); atan by two reductions; the polynomials are Taylor
// series, cut where the rest is under 2^-57.
#pragma once

#include <cstdint>

#include "base/scalar_op.h"

namespace galatea {

/// M has: types F (f64), I (i64), B (bool); real(double), integer(int64_t); operators + - * / and < > <= >=
/// on F, + - on I; and the functions used below.
template <typename M>
struct MathExpand {
  using F = typename M::F;
  using I = typename M::I;
  using B = typename M::B;

  static constexpr double kInfinity = __builtin_inf();
  static constexpr double kNan = __builtin_nan("");
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
  // Forty bits, so that a product with an exponent is exact, and the rest.
  static constexpr double kLn2High = 0x1.62e42fefa2p-1, kLn2Low = 0x1.9ef35793c7673p-41;
  static constexpr double kLog2E = 0x1.71547652b82fep+0, kLog2ERest = 0x1.777d0ffda0d24p-56;
  static constexpr double kLog10E = 0x1.bcb7b1526e50ep-2, kLog10ERest = 0x1.95355baaafad3p-57;
  static constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
  static constexpr double kPi = 0x1.921fb54442d18p+1, kPiRest = 0x1.1a62633145c07p-53;
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

  static F real(double value) { return M::real(value); }
  static F choose(B condition, F a, F b) { return M::select(condition, a, b); }
  static F abs(F x) { return M::abs(x); }
  static B is_nan(F x) { return M::ne(x, x); }
  static B is_infinite(F x) { return M::eq(abs(x), real(kInfinity)); }
  /// The magnitude of a with the sign of b.
  static F copy_sign(F a, F b) {
    return M::from_bits(
        M::bit_or(M::bit_and(M::to_bits(a), INT64_MAX), M::bit_and(M::to_bits(b), INT64_MIN)));
  }
  static B is_negative(F x) { return M::is_negative_int(M::to_bits(x)); }

  /// c[0] + x (c[1] + x (…))
  template <int N>
  static F polynomial(F x, const double (&c)[N]) {
    F sum = real(c[N - 1]);
    for (int i = N - 2; i >= 0; --i) sum = M::fma(sum, x, real(c[i]));
    return sum;
  }

  // ---- exponentials

  /// 2^k for k in [-1022, 1023].
  static F power_of_two(I k) { return M::from_bits(M::shift_left(k + M::integer(1023), 52)); }

  /// exp(x + low) * 2^extra; `low` is small beside x.
  static F exp_scaled(F x, F low, int extra) {
    F limited = choose(x > real(1100), real(1100), choose(x < real(-1100), real(-1100), x));
    F multiple = M::round(limited * real(kLog2E));
    // The first step is exact: both sides are multiples of 2^-53 and the difference is below 1.
    F r = M::fma(-multiple, real(kLn2), limited) + M::fma(-multiple, real(kLn2Rest), low);
    static constexpr double kCoefficients[] = {1.0,
                                               1.0,
                                               1.0 / 2,
                                               1.0 / 6,
                                               1.0 / 24,
                                               1.0 / 120,
                                               1.0 / 720,
                                               1.0 / 5040,
                                               1.0 / 40320,
                                               1.0 / 362880,
                                               1.0 / 3628800,
                                               1.0 / 39916800,
                                               1.0 / 479001600,
                                               1.0 / 6227020800};
    F p = polynomial(r, kCoefficients);
    // In two steps, so that only the last one rounds a subnormal result.
    I k = M::to_int(multiple) + M::integer(extra);
    I half = M::shift_right(k, 1);
    return choose(is_nan(x), x, p * power_of_two(half) * power_of_two(k - half));
  }
  static F exp(F x) { return exp_scaled(x, real(0), 0); }

  /// exp(x) - 1 for |x| <= 1.
  static F exp_minus_one_small(F x) {
    static constexpr double kCoefficients[] = {1.0,
                                               1.0 / 2,
                                               1.0 / 6,
                                               1.0 / 24,
                                               1.0 / 120,
                                               1.0 / 720,
                                               1.0 / 5040,
                                               1.0 / 40320,
                                               1.0 / 362880,
                                               1.0 / 3628800,
                                               1.0 / 39916800,
                                               1.0 / 479001600,
                                               1.0 / 6227020800,
                                               1.0 / 87178291200,
                                               1.0 / 1307674368000,
                                               1.0 / 20922789888000,
                                               1.0 / 355687428096000,
                                               1.0 / 6402373705728000,
                                               1.0 / 121645100408832000};
    return x * polynomial(x, kCoefficients);
  }

  // ---- logarithms

  struct Pair {
    F high, low;
  };
  static Pair fast_sum(F a, F b) {  // |a| >= |b| or a = 0
    F sum = a + b;
    return {sum, (a - sum) + b};
  }
  static Pair product(F a, F b) {
    F high = a * b;
    return {high, M::fma(a, b, -high)};
  }

  /// A positive, finite, normal number as m * 2^exponent, m in [sqrt(1/2), sqrt(2)].
  struct Split {
    F m, exponent;
  };
  static Split split(F x) {
    I bits = M::to_bits(x);
    F m = M::from_bits(M::bit_or(M::bit_and(bits, 0x000FFFFFFFFFFFFF), M::integer(0x3FF0000000000000)));
    F exponent = M::to_real(M::shift_right(bits, 52) - M::integer(1023));
    B upper = m > real(0x1.6a09e667f3bcdp+0);  // sqrt(2)
    return {choose(upper, m * real(0.5), m), choose(upper, exponent + real(1), exponent)};
  }

  /// log(x) of a positive finite number to about 2^-64 of its size.
  static Pair log_pair(F x) {
    B subnormal = x < real(0x1p-1022);
    auto [m, exponent] = split(choose(subnormal, x * real(0x1p54), x));
    exponent = exponent - choose(subnormal, real(54), real(0));
    // s = (m-1)/(m+1) in two parts; m-1 is exact.
    F f = m - real(1);
    F d = real(1) + m;
    F d_low = m - (d - real(1));
    F s = f / d;
    F s_low = (M::fma(-s, d, f) - s * d_low) / d;
    Pair z = product(s, s);
    z.low = M::fma(real(2) * s, s_low, z.low);
    // log m = 2s (1 + w), w = z/3 + z^2/5 + …
    static constexpr double kCoefficients[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                               1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    F rest = z.high * polynomial(z.high, kCoefficients);
    Pair t = fast_sum(real(1.0 / 3), rest);
    t.low = t.low + real(0x1.5555555555555p-56);
    Pair w = product(z.high, t.high);
    w.low = w.low + z.high * t.low + z.low * t.high;
    F u = real(2) * s;
    Pair v = product(u, w.high);
    F v_low = v.low + u * w.low + real(2) * s_low * w.high;
    Pair sum = fast_sum(u, v.high);
    sum.low = sum.low + v_low + real(2) * s_low;
    Pair out = fast_sum(exponent * real(kLn2High), sum.high);
    out.low = out.low + sum.low + exponent * real(kLn2Low);
    return out;
  }
  /// The value for finite positive x, what C99 says for the rest.
  static F log_special(F x, F value) {
    F at_zero = choose(M::eq(x, real(0)), real(-kInfinity), real(kNan));
    return choose(x > real(0), choose(is_infinite(x), x, value), at_zero);
  }
  static F log(F x) {
    Pair l = log_pair(x);
    return log_special(x, l.high + l.low);
  }
  static F log_base(F x, double factor, double factor_rest) {
    Pair l = log_pair(x);
    Pair p = product(l.high, real(factor));
    return log_special(x, p.high + (p.low + l.high * real(factor_rest) + l.low * real(factor)));
  }
  static F log2(F x) { return log_base(x, kLog2E, kLog2ERest); }
  static F log10(F x) { return log_base(x, kLog10E, kLog10ERest); }
  /// factor * log(x) of an f32, none of which is subnormal as an f64, to 2^-44 of its size; `of_two` is
  /// factor * log(2).
  static F log_of_single(F x, double factor, double of_two) {
    const auto [m, exponent] = split(x);
    F s = (m - real(1)) / (m + real(1));
    F z = s * s;
    static constexpr double kCoefficients[] = {2.0 / 3,  2.0 / 5,  2.0 / 7, 2.0 / 9,
                                               2.0 / 11, 2.0 / 13, 2.0 / 15};
    F log_m = M::fma(s * z, polynomial(z, kCoefficients), s + s);
    return log_special(x, M::fma(exponent, real(of_two), log_m * real(factor)));
  }
  /// log(1 + x); the sign of a zero is lost.
  static F log1p(F x) {
    F w = real(1) + x;
    F back = w - x;
    F error = (x - (w - back)) + (real(1) - back);
    return choose(is_infinite(w), w, log(w) + error / w);
  }

  // ---- powers

  static F pow(F x, F y) {
    F ax = abs(x);
    Pair l = log_pair(ax);
    Pair p = product(y, l.high);
    p.low = M::fma(y, l.low, p.low);
    B large = abs(p.high) > real(2000);
    F core = exp_scaled(p.high, choose(large, real(0), p.low), 0);
    B y_negative = y < real(0);
    F at_zero = choose(y_negative, real(kInfinity), real(0));
    F at_infinity = choose(y_negative, real(0), real(kInfinity));
    F magnitude = choose(M::eq(ax, real(0)), at_zero, choose(is_infinite(ax), at_infinity, core));
    // An infinite exponent: towards infinity where |x|^y grows.
    F grows = choose(M::either(M::both(ax > real(1), y > real(0)), M::both(ax < real(1), y_negative)),
                     real(kInfinity), real(0));
    magnitude = choose(is_infinite(y), choose(M::eq(ax, real(1)), real(1), grows), magnitude);
    F half = y * real(0.5);
    B is_whole = M::eq(M::trunc(y), y);
    B is_odd = M::both(is_whole, M::both(M::ne(M::trunc(half), half), abs(y) < real(0x1p53)));
    F with_sign = choose(is_odd, copy_sign(magnitude, x), magnitude);
    B undefined = M::both(M::both(x < real(0), M::inverse(is_infinite(x))), M::inverse(is_whole));
    F out = choose(undefined, real(kNan), with_sign);
    out = choose(M::either(is_nan(x), is_nan(y)), x + y, out);
    return choose(M::either(M::eq(x, real(1)), M::eq(y, real(0))), real(1), out);
  }

  static F cbrt(F x) {
    F ax = abs(x);
    B tiny = ax < real(0x1p-900);
    F a = choose(tiny, ax * real(0x1p162), ax);
    Pair l = log_pair(a);
    F y = exp_scaled((l.high + l.low) / real(3), real(0), 0);
    // One Newton step with the exact square.
    Pair square = product(y, y);
    F residual = M::fma(-square.high, y, a) - square.low * y;
    y = y + residual / (real(3) * square.high);
    y = choose(tiny, y * real(0x1p-54), y);
    B as_is = M::either(M::eq(x, real(0)), M::either(is_infinite(x), is_nan(x)));
    return choose(as_is, x, copy_sign(y, x));
  }
  static F rsqrt(F x) { return real(1) / M::sqrt(x); }

  // ---- trigonometry

  struct Reduced {
    F high, low;
    I quadrant;
  };
  static Pair difference(F a, F b) {
    F high = a - b;
    F back = a - high;
    return {high, (back - b) + (a - (high + back))};
  }
  static Pair sum_of(F a, F b) {
    F high = a + b;
    F back = high - a;
    return {high, (a - (high - back)) + (b - back)};
  }
  /// x without turns of 2^32 pi/2, which leave a quadrant as it is: at most 2^31 pi/2 is left. A smaller x
  /// stays as it is.
  static Pair without_many_turns(F x) {
    F n = M::round(x * real(kTwoOverPi * 0x1p-32));
    // In parts of at most 21 bits: products with n < 2^32 and the first two differences are exact.
    F r = M::fma(-n, real(0x1.921fbp+32), x);
    r = M::fma(-n, real(0x1.5110bp+10), r);
    Pair a = difference(r, n * real(0x1.18469p-12));
    Pair b = difference(a.high, n * real(0x1.13198p-33));
    return {b.high, M::fma(-n, real(0x1.45c06e0e68948p-54), a.low + b.low)};
  }
  static Reduced reduce_angle(F angle) {
    Pair x = without_many_turns(angle);
    F n = M::round(x.high * real(kTwoOverPi));
    // pi/2 in parts of at most 22 bits: products with n of up to 2^31 and the first two differences are exact.
    F r = M::fma(-n, real(0x1.921fbp+0), x.high);
    r = M::fma(-n, real(0x1.5110bp-22), r);
    Pair a = difference(r, n * real(0x1.1846980p-44));
    F rest = M::fma(-n, real(0x1.3198a2e037073p-69), a.low) + x.low;
    Pair sum = sum_of(a.high, rest);
    F high = choose(sum.high > real(0.8), real(0.8), choose(sum.high < real(-0.8), real(-0.8), sum.high));
    B outside = abs(sum.high) > real(0.8);
    return {high, choose(outside, real(0), sum.low), M::to_int(n)};
  }
  static F sin_core(const Reduced& r) {
    static constexpr double kCoefficients[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    F z = r.high * r.high;
    F cubic = r.high * z * polynomial(z, kCoefficients);
    return r.high + (cubic + r.low * (real(1) - real(0.5) * z));
  }
  static F cos_core(const Reduced& r) {
    static constexpr double kCoefficients[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
    F z = r.high * r.high;
    F half = real(0.5) * z;
    F w = real(1) - half;
    F rest = ((real(1) - w) - half) + (z * z * polynomial(z, kCoefficients) - r.high * r.low);
    return w + rest;
  }
  static B has_bit(I value, int64_t bit) { return M::is_nonzero(M::bit_and(value, bit)); }
  /// Below 2^-27 sin x and tan x round to x, and the sign of a zero is kept.
  static F or_tiny(F x, F value) { return choose(abs(x) < real(0x1p-27), x, value); }
  static F sin(F x) {
    Reduced r = reduce_angle(x);
    F value = choose(has_bit(r.quadrant, 1), cos_core(r), sin_core(r));
    return or_tiny(x, choose(has_bit(r.quadrant, 2), -value, value));
  }
  static F cos(F x) {
    Reduced r = reduce_angle(x);
    F value = choose(has_bit(r.quadrant, 1), sin_core(r), cos_core(r));
    // Of a huge angle the quadrant is the largest integer: only its low bits may be added to.
    return choose(has_bit(M::bit_and(r.quadrant, 3) + M::integer(1), 2), -value, value);
  }
  static F tan(F x) {
    Reduced r = reduce_angle(x);
    F s = sin_core(r);
    F c = cos_core(r);
    B odd = has_bit(r.quadrant, 1);
    return or_tiny(x, choose(odd, -c, s) / choose(odd, s, c));
  }

  /// atan of t in [0, 1], as a constant in two parts and a remainder.
  static F atan_unit(F t, F add_high, F add_low, B negate) {
    B middle = t > real(0x1.a827999fcef32p-2);  // tan(pi/8)
    F u = choose(middle, (t - real(1)) / (t + real(1)), t);
    static constexpr double kCoefficients[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11, 1.0 / 13,
                                               -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25,
                                               -1.0 / 27, 1.0 / 29, -1.0 / 31, 1.0 / 33, -1.0 / 35, 1.0 / 37,
                                               -1.0 / 39, 1.0 / 41, -1.0 / 43, 1.0 / 45};
    F z = u * u;
    F p = M::fma(u * z, polynomial(z, kCoefficients), u);
    F quarter = choose(middle, real(kPi / 4), real(0));
    F quarter_low = choose(middle, real(kPiRest / 4), real(0));
    F high = choose(negate, add_high - quarter, add_high + quarter);
    F low = choose(negate, add_low - quarter_low, add_low + quarter_low);
    return high + (choose(negate, -p, p) + low);
  }
  static F atan(F x) {
    F ax = abs(x);
    B large = ax > real(1);
    F t = choose(large, real(1) / ax, ax);
    F value =
        atan_unit(t, choose(large, real(kPi / 2), real(0)), choose(large, real(kPiRest / 2), real(0)), large);
    return copy_sign(choose(is_nan(x), x, value), x);
  }
  static F atan2(F y, F x) {
    F ax = abs(x);
    F ay = abs(y);
    B steep = ay > ax;
    F numerator = choose(steep, ax, ay);
    F denominator = choose(steep, ay, ax);
    F t = numerator / denominator;
    t = choose(M::eq(denominator, real(0)), real(0), t);
    t = choose(M::both(is_infinite(x), is_infinite(y)), real(1), t);
    // The angle is a, pi/2 - a, pi - a or pi/2 + a.
    B left = is_negative(x);
    double quarter = kPi / 2;
    F high = choose(steep, real(quarter), choose(left, real(kPi), real(0)));
    F low = choose(steep, real(kPiRest / 2), choose(left, real(kPiRest), real(0)));
    F value = atan_unit(t, high, low, M::ne_bool(steep, left));
    return choose(M::either(is_nan(x), is_nan(y)), x + y, copy_sign(value, y));
  }
  static F asin(F x) { return atan(x / M::sqrt((real(1) - x) * (real(1) + x))); }
  static F acos(F x) { return real(2) * atan(M::sqrt((real(1) - x) / (real(1) + x))); }

  // ---- hyperbolic functions

  static F sinh(F x) {
    static constexpr double kCoefficients[] = {1.0 / 6,
                                               1.0 / 120,
                                               1.0 / 5040,
                                               1.0 / 362880,
                                               1.0 / 39916800,
                                               1.0 / 6227020800,
                                               1.0 / 1307674368000,
                                               1.0 / 355687428096000,
                                               1.0 / 121645100408832000};
    F ax = abs(x);
    F z = ax * ax;
    F small = M::fma(ax * z, polynomial(z, kCoefficients), ax);
    F half = exp_scaled(ax, real(0), -1);
    F large = half - real(0.25) / half;
    return copy_sign(choose(ax < real(1), small, large), x);
  }
  static F cosh(F x) {
    F half = exp_scaled(abs(x), real(0), -1);
    return half + real(0.25) / half;
  }
  static F tanh(F x) {
    F ax = abs(x);
    F e = exp_minus_one_small(choose(ax < real(0.5), real(2) * ax, real(0)));
    F small = e / (e + real(2));
    F large = real(1) - real(2) / (exp(real(2) * ax) + real(1));
    return copy_sign(choose(ax < real(0.5), small, large), x);
  }
  static F asinh(F x) {
    F ax = abs(x);
    F square = ax * ax;
    F small = log1p(ax + square / (real(1) + M::sqrt(real(1) + square)));
    F large = log(ax) + real(kLn2);
    return copy_sign(choose(ax > real(0x1p28), large, small), x);
  }
  static F acosh(F x) {
    F t = x - real(1);
    F small = log1p(t + M::sqrt(real(2) * t + t * t));
    F large = log(x) + real(kLn2);
    return choose(x < real(1), real(kNan), choose(x > real(0x1p28), large, small));
  }
  static F atanh(F x) {
    F ax = abs(x);
    F value = real(0.5) * log1p(real(2) * ax / (real(1) - ax));
    return copy_sign(value, x);
  }
};

/// The expansion of one function whose value becomes a `type`, f32 or f64, of which its operands are. `y`
/// counts only for functions of two numbers.
template <typename Math>
typename Math::F expand_math(ScalarOp op, DType type, const typename Math::F& x, const typename Math::F& y) {
  using E = MathExpand<Math>;
  const bool is_single = type != DType::kF64;
  switch (op) {
    case ScalarOp::kExp:
      return E::exp(x);
    case ScalarOp::kLog:
      return is_single ? E::log_of_single(x, 1, E::kLn2) : E::log(x);
    case ScalarOp::kLog2:
      return is_single ? E::log_of_single(x, E::kLog2E, 1) : E::log2(x);
    case ScalarOp::kLog10:
      return is_single ? E::log_of_single(x, E::kLog10E, E::kLog10Of2) : E::log10(x);
    case ScalarOp::kSin:
      return E::sin(x);
    case ScalarOp::kCos:
      return E::cos(x);
    case ScalarOp::kTan:
      return E::tan(x);
    case ScalarOp::kAsin:
      return E::asin(x);
    case ScalarOp::kAcos:
      return E::acos(x);
    case ScalarOp::kAtan:
      return E::atan(x);
    case ScalarOp::kSinh:
      return E::sinh(x);
    case ScalarOp::kCosh:
      return E::cosh(x);
    case ScalarOp::kTanh:
      return E::tanh(x);
    case ScalarOp::kAsinh:
      return E::asinh(x);
    case ScalarOp::kAcosh:
      return E::acosh(x);
    case ScalarOp::kAtanh:
      return E::atanh(x);
    case ScalarOp::kCbrt:
      return E::cbrt(x);
    case ScalarOp::kRsqrt:
      return E::rsqrt(x);
    case ScalarOp::kPow:
      return E::pow(x, y);
    default:
      return E::atan2(x, y);
  }
}

}  // namespace galatea
