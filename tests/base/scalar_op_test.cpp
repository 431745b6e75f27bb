// Scalar operations at their corners, against values written down and against C++ itself.
#include "base/scalar_op.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace galatea {
namespace {

Cell run(ScalarOp op, DType type, Cell a, Cell b = {}, DType from = DType::kI64, uint32_t* flags = nullptr) {
  uint32_t local = 0;
  Cell operands[] = {a, b, {}};
  return evaluate(op, type, from, operands, flags != nullptr ? flags : &local);
}
int64_t run_int(ScalarOp op, DType type, int64_t a, int64_t b = 0) {
  return cell_to_int(type, run(op, type, cell_from_int(type, a), cell_from_int(type, b)));
}
int64_t convert_double(ScalarOp op, DType to, double value) {
  return cell_to_int(to, run(op, to, cell_from_double(DType::kF64, value), {}, DType::kF64));
}

TEST(ScalarOp, NamesAreUniqueAndReadBack) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    auto op = static_cast<ScalarOp>(i);
    EXPECT_EQ(scalar_op_from_name(name_of(op)), op) << name_of(op);
    EXPECT_GE(num_operands(op), 1);
  }
  EXPECT_EQ(scalar_op_from_name("frobnicate"), std::nullopt);
}

TEST(ScalarOp, IntegersWrap) {
  EXPECT_EQ(run_int(ScalarOp::kAdd, DType::kU8, 200, 100), 44);
  EXPECT_EQ(run_int(ScalarOp::kAdd, DType::kI8, 100, 100), -56);
  EXPECT_EQ(run_int(ScalarOp::kMul, DType::kI16, 300, 300), 90000 - 65536);
  EXPECT_EQ(run_int(ScalarOp::kNeg, DType::kI32, INT32_MIN), INT32_MIN);
  EXPECT_EQ(run_int(ScalarOp::kAbs, DType::kI8, -128), -128);
  EXPECT_EQ(run_int(ScalarOp::kShl, DType::kI32, 1, 33), 2) << "the count is taken modulo the width";
  EXPECT_EQ(run_int(ScalarOp::kShr, DType::kI8, -128, 3), -16);
  EXPECT_EQ(run_int(ScalarOp::kShr, DType::kU8, 128, 3), 16);
  EXPECT_EQ(run_int(ScalarOp::kNot, DType::kU8, 0), 255);
  EXPECT_EQ(run_int(ScalarOp::kNot, DType::kBool, 1), 0);
  EXPECT_EQ(run_int(ScalarOp::kMulHi, DType::kI32, -1, 1), -1);
  EXPECT_EQ(run_int(ScalarOp::kMulHi, DType::kU32, 0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFE);
  EXPECT_EQ(run_int(ScalarOp::kMin, DType::kU64, -1, 1), 1) << "u64 compares unsigned";
}

TEST(ScalarOp, DivisionTruncatesAndFlagsZero) {
  EXPECT_EQ(run_int(ScalarOp::kDiv, DType::kI32, -7, 2), -3);
  EXPECT_EQ(run_int(ScalarOp::kRem, DType::kI32, -7, 2), -1);
  EXPECT_EQ(run_int(ScalarOp::kDiv, DType::kI32, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(run_int(ScalarOp::kDiv, DType::kI64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(run_int(ScalarOp::kRem, DType::kI64, INT64_MIN, -1), 0);
  uint32_t flags = 0;
  EXPECT_EQ(run(ScalarOp::kDiv, DType::kU8, {5}, {0}, DType::kU8, &flags).bits, 0U);
  EXPECT_EQ(flags, kFlagDivisionByZero);
}

TEST(ScalarOp, FloatMinAndMaxTakeTheSecondOperandOnNan) {
  Cell nan = cell_from_double(DType::kF32, NAN);
  Cell one = cell_from_double(DType::kF32, 1);
  EXPECT_EQ(run(ScalarOp::kMin, DType::kF32, nan, one), one);
  EXPECT_TRUE(std::isnan(cell_to_double(DType::kF32, run(ScalarOp::kMax, DType::kF32, one, nan))));
  Cell zero = cell_from_double(DType::kF32, 0.0);
  Cell minus = cell_from_double(DType::kF32, -0.0);
  EXPECT_EQ(run(ScalarOp::kMin, DType::kF32, zero, minus), minus);
  EXPECT_EQ(run(ScalarOp::kMin, DType::kF32, minus, zero), zero);
}

TEST(ScalarOp, ConversionsClampAndRound) {
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kU8, 300.7), 255);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kU8, -3.0), 0);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kI8, -3.9), -3);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kI32, NAN), 0);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kI64, 1e19), INT64_MAX);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kI64, -INFINITY), INT64_MIN);
  EXPECT_EQ(static_cast<uint64_t>(convert_double(ScalarOp::kConvert, DType::kU64, 1e30)), UINT64_MAX);
  EXPECT_EQ(convert_double(ScalarOp::kConvert, DType::kBool, 0.3), 1);
  EXPECT_EQ(convert_double(ScalarOp::kSaturate, DType::kU8, 2.5), 2);
  EXPECT_EQ(convert_double(ScalarOp::kSaturate, DType::kU8, 3.5), 4);
  EXPECT_EQ(convert_double(ScalarOp::kSaturate, DType::kI8, -128.6), -128);
  EXPECT_EQ(convert_double(ScalarOp::kSaturate, DType::kU8, NAN), 0);
  auto saturate = [](DType to, DType from, int64_t value) {
    return cell_to_int(to, run(ScalarOp::kSaturate, to, cell_from_int(from, value), {}, from));
  };
  EXPECT_EQ(saturate(DType::kU8, DType::kI32, -5), 0);
  EXPECT_EQ(saturate(DType::kI8, DType::kU64, -1), 127) << "u64's largest";
  EXPECT_EQ(static_cast<uint64_t>(saturate(DType::kU64, DType::kI64, -1)), 0U);
  EXPECT_EQ(saturate(DType::kBool, DType::kI32, 7), 1);
  // 2^24 + 1 is between two floats: to even.
  EXPECT_EQ(cell_to_double(DType::kF32, cell_from_int(DType::kF32, 16777217)), 16777216.0);
}

