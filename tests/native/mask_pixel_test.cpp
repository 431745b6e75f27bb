// Pixels of masks by chance: which are taken, and that each of them is as likely.
#include "stdlib_ops/native/mask_pixel.h"

#include <array>
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "base/scalar_op.h"
#include "tests/native/plain_call.h"

namespace galatea::native {
namespace {

/// A mask of 2 rows and 3 columns, stored column by column.
template <typename T>
struct Mask {
  explicit Mask(const std::array<T, 6>& rows) {
    for (size_t n = 0; n < 6; ++n) memory[n % 3 * 2 + n / 3] = rows[n];
    const std::array<int64_t, 2> extents = {2, 3};
    tensor.set_dense(dtype_of<T>(), extents);
    tensor.strides[0] = 1;
    tensor.strides[1] = 2;
    tensor.data = reinterpret_cast<uint8_t*>(memory.data());
  }
  template <typename U>
  static constexpr DType dtype_of() {
    if constexpr (std::is_same_v<U, float>) return DType::kF32;
    if constexpr (std::is_same_v<U, uint64_t>) return DType::kU64;
    if constexpr (std::is_same_v<U, uint8_t>) return DType::kU8;
    return DType::kI32;
  }
  std::array<T, 6> memory{};
  runtime::Tensor tensor;
};

/// How often each pixel is taken, row by row, of 600 draws.
std::array<int, 6> taken(const runtime::Tensor& mask, bool foreground, bool by_value, double limit) {
  const runtime::NativeFunction function = mask_pixel_function();
  const auto state = function.prepare(by_value ? "{\"by_value\": true}" : "{}").value();
  std::array<int, 6> counts{};
  for (uint64_t n = 0; n < 600; ++n) {
    const Cell scalars[] = {cell_from_int(DType::kI64, philox(9, n, 0, 0)),
                            cell_from_int(DType::kI64, philox(9, n, 0, 1)),
                            cell_from_int(DType::kI64, foreground ? 1 : 0),
                            by_value ? cell_from_int(DType::kI64, static_cast<int64_t>(limit))
                                     : cell_from_double(DType::kF32, limit)};
    Cell results[2];
    testing::PlainCall call;
    call.inputs = {&mask, 1};
    call.scalars = scalars;
    call.scalar_results = results;
    call.state = state.get();
    EXPECT_TRUE(function.call(call));
    const int64_t y = cell_to_int(DType::kI64, results[0]), x = cell_to_int(DType::kI64, results[1]);
    ++counts.at(static_cast<size_t>(y * 3 + x));
  }
  return counts;
}

/// Each of the pixels of `wanted`, digits, is as likely, and no other: chi-square at a level of 0.001.
void expect_uniform(const std::array<int, 6>& counts, std::string_view wanted) {
  constexpr double kLimits[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52};  // by degrees of freedom
  const double expected = 600.0 / static_cast<double>(wanted.size());
  double chi_square = 0;
  for (size_t n = 0; n < 6; ++n) {
    if (wanted.find(static_cast<char>('0' + n)) == std::string_view::npos)
      EXPECT_EQ(counts[n], 0) << "pixel " << n;
    else
      chi_square += (counts[n] - expected) * (counts[n] - expected) / expected;
  }
  EXPECT_LE(chi_square, kLimits[wanted.size() - 1]) << wanted;
}

TEST(MaskPixel, IsOfTheForegroundOrOfAll) {
  const Mask<int32_t> mask({0, 1, 2, -1, 0, 3});
  expect_uniform(taken(mask.tensor, false, false, 0), "012345");
  expect_uniform(taken(mask.tensor, true, false, 0), "125");
  expect_uniform(taken(mask.tensor, true, false, 1.5), "25");
  expect_uniform(taken(mask.tensor, true, true, 0), "04");
  expect_uniform(taken(mask.tensor, true, true, -1), "3");
  // Where there is none, all are.
  expect_uniform(taken(mask.tensor, true, false, 3), "012345");
  expect_uniform(taken(mask.tensor, true, true, 9), "012345");
  expect_uniform(taken(mask.tensor, false, true, 2), "012345");
}

TEST(MaskPixel, ComparesEachTypeAsItIs) {
  const Mask<float> fractions({0.25F, 1, 2, -1, NAN, INFINITY});
  expect_uniform(taken(fractions.tensor, true, false, 0.25), "125");
  expect_uniform(taken(fractions.tensor, true, true, 2), "2");
  const Mask<uint8_t> bytes({0, 255, 1, 255, 2, 3});
  expect_uniform(taken(bytes.tensor, true, true, 255), "13");
  expect_uniform(taken(bytes.tensor, true, true, 511), "012345");
  expect_uniform(taken(bytes.tensor, true, true, -1), "012345");
  const Mask<uint64_t> large({0, ~uint64_t{0}, 1, uint64_t{1} << 63, 2, 3});
  expect_uniform(taken(large.tensor, true, true, -1), "012345");
  expect_uniform(taken(large.tensor, true, false, 2.5), "135");
}

TEST(MaskPixel, RefusesAMaskWithoutPixels) {
  const runtime::NativeFunction function = mask_pixel_function();
  const auto state = function.prepare("{}").value();
  runtime::Tensor empty;
  const std::array<int64_t, 2> extents = {0, 3};
  empty.set_dense(DType::kU8, extents);
  const Cell scalars[4] = {};
  testing::PlainCall call;
  call.inputs = {&empty, 1};
  call.scalars = scalars;
  call.state = state.get();
  const Status status = function.call(call);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("no pixels"), std::string::npos);
}

}  // namespace
}  // namespace galatea::native
