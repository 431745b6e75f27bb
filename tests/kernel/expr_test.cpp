// Folding is exact and complete enough that shape rules over constants become constants.
#include <gtest/gtest.h>

#include <cmath>

#include "base/result.h"
#include "compiler/kernel/expr.h"

namespace galatea::kernel {
namespace {

TEST(Expr, FoldsConstants) {
  Expr e = clamp((const_int(7) * const_int(3) - const_int(1)) / const_int(4), const_int(0), const_int(4));
  ASSERT_TRUE(is_const(e));
  EXPECT_EQ(const_value(e), 4);
  EXPECT_EQ(const_value(saturate(const_float(2.5), DType::kU8)), 2);
  EXPECT_EQ(const_value(saturate(const_float(NAN), DType::kU8)), 0);
  EXPECT_TRUE(is_const_int(select(const_int(1) < const_int(2), const_int(5), axis(0)), 5));
}

TEST(Expr, DropsNeutralElementsOnlyWhereExact) {
  Expr x = param(0, DType::kI64);
  EXPECT_EQ((x + const_int(0)).get(), x.get());
  EXPECT_EQ((const_int(1) * x).get(), x.get());
  EXPECT_TRUE(is_const_int(x * const_int(0), 0));
  EXPECT_TRUE(is_const_int(x - x, 0));
  EXPECT_TRUE(same(x + const_int(2) - const_int(5), x + const_int(-3)));
  Expr f = param(1, DType::kF32);
  EXPECT_NE((f + const_float(0)).get(), f.get()) << "-0 + 0 is +0";
  EXPECT_EQ((f - const_float(0)).get(), f.get());
  EXPECT_EQ((f * const_float(1)).get(), f.get());
  EXPECT_FALSE(is_const(f * const_float(0))) << "NaN and signs";
  EXPECT_FALSE(is_const(f - f));
  EXPECT_FALSE(is_const(equal(f, f))) << "NaN differs from itself";
}

TEST(Expr, EqualPartsThatAreSeveralNodesAreComparedOnce) {
  // Two nodes of each level are equal to the one of the other expression: 2^60 ways lead through them.
  const auto f = [](int i) { return param(i, DType::kF32); };
  Expr one = f(0), left = f(0), right = f(0);
  for (int level = 0; level < 60; ++level) {
    one = one + one;
    const Expr next = left + right;
    right = left + right;
    left = next;
  }
  EXPECT_TRUE(same(one, left));
  EXPECT_TRUE(same(left, one));
  EXPECT_TRUE(same_meaning(one, right));
  EXPECT_FALSE(same(one + f(1), left + f(2)));
}

TEST(Expr, KeepsDivisionByZeroForItsFlag) {
  Expr e = const_int(3) / const_int(0);
  EXPECT_FALSE(is_const(e));
  EXPECT_EQ(e->kind, ExprKind::kOp);
}

TEST(Expr, WhatWasTakenApartIsPutTogether) {
  const Expr x = axis(0), y = max(param(0, DType::kI64), const_int(1)), z = param(1, DType::kI64);
  EXPECT_TRUE(same((x / y) * y + x % y, x));
  EXPECT_TRUE(same(x % y + (x / y) * y, x));
  EXPECT_FALSE(same((x / z) * z + x % z, x)) << "a division by zero must be seen";
  EXPECT_FALSE(same((x / y) * z + x % y, x));
}

TEST(Expr, SameAndHashIgnoreSharingAndSpans) {
  auto build = [] { return (axis(0) + param(0, DType::kI64)) * axis(1); };
  Expr a = build();
  Expr b = build();
  EXPECT_NE(a.get(), b.get());
  EXPECT_TRUE(same(a, b));
  EXPECT_EQ(hash_of(a), hash_of(b));
  EXPECT_FALSE(same(a, axis(1)));
  // Deep sharing must not take exponential time.
  Expr deep_a = axis(0), deep_b = axis(0);
  for (int i = 0; i < 200; ++i) {
    deep_a = deep_a * deep_a + axis(1);
    deep_b = deep_b * deep_b + axis(1);
  }
  EXPECT_TRUE(same(deep_a, deep_b));
}

TEST(Expr, RewriteFoldsAgain) {
  Expr e = (axis(0) + param(0, DType::kI64)) * const_int(2);
  Expr out = rewrite(e, [](const Expr& node) {
    if (node->kind == ExprKind::kParam) return const_int(5);
    if (node->kind == ExprKind::kAxis) return const_int(1);
    return Expr();
  });
  EXPECT_TRUE(is_const_int(out, 12));
}

TEST(Expr, HalfGoesThroughSingle) {
  Expr e = convert(param(0, DType::kF64), DType::kF16);
  ASSERT_EQ(e->args.size(), 1U);
  EXPECT_EQ(e->args[0]->type, DType::kF32);
}

TEST(Expr, MixedOperandsAreABug) { EXPECT_THROW(axis(0) + const_float(1), InternalError); }

}  // namespace
}  // namespace galatea::kernel
