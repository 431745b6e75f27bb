// Which divisions may be by zero, and that all others raise no flag.
#include "compiler/kernel/division.h"

#include <gtest/gtest.h>

#include "compiler/kernel/element_program.h"

namespace galatea::kernel {
namespace {

Expr byte() { return load({LoadTarget::Kind::kInput, 0}, DType::kU8, {}); }
Expr of_type(ScalarOp op, DType type, Expr divisor) {
  return binary(op, convert(byte(), type), std::move(divisor));
}

TEST(Division, ConstantsSayWhetherTheyAreZero) {
  for (const ScalarOp op : {ScalarOp::kDiv, ScalarOp::kRem})
    for (const DType type : {DType::kU8, DType::kI8, DType::kI32, DType::kU64, DType::kI64}) {
      SCOPED_TRACE(static_cast<int>(type));
      EXPECT_FALSE(may_divide_by_zero(of_type(op, type, const_int(3, type))));
      EXPECT_FALSE(
          may_divide_by_zero(of_type(op, type, user_constant(type, cell_from_int(type, 3), /*origin=*/7))));
      EXPECT_TRUE(may_divide_by_zero(of_type(op, type, const_int(0, type))));
      EXPECT_TRUE(may_divide_by_zero(of_type(op, type, param(0, type))));
      EXPECT_TRUE(may_divide_by_zero(of_type(op, type, convert(byte(), type))));
    }
  EXPECT_FALSE(may_divide_by_zero(of_type(ScalarOp::kDiv, DType::kI8, const_int(-1, DType::kI8))));
}

TEST(Division, TheLargerOfAPositiveNumberIsNotZero) {
  for (const DType type : {DType::kU8, DType::kI32, DType::kI64}) {
    EXPECT_FALSE(may_divide_by_zero(of_type(ScalarOp::kRem, type, max(param(0, type), const_int(1, type)))));
    EXPECT_TRUE(may_divide_by_zero(of_type(ScalarOp::kRem, type, max(param(0, type), const_int(0, type)))));
    EXPECT_TRUE(may_divide_by_zero(of_type(ScalarOp::kRem, type, min(param(0, type), const_int(1, type)))));
  }
}

TEST(Division, FloatsRaiseNothing) {
  EXPECT_FALSE(may_divide_by_zero(of_type(ScalarOp::kDiv, DType::kF32, const_float(0))));
  EXPECT_FALSE(may_divide_by_zero(of_type(ScalarOp::kRem, DType::kF64, param(0, DType::kF64))));
}

TEST(Division, IsFoundAtAnyDepth) {
  const Expr inner = of_type(ScalarOp::kRem, DType::kI32, param(0, DType::kI32));
  EXPECT_EQ(doubtful_divisor(*inner)->get(), inner->args[1].get());
  const Expr outer = binary(ScalarOp::kAdd, binary(ScalarOp::kDiv, inner, const_int(5, DType::kI32)),
                            const_int(1, DType::kI32));
  EXPECT_EQ(doubtful_divisor(*outer), nullptr);
  EXPECT_TRUE(may_divide_by_zero(outer));
  // In the index of a load, too: that it is computed is enough.
  EXPECT_TRUE(
      may_divide_by_zero(load({LoadTarget::Kind::kInput, 0}, DType::kU8, {convert(outer, DType::kI64)})));
  Stage stage;
  EXPECT_FALSE(may_raise_flag(stage));
  for (Expr Stage::* part :
       {&Stage::body, &Stage::first, &Stage::taps, &Stage::weight, &Stage::source, &Stage::finish}) {
    Stage with;
    with.*part = outer;
    EXPECT_TRUE(may_raise_flag(with));
  }
}

TEST(Division, RangesTellMore) {
  const Expr wide = convert(byte(), DType::kI32);
  EXPECT_FALSE(may_be_zero(wide + const_int(1, DType::kI32)));
  EXPECT_TRUE(may_be_zero(wide));
  EXPECT_TRUE(may_be_zero(wide - const_int(255, DType::kI32)));
  // A byte that wraps is zero for 255.
  EXPECT_TRUE(may_be_zero(byte() + const_int(1, DType::kU8)));
  EXPECT_TRUE(may_be_zero(param(0, DType::kI64)));
}

/// Every byte by every constant: what is not doubted raises nothing, zero does.
TEST(Division, WhatIsNotDoubtedRaisesNoFlag) {
  class Byte : public LeafSource {
   public:
    explicit Byte(int64_t value) : value_(value) {}
    Cell leaf(const ExprNode& node, const Cell*) override { return cell_from_int(node.type, value_); }

   private:
    int64_t value_;
  };
  for (const ScalarOp op : {ScalarOp::kDiv, ScalarOp::kRem})
    for (int divisor = -128; divisor < 128; ++divisor) {
      const Expr e = of_type(op, DType::kI8, const_int(divisor, DType::kI8));
      for (int value = 0; value < 256; ++value) {
        Byte leaves(value);
        uint32_t flags = 0;
        ElementProgram(e).run(leaves, &flags);
        ASSERT_EQ(flags != 0, may_divide_by_zero(e)) << value << " by " << divisor;
      }
    }
}

}  // namespace
}  // namespace galatea::kernel