TEST(ScalarOp, LoadAndStoreKeepTheElement) {
  const int16_t element = -2;
  EXPECT_EQ(cell_to_int(DType::kI16, load_cell(DType::kI16, &element)), -2);
  uint8_t bytes[4] = {9, 9, 9, 9};
  store_cell(DType::kU16, bytes + 1, cell_from_int(DType::kU16, 0x1234));
  EXPECT_EQ(bytes[0], 9);
  EXPECT_EQ(bytes[1], 0x34);
  EXPECT_EQ(bytes[2], 0x12);
  EXPECT_EQ(bytes[3], 9);
}

TEST(Half, EveryValueReadsBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE((float_to_half(value) & 0x7C00U) == 0x7C00U && (float_to_half(value) & 0x3FFU) != 0);
      continue;
    }
    ASSERT_EQ(float_to_half(value), half) << value;
    int exponent = static_cast<int>((bits >> 10) & 31U);
    if (exponent == 31) continue;
    double expected =
        std::ldexp(static_cast<double>(bits & 1023U) + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    ASSERT_EQ(static_cast<double>(value), (bits & 0x8000U) != 0 ? -expected : expected);
  }
}

TEST(Half, RoundsToNearestEven) {
  // Between every two neighbouring halves: the midpoint goes to the even one, anything nearer to one side
  // goes there.
  for (uint16_t low = 0; low < 0x7BFF; ++low) {
    auto high = static_cast<uint16_t>(low + 1);
    float middle = (half_to_float(low) + half_to_float(high)) / 2;
    ASSERT_EQ(float_to_half(middle), (low & 1U) == 0 ? low : high);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0F)), low);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 1e9F)), high);
  }
  EXPECT_EQ(float_to_half(65519.99F), 0x7BFF);
  EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
  EXPECT_EQ(float_to_half(-INFINITY), 0xFC00);
}

TEST(Philox, KnownAnswers) {
  // Test vectors published with the paper's Random123 library.
  EXPECT_EQ(philox(0, 0, 0, 0), 0x6627E8D5U);
  EXPECT_EQ(philox(0, 0, 0, 1), 0xE169C58DU);
  EXPECT_EQ(philox(0, 0, 0, 2), 0xBC57AC4CU);
  EXPECT_EQ(philox(0, 0, 0, 3), 0x9B00DBD8U);
  uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(philox(ones, ones, ones, 0), 0x408F276DU);
  EXPECT_EQ(philox(ones, ones, ones, 1), 0x41C83B0EU);
  EXPECT_EQ(philox(ones, ones, ones, 2), 0xA20BC7C6U);
  EXPECT_EQ(philox(ones, ones, ones, 3), 0x6D5451FDU);
}

}  // namespace
}  // namespace galatea
