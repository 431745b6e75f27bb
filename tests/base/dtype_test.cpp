// Promotion as DALI documents and shows it, names, and limits.
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <limits>

namespace galatea {
namespace {

TEST(DType, PromotionFollowsDali) {
  using enum DType;
  struct Row {
    DType a, b, result;
  };
  for (const Row& row :
       {Row{kU8, kU8, kU8}, Row{kU8, kI8, kI16}, Row{kU8, kI16, kI16}, Row{kU16, kI8, kI32},
        Row{kU32, kI32, kI64}, Row{kU64, kI64, kI64}, Row{kU8, kU32, kU32}, Row{kI8, kI64, kI64},
        Row{kU8, kF32, kF32}, Row{kI64, kF16, kF16}, Row{kF16, kF32, kF32}, Row{kF32, kF64, kF64},
        Row{kBool, kU8, kU8}, Row{kBool, kF32, kF32}, Row{kBool, kBool, kBool}, Row{kBool, kI8, kI8}}) {
    EXPECT_EQ(promote(row.a, row.b), row.result) << short_name(row.a) << " " << short_name(row.b);
    EXPECT_EQ(promote(row.b, row.a), row.result) << short_name(row.b) << " " << short_name(row.a);
  }
}

TEST(DType, NamesGoBothWays) {
  for (int i = 0; i < kNumDTypes; ++i) {
    auto type = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_short_name(short_name(type)), type);
    EXPECT_EQ(dtype_from_types_name(types_name(type)), type);
  }
  EXPECT_EQ(dtype_from_types_name("FLOAT"), DType::kF32);
  EXPECT_EQ(dtype_from_short_name("float"), std::nullopt);
}

TEST(DType, Limits) {
  EXPECT_EQ(min_int(DType::kI8), -128);
  EXPECT_EQ(max_int(DType::kU16), 65535);
  EXPECT_EQ(min_int(DType::kU32), 0);
  EXPECT_EQ(max_int(DType::kI64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(min_int(DType::kI64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(max_unsigned(DType::kU64), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(max_int(DType::kBool), 1);
}

}  // namespace
}  // namespace galatea
