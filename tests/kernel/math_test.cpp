// The expanded mathematical functions against libm (long double), and expanded expressions against
// evaluate(), bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <random>

#include "base/scalar_op.h"
#include "compiler/kernel/element_program.h"
#include "compiler/kernel/expand_math.h"

namespace galatea::kernel {
namespace {

Cell run_op(ScalarOp op, DType type, Cell x, Cell y) {
  Cell operands[] = {x, y};
  uint32_t flags = 0;
  return evaluate(op, type, type, operands, &flags);
}
double run64(ScalarOp op, double x, double y = 0) {
  return std::bit_cast<double>(
      run_op(op, DType::kF64, {std::bit_cast<uint64_t>(x)}, {std::bit_cast<uint64_t>(y)}).bits);
}
float run32(ScalarOp op, float x, float y = 0) {
  Cell out = run_op(op, DType::kF32, {std::bit_cast<uint32_t>(x)}, {std::bit_cast<uint32_t>(y)});
  return std::bit_cast<float>(static_cast<uint32_t>(out.bits));
}

struct Function {
  ScalarOp op;
  long double (*reference)(long double);
  double low, high;
  double bound;  ///< f64, in ulp
};
const Function kFunctions[] = {
    {ScalarOp::kExp, expl, -745, 710, 1},       {ScalarOp::kLog, logl, 1e-300, 1e300, 1},
    {ScalarOp::kLog, logl, 0.5, 2, 1},          {ScalarOp::kLog2, log2l, 0.5, 2, 1},
    {ScalarOp::kLog2, log2l, 1e-310, 1e300, 1}, {ScalarOp::kLog10, log10l, 1e-6, 1e6, 1},
    {ScalarOp::kSin, sinl, -10, 10, 1},         {ScalarOp::kSin, sinl, -2e9, 2e9, 1},
    {ScalarOp::kCos, cosl, -10, 10, 1},         {ScalarOp::kCos, cosl, -2e9, 2e9, 1},
    {ScalarOp::kSin, sinl, -1.8e19, 1.8e19, 1}, {ScalarOp::kCos, cosl, -1.8e19, 1.8e19, 1},
    {ScalarOp::kSin, sinl, -1e13, 1e13, 1},     {ScalarOp::kTan, tanl, -1.8e19, 1.8e19, 4},
    {ScalarOp::kTan, tanl, -10, 10, 4},         {ScalarOp::kAsin, asinl, -1, 1, 4},
    {ScalarOp::kAcos, acosl, -1, 1, 4},         {ScalarOp::kAtan, atanl, -10, 10, 2},
    {ScalarOp::kAtan, atanl, -1e9, 1e9, 2},     {ScalarOp::kSinh, sinhl, -2, 2, 4},
    {ScalarOp::kSinh, sinhl, -710, 710, 4},     {ScalarOp::kCosh, coshl, -710, 710, 4},
    {ScalarOp::kTanh, tanhl, -3, 3, 4},         {ScalarOp::kAsinh, asinhl, -5, 5, 4},
    {ScalarOp::kAsinh, asinhl, -1e12, 1e12, 4}, {ScalarOp::kAcosh, acoshl, 1, 10, 4},
    {ScalarOp::kAcosh, acoshl, 1, 1e12, 4},     {ScalarOp::kAtanh, atanhl, -1, 1, 4},
    {ScalarOp::kCbrt, cbrtl, -1e3, 1e3, 1},
};

/// Distance in units of the last place of `exact` in a format of `digits` bits with the smallest exponent
/// given.
double ulps(double value, long double exact, int digits, int min_exponent) {
  if (static_cast<long double>(value) == exact) return 0;
  if (std::isnan(value) != std::isnan(exact)) return 1e30;
  if (std::isnan(value)) return 0;
  int exponent = exact == 0 ? min_exponent : std::max(min_exponent, std::ilogb(exact));
  return static_cast<double>(
      std::fabs((static_cast<long double>(value) - exact) / std::ldexp(1.0L, exponent - digits + 1)));
}

TEST(Math, WithinBoundsOfLibm) {
  std::mt19937_64 random(7);
  for (const Function& f : kFunctions) {
    double worst64 = 0, worst32 = 0, at64 = 0;
    float at32 = 0;
    std::uniform_real_distribution<double> uniform(f.low, f.high);
    std::uniform_real_distribution<double> magnitude(-40, 0);
    for (int i = 0; i < 20000; ++i) {
      double x = uniform(random);
      if (i % 4 == 0 && f.low <= 0) x *= std::exp2(magnitude(random));
      if (i % 4 == 1) x = f.low + (f.high - f.low) * i / 20000;
      long double exact64 = f.reference(x);
      double off = std::fabs(exact64) > static_cast<long double>(DBL_MAX)
                       ? 0
                       : ulps(run64(f.op, x), exact64, 53, -1022);
      if (off > worst64) worst64 = off, at64 = x;
      auto single = static_cast<float>(x);
      auto exact = f.reference(static_cast<long double>(single));
      if (std::fabs(exact) > static_cast<long double>(FLT_MAX)) continue;
      double off32 = ulps(static_cast<double>(run32(f.op, single)), exact, 24, -126);
      if (off32 > worst32) worst32 = off32, at32 = single;
    }
    EXPECT_LT(worst64, f.bound) << name_of(f.op) << " near " << at64 << " in " << f.low << ".." << f.high;
    EXPECT_LT(worst32, 0.501) << name_of(f.op) << " near " << at32;
  }
}

TEST(Math, TwoOperandFunctions) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> base(-20, 20), exponent(-200, 200), coordinate(-5, 5);
  double worst_pow = 0, worst_atan = 0, worst_single = 0;
  for (int i = 0; i < 50000; ++i) {
    double x = std::exp2(base(random)), y = exponent(random);
    long double exact = powl(x, y);
    if (exact < static_cast<long double>(DBL_MAX))
      worst_pow = std::max(worst_pow, ulps(run64(ScalarOp::kPow, x, y), exact, 53, -1022));
    double a = coordinate(random), b = coordinate(random);
    worst_atan = std::max(worst_atan, ulps(run64(ScalarOp::kAtan2, a, b), atan2l(a, b), 53, -1022));
    auto fx = static_cast<float>(x), fy = static_cast<float>(y / 20);
    long double exact32 = powl(static_cast<long double>(fx), static_cast<long double>(fy));
    if (exact32 < static_cast<long double>(FLT_MAX)) {
      worst_single =
          std::max(worst_single, ulps(static_cast<double>(run32(ScalarOp::kPow, fx, fy)), exact32, 24, -126));
    }
  }
  EXPECT_LT(worst_pow, 1);
  EXPECT_LT(worst_atan, 4);
  EXPECT_LT(worst_single, 0.501);
}

TEST(Math, SpecialValuesAreThoseOfC99) {
  const double specials[] = {0.0,  -0.0,  1.0,    -1.0,   0.5,     -0.5,     2.0,       -2.0, 3.0, -3.0, 1e10,
                             -1e9, 1e300, -1e300, 5e-324, -5e-324, INFINITY, -INFINITY, NAN,  2.5, -2.5};
  auto check = [](ScalarOp op, double mine, double libm, double x, double y) {
    EXPECT_EQ(std::isnan(mine), std::isnan(libm))
        << name_of(op) << "(" << x << ", " << y << ") = " << mine << ", libm " << libm;
    if (std::isnan(libm)) return;
    EXPECT_EQ(std::signbit(mine), std::signbit(libm))
        << name_of(op) << "(" << x << ", " << y << ") = " << mine;
    if (libm == 0 || std::isinf(libm)) {
      EXPECT_EQ(mine, libm) << name_of(op) << "(" << x << ", " << y << ")";
    }
  };
  for (double x : specials) {
    for (const Function& f : kFunctions) {
      bool is_circular = f.op == ScalarOp::kSin || f.op == ScalarOp::kCos || f.op == ScalarOp::kTan;
      if (is_circular && std::fabs(x) > 1.8e19 && !std::isinf(x)) continue;  // outside the reduction's range
      check(f.op, run64(f.op, x), static_cast<double>(f.reference(x)), x, 0);
    }
    for (double y : specials) {
      check(ScalarOp::kPow, run64(ScalarOp::kPow, x, y), std::pow(x, y), x, y);
      check(ScalarOp::kAtan2, run64(ScalarOp::kAtan2, x, y), std::atan2(x, y), x, y);
    }
  }
  EXPECT_EQ(run64(ScalarOp::kRsqrt, 0.0), INFINITY);
  EXPECT_EQ(run64(ScalarOp::kExp, 0.0), 1.0);
  EXPECT_EQ(run64(ScalarOp::kLog2, 8.0), 3.0);
  EXPECT_EQ(run64(ScalarOp::kLog10, 1000.0), 3.0);
  EXPECT_EQ(run64(ScalarOp::kCbrt, 27.0), 3.0);
  EXPECT_EQ(run64(ScalarOp::kPow, 10.0, 15.0), 1e15);
  EXPECT_LE(std::fabs(run64(ScalarOp::kSin, 1e300)), 1.0) << "beyond the reduction: still in range";
}

TEST(Math, IntegerPowers) {
  auto power = [](DType type, int64_t base, int64_t exponent) {
    return cell_to_int(
        type, run_op(ScalarOp::kPowInt, type, cell_from_int(type, base), cell_from_int(type, exponent)));
  };
  EXPECT_EQ(power(DType::kI32, 3, 4), 81);
  EXPECT_EQ(power(DType::kI32, -2, 5), -32);
  EXPECT_EQ(power(DType::kI32, 0, 0), 1);
  EXPECT_EQ(power(DType::kI32, 1, -1), 0) << "a negative exponent gives 0, also of 1";
  EXPECT_EQ(power(DType::kI32, 7, -3), 0);
  EXPECT_EQ(power(DType::kU8, 3, 6), 729 % 256);
  EXPECT_EQ(power(DType::kI64, 2, 62), int64_t{1} << 62);
}

class Params : public LeafSource {
 public:
  Cell values[2];
  Cell leaf(const ExprNode& node, const Cell*) override { return values[node.index]; }
};

TEST(Math, ExpandedExpressionsEqualEvaluate) {
  std::mt19937_64 random(9);
  for (int number = static_cast<int>(ScalarOp::kExp); number < kNumScalarOps; ++number) {
    auto op = static_cast<ScalarOp>(number);
    bool whole = op == ScalarOp::kPowInt;
    for (DType type : whole ? std::vector{DType::kU8, DType::kI16, DType::kI32, DType::kI64}
                            : std::vector{DType::kF32, DType::kF64}) {
      std::vector<Expr> args = {param(0, type)};
      if (num_operands(op) == 2) args.push_back(param(1, type));
      Expr expanded = expand_math(make_op(op, type, args));
      for_each_node(expanded,
                    [&](const Expr& e) { EXPECT_FALSE(e->kind == ExprKind::kOp && is_math(e->op)); });
      ElementProgram program(expanded);
      Params params;
      for (int i = 0; i < 300; ++i) {
        for (Cell& cell : params.values) {
          auto small = static_cast<double>(static_cast<int64_t>(random() % 4001) - 2000) / 64;
          cell = whole                 ? cell_from_int(type, static_cast<int64_t>(random() % 40) - 8)
                 : i % 3 == 0          ? cell_from_double(type, small)
                 : type == DType::kF32 ? Cell{random() & 0xFFFFFFFFU}
                                       : Cell{random()};
        }
        uint32_t flags = 0;
        Cell mine = program.run(params, &flags);
        Cell direct = run_op(op, type, params.values[0], params.values[1]);
        bool both_nan =
            !whole && std::isnan(cell_to_double(type, mine)) && std::isnan(cell_to_double(type, direct));
        EXPECT_TRUE(mine == direct || both_nan)
            << name_of(op) << " of " << params.values[0].bits << ", " << params.values[1].bits;
      }
    }
  }
}

}  // namespace
}  // namespace galatea::kernel
