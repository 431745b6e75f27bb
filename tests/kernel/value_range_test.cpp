// Ranges of integer expressions against their values: every byte through random expressions; and which
// arithmetic is narrowed, with the values of both forms.
#include "compiler/kernel/value_range.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/kernel/element_program.h"
#include "compiler/kernel/narrow_integers.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::kernel {
namespace {

constexpr kernel::ScalarRange kSmall{0, 255};

class Leaves : public LeafSource {
 public:
  Leaves(int64_t x, int64_t p) : x_(x), p_(p) {}
  Cell leaf(const ExprNode& node, const Cell*) override {
    return cell_from_int(node.type, node.kind == ExprKind::kParam ? p_ : x_);
  }

 private:
  int64_t x_, p_;
};

int64_t value_of(const Expr& e, int64_t x, int64_t p) {
  Leaves leaves(x, p);
  uint32_t flags = 0;
  const Cell cell = ElementProgram(e).run(leaves, &flags);
  return cell_to_int(e->type, cell);
}

/// A byte, a parameter, and what can be made of them.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Expr number(int depth) {
    const DType type = kTypes_[pick(0, 4)];
    return convert(depth == 0 ? leaf() : operation(type, depth), type);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Expr leaf() {
    switch (pick(0, 2)) {
      case 0:
        return const_int(pick(-300, 300), DType::kI32);
      case 1:
        return param(0, DType::kI32);
      default:
        return load({LoadTarget::Kind::kInput, 0}, DType::kU8, {});
    }
  }
  Expr operation(DType type, int depth) {
    const Expr a = convert(number(depth - 1), type), b = convert(number(depth - 1), type);
    static constexpr ScalarOp kBinary[] = {ScalarOp::kAdd, ScalarOp::kSub, ScalarOp::kMul, ScalarOp::kMin,
                                           ScalarOp::kMax, ScalarOp::kAnd, ScalarOp::kOr,  ScalarOp::kXor,
                                           ScalarOp::kDiv, ScalarOp::kRem, ScalarOp::kShr};
    static constexpr ScalarOp kUnary[] = {ScalarOp::kNeg, ScalarOp::kAbs, ScalarOp::kNot};
    const int kind = pick(0, 16);
    if (kind <= 10) return binary(kBinary[kind], a, b);
    if (kind <= 13) return unary(kUnary[kind - 11], a);
    if (kind == 14) return select(a < b, a, b);
    if (kind == 15) return fma(a, b, a);
    return saturate(a, kTypes_[pick(0, 4)]);
  }

  static constexpr DType kTypes_[] = {DType::kI32, DType::kU8, DType::kI16, DType::kI64, DType::kU16};
  std::mt19937_64 random_;
};

TEST(ValueRange, HoldsEveryValue) {
  int narrower = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const Expr e = Maker(seed).number(4);
    const kernel::ScalarRange anything = ValueRanges().of(e), small = ValueRanges(kSmall).of(e);
    narrower += !contains(small, kernel::everything(e->type));
    for (const int64_t p :
         {int64_t{-2147483648}, int64_t{-1}, int64_t{0}, int64_t{7}, int64_t{255}, int64_t{2147483647}})
      for (int64_t x = 0; x < 256; x += 5) {
        const int64_t value = value_of(e, x, p);
        const kernel::ScalarRange& range = p >= 0 && p <= 255 ? small : anything;
        ASSERT_TRUE(range.low <= value && value <= range.high)
            << to_text(e) << "\nx = " << x << ", p = " << p << ": " << value << " is not from "
            << static_cast<int64_t>(range.low) << " to " << static_cast<int64_t>(range.high);
      }
  }
  EXPECT_GT(narrower, 100);  // of 400: most would mean little if all were the type's range
}

struct Example {
  const char* body;
  DType stage;
  const char* wanted;  ///< what must stand in the narrow form; empty: nothing is narrowed
  bool promised;       ///< numbers are small
};

