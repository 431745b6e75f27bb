// Ranges and normal forms against evaluation: for random expressions and random values of their symbols, the
// value lies in the range, and equal polynomials give equal values.
#include "compiler/shape/facts.h"
#include "tests/support/cases.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace galatea {
namespace {

using kernel::Expr;
using kernel::ScalarRange;
using shape::Facts;

constexpr int kNumSymbols = 8;

/// Symbols 0 … 5: i64 within a few numbers of each other; 6 and 7: floats.
DType type_of(int64_t number) { return number < 6 ? DType::kI64 : number == 6 ? DType::kF32 : DType::kF64; }

struct World {
  std::mt19937_64 random;
  std::vector<ScalarRange> ranges;

  explicit World(uint64_t seed) : random(seed) {
    for (int k = 0; k < kNumSymbols; ++k) {
      if (type_of(k) == DType::kI64) {
        const int64_t low = pick(-4, 4);
        ranges.push_back(kernel::integers(low, low + pick(0, 6)));
      } else {
        const double from = static_cast<double>(pick(-8, 8)) / 4;
        ranges.push_back({0, 0, from, from + static_cast<double>(pick(0, 16)) / 4, pick(0, 3) == 0});
      }
    }
  }
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Cell value(int64_t symbol) {
    const ScalarRange& r = ranges[static_cast<size_t>(symbol)];
    const DType type = type_of(symbol);
    if (type == DType::kI64)
      return cell_from_int(type, pick(static_cast<int64_t>(r.low), static_cast<int64_t>(r.high)));
    if (r.nan && pick(0, 3) == 0) return cell_from_double(type, std::numeric_limits<double>::quiet_NaN());
    const double unit = static_cast<double>(pick(0, 16)) / 16;
    return cell_from_double(type, r.from + (r.to - r.from) * unit);
  }

  Expr leaf(DType type) {
    if (pick(0, 2) == 0) {
      if (is_bool(type)) return kernel::const_bool(pick(0, 1) != 0);
      return is_float(type) ? kernel::const_float(static_cast<double>(pick(-12, 12)) / 4, type)
                            : kernel::const_int(pick(-5, 5), type);
    }
    if (type == DType::kF32) return kernel::symbol(kernel::SymbolKind::kLocal, type, 6);
    if (type == DType::kF64) return kernel::symbol(kernel::SymbolKind::kLocal, type, 7);
    if (type == DType::kI64) return kernel::symbol(kernel::SymbolKind::kLocal, type, pick(0, 5));
    if (is_bool(type)) return expression(DType::kI64, 0) < expression(DType::kI64, 0);
    return kernel::convert(expression(DType::kI64, 0), type);
  }

  Expr expression(DType type, int depth) {
    if (depth == 0) return leaf(type);
    const auto sub = [&](DType t) { return expression(t, depth - 1); };
    if (pick(0, 9) == 0) return kernel::select(sub(DType::kBool), sub(type), sub(type));
    if (is_bool(type)) return boolean(sub);
    if (pick(0, 3) == 0) {
      constexpr DType kFrom[] = {DType::kI64, DType::kF32,  DType::kF64, DType::kI32,
                                 DType::kU8,  DType::kBool, DType::kU64};
      const Expr from = sub(kFrom[pick(0, 6)]);
      return pick(0, 1) ? kernel::convert(from, type) : kernel::saturate(from, type);
    }
    if (is_float(type)) {
      constexpr ScalarOp kOps[] = {ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul,
                                   ScalarOp::kDiv, ScalarOp::kMin, ScalarOp::kMax};
      constexpr ScalarOp kUnary[] = {ScalarOp::kNeg,   ScalarOp::kAbs,   ScalarOp::kFloor,
                                     ScalarOp::kCeil,  ScalarOp::kRound, ScalarOp::kRoundAway,
                                     ScalarOp::kTrunc, ScalarOp::kSqrt,  ScalarOp::kSin};
      if (pick(0, 2) == 0) return kernel::unary(kUnary[pick(0, 8)], sub(type));
      return kernel::binary(kOps[pick(0, 5)], sub(type), sub(type));
    }
    constexpr ScalarOp kOps[] = {ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul, ScalarOp::kMul,
                                 ScalarOp::kDiv, ScalarOp::kRem, ScalarOp::kMin, ScalarOp::kMax,
                                 ScalarOp::kAnd, ScalarOp::kOr,  ScalarOp::kXor, ScalarOp::kShr};
    if (pick(0, 6) == 0) return kernel::unary(pick(0, 1) ? ScalarOp::kNeg : ScalarOp::kAbs, sub(type));
    return kernel::binary(kOps[pick(0, 11)], sub(type), sub(type));
  }

  template <typename Sub>
  Expr boolean(const Sub& sub) {
    if (pick(0, 3) == 0) return kernel::logical_not(sub(DType::kBool));
    if (pick(0, 2) == 0)
      return pick(0, 1) ? sub(DType::kBool) & sub(DType::kBool) : sub(DType::kBool) | sub(DType::kBool);
    constexpr ScalarOp kOps[] = {ScalarOp::kEq, ScalarOp::kNe, ScalarOp::kLt,
                                 ScalarOp::kLe, ScalarOp::kGt, ScalarOp::kGe};
    constexpr DType kTypes[] = {DType::kI64, DType::kI64, DType::kF32, DType::kF64, DType::kU8};
    const DType type = kTypes[pick(0, 4)];
    return kernel::binary(kOps[pick(0, 5)], sub(type), sub(type));
  }
};

Cell evaluate_expression(const Expr& e, const std::vector<Cell>& symbols) {
  std::vector<Cell> args;
  for (const Expr& arg : e->args) args.push_back(evaluate_expression(arg, symbols));
  if (e->kind == kernel::ExprKind::kConst) return e->value;
  if (e->kind == kernel::ExprKind::kSymbol) return symbols[static_cast<size_t>(e->a)];
  const DType from = e->args[0].type();
  uint32_t flags = 0;
  return evaluate(e->op, is_comparison(e->op) ? from : e->type, from, args.data(), &flags);
}

Facts facts_of(const World& world) {
  return Facts([&world](const kernel::ExprNode& symbol) -> std::optional<ScalarRange> {
    return world.ranges[static_cast<size_t>(symbol.a)];
  });
}

void expect_inside(const ScalarRange& range, DType type, Cell value, const Expr& e) {
  if (is_float(type)) {
    const double number = cell_to_double(type, value);
    if (number != number)
      EXPECT_TRUE(range.nan) << to_text(e);
    else
      EXPECT_TRUE(number >= range.from && number <= range.to)
          << to_text(e) << " is " << number << ", not in [" << range.from << ", " << range.to << "]";
    return;
  }
  const kernel::Wide number =
      type == DType::kU64 ? static_cast<kernel::Wide>(value.bits) : kernel::Wide{cell_to_int(type, value)};
  EXPECT_TRUE(number >= range.low && number <= range.high)
      << to_text(e) << " is " << static_cast<int64_t>(number) << ", not in ["
      << static_cast<int64_t>(range.low) << ", " << static_cast<int64_t>(range.high) << "]";
}

TEST(Facts, TheValueLiesInTheRange) {
  constexpr DType kTypes[] = {DType::kI64, DType::kBool, DType::kF32, DType::kF64,
                              DType::kI32, DType::kU8,   DType::kU64};
  int decided = 0;
  const auto seeds = static_cast<uint64_t>(testing::cases(4000, 800));
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    World world(seed);
    const DType type = kTypes[seed % 7];
    const Expr e = world.expression(type, 1 + static_cast<int>(seed % 4));
    Facts facts = facts_of(world);
    const ScalarRange range = facts.range(e);
    decided += is_bool(type) && !kernel::is_const(e) && range.is_point();
    for (int sample = 0; sample < 20; ++sample) {
      std::vector<Cell> symbols;
      for (int k = 0; k < kNumSymbols; ++k) symbols.push_back(world.value(k));
      expect_inside(range, type, evaluate_expression(e, symbols), e);
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(decided, 30) << "conditions that always or never hold must be found at times";
}

TEST(Facts, EqualPolynomialsGiveEqualValues) {
  int equal_pairs = 0, equal_products = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    World world(seed);
    Facts facts = facts_of(world);
    const Expr a = world.expression(DType::kI64, 3), b = world.expression(DType::kI64, 3);
    // Sums in another order, with the difference distributed.
    const Expr c = world.expression(DType::kI64, 1);
    const Expr left = (a + b) * c, right = c * b + a * c;
    equal_products += facts.polynomial(left) == facts.polynomial(right);
    auto difference = shape::Polynomial::difference(facts.polynomial(a), facts.polynomial(b));
    if (!difference || !difference->is_constant()) continue;
    ++equal_pairs;
    for (int sample = 0; sample < 10; ++sample) {
      std::vector<Cell> symbols;
      for (int k = 0; k < kNumSymbols; ++k) symbols.push_back(world.value(k));
      const uint64_t apart = evaluate_expression(a, symbols).bits - evaluate_expression(b, symbols).bits;
      ASSERT_EQ(static_cast<int64_t>(apart), difference->constant_value())
          << "seed " << seed << ": " << to_text(a) << " and " << to_text(b);
    }
  }
  EXPECT_GT(equal_pairs, 20);
  EXPECT_GT(equal_products, 2900) << "coefficients that leave i64 excuse a few";
}

Expr local(int64_t number) { return kernel::symbol(kernel::SymbolKind::kLocal, DType::kI64, number); }
Expr i64(int64_t value) { return kernel::const_int(value); }

TEST(Facts, ExtentsOfAnImage) {
  // h and w of a decoded image.
  Facts facts([](const kernel::ExprNode&) { return kernel::integers(1, int64_t{1} << 28); });
  const Expr h = local(0), w = local(1), volume = h * w * i64(3);
  EXPECT_EQ(facts.decide(kernel::equal(volume, h * w * i64(4))), false);
  EXPECT_EQ(facts.decide(kernel::equal(volume, w * (h * i64(3)))), true);
  EXPECT_EQ(facts.decide(kernel::equal(h, w)), std::nullopt);
  EXPECT_EQ(facts.decide(h + i64(1) <= h), false);
  // reshape([-1, 3]): the missing extent times the others is the volume again.
  EXPECT_EQ(facts.decide(kernel::equal(volume / i64(3) * i64(3), volume)), true);
  EXPECT_EQ(facts.decide(kernel::equal(volume / (w * i64(3)), h)), true);
  EXPECT_EQ(facts.decide(kernel::equal(volume / i64(7) * i64(7), volume)), std::nullopt);
  // Halves in floating point: round(0.5 * (h - (h + 1))) lies before the first row.
  const Expr half = kernel::const_float(0.5, DType::kF64);
  const Expr free = half * kernel::convert(h - (h + i64(1)), DType::kF64);
  const Expr start = kernel::convert(kernel::unary(ScalarOp::kRoundAway, free), DType::kI64);
  EXPECT_EQ(facts.decide(start >= i64(0)), false);
  // Twice the height, by way of floats.
  const Expr twice = kernel::convert(kernel::unary(ScalarOp::kRoundAway, kernel::const_float(2, DType::kF64) *
                                                                             kernel::convert(h, DType::kF64)),
                                     DType::kI64);
  EXPECT_EQ(facts.decide(kernel::equal(twice, h + h)), true);
  EXPECT_EQ(facts.decide(kernel::equal(twice, h)), false);
}

TEST(Facts, AnEmptyTensorMayPass) {
  Facts facts([](const kernel::ExprNode&) { return kernel::integers(0, int64_t{1} << 47); });
  const Expr n = local(0);
  EXPECT_EQ(facts.decide(kernel::equal(n * i64(3), n * i64(4))), std::nullopt);
}

}  // namespace
}  // namespace galatea