constexpr Example kExamples[] = {
    {"saturate.u8(sub(convert.i32(load(in0:u8, axis0)), convert.i32(load(in0:u8, 0:i64))))", DType::kU8,
     "sub(convert.i16", false},
    {"convert.u8(shr(add(convert.i32(load(in0:u8, axis0)), convert.i32(load(in0:u8, 0:i64))), 1:i32))",
     DType::kU8, "shr(add(convert.u16", false},
    {"saturate.u8(mul(convert.i32(load(in0:u8, axis0)), 2:i32))", DType::kU8, "mul(convert.u16", false},
    // Nine bits do not fit; a count of bits is taken modulo the width.
    {"saturate.u8(mul(convert.i32(load(in0:u8, axis0)), 300:i32))", DType::kU8, "", false},
    {"convert.u8(shr(add(convert.i32(load(in0:u8, axis0)), convert.i32(load(in0:u8, 0:i64))), 20:i32))",
     DType::kU8, "", false},
    {"lt(convert.i32(load(in0:u8, axis0)), p0:i32)", DType::kBool, "", false},
    {"lt(convert.i32(load(in0:u8, axis0)), p0:i32)", DType::kBool,
     "lt(load(in0:u8, axis0), convert.u8(p0:i32))", true},
    {"saturate.u8(sub(p0:i32, convert.i32(load(in0:u8, axis0))))", DType::kU8, "sub(convert.i16", true},
    {"saturate.u8(mul(p0:i32, convert.i32(load(in0:u8, axis0))))", DType::kU8, "mul(convert.u16", true},
    {"saturate.u8(load(in1:i32, axis0))", DType::kU8, "", true},
    {"saturate.u8(add(load(in1:i32, axis0), 1:i32))", DType::kU8, "", true},
};

TEST(NarrowIntegers, WhereRangesProveIt) {
  for (const Example& example : kExamples) {
    const Kernel kernel = testing::kernel_from(
        "kernel { param p0:i32 input in0:u8 [256:i64] dense 1 input in1:i32 [256:i64] dense 1 map stage0:" +
        std::string(short_name(example.stage)) + " [256:i64] { body = " + example.body +
        " } output stage0 [0] }");
    Kernel narrow = kernel;
    const Narrowing found = narrow_integers(narrow, example.promised ? std::optional(kSmall) : std::nullopt);
    const std::string text = to_text(narrow.stages[0].body);
    EXPECT_EQ(found.changed, *example.wanted != 0) << text;
    EXPECT_NE(text.find(example.wanted), std::string::npos) << text;
    EXPECT_TRUE(verify(narrow).has_value()) << text;
    if (!found.changed) continue;
    EXPECT_EQ(found.params[0], example.promised) << text;
    for (const int64_t p : {0, 1, 128, 255})
      for (int64_t x = 0; x < 256; ++x)
        ASSERT_EQ(value_of(narrow.stages[0].body, x, p), value_of(kernel.stages[0].body, x, p))
            << text << " of " << x;
    EXPECT_NE(narrow_arithmetic_of(narrow.stages[0]).empty(), example.stage == DType::kU8);
  }
}

/// Shared parts are looked at once: each line doubles the expression as a tree.
TEST(NarrowIntegers, TakesNoLongerForSharedParts) {
  Expr x = convert(load({LoadTarget::Kind::kInput, 0}, DType::kU8, {axis(0)}), DType::kI32);
  for (int i = 0; i < 200; ++i)
    x = select(x < const_int(i, DType::kI32), max(x, const_int(3, DType::kI32)),
               min(x, const_int(250, DType::kI32)));
  Kernel kernel = testing::kernel_from(
      "kernel { input in0:u8 [256:i64] dense 1 map stage0:u8 [256:i64] { body = load(in0:u8, axis0) } output "
      "stage0 [0] }");
  kernel.stages[0].body = saturate(x, DType::kU8);
  EXPECT_TRUE(narrow_integers(kernel, {}).changed);
  EXPECT_EQ(to_text(kernel.stages[0].body).find("i32"), std::string::npos);
}

}  // namespace
}  // namespace galatea::kernel
