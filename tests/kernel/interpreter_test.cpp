// The stage interpreter against loops written by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/kernel/interpreter.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::kernel {
namespace {

using testing::kernel_from;
using testing::TestCall;
using testing::TestTensor;

TEST(StageInterpreter, BorderAnswersIndicesOutside) {
  auto run = [](const std::string& border) {
    Kernel kernel = kernel_from("kernel { input in0:u8 [4:i64] map stage0:u8 [14:i64] { body = load(in0:u8 " +
                                border + ", sub(axis0, 5:i64)) } output stage0 [0] }");
    TestTensor in = TestTensor::of<uint8_t>(DType::kU8, {4}, {10, 11, 12, 13});
    TestTensor out(DType::kU8, {14});
    TestCall call{{in.view(), out.view()}, {}, {}};
    interpret_stages(kernel, call.call());
    return out.values<uint8_t>();
  };
  using V = std::vector<uint8_t>;
  EXPECT_EQ(run("clamp"), (V{10, 10, 10, 10, 10, 10, 11, 12, 13, 13, 13, 13, 13, 13}));
  EXPECT_EQ(run("reflect_101"), (V{11, 12, 13, 12, 11, 10, 11, 12, 13, 12, 11, 10, 11, 12}));
  EXPECT_EQ(run("constant 7:u8"), (V{7, 7, 7, 7, 7, 10, 11, 12, 13, 7, 7, 7, 7, 7}));
  EXPECT_THROW(run(""), InternalError);
}

TEST(StageInterpreter, BandUsesFmaInTapOrder) {
  Kernel kernel = kernel_from(R"(kernel { param p0:f32 input in0:f32 [5:i64]
    band stage0:f32 [5:i64] axis 0 in f32 { first = add(axis0, -1:i64) taps = 3:i64
      weight = add(convert.f32(tap), p0:f32) source = load(in0:f32 reflect_101, add(add(axis0, -1:i64), tap)) finish = mul(acc:f32, 0.5:f32) }
    output stage0 [0] })");
  std::vector<float> values = {0.1F, 1e8F, -3.3F, 1e-3F, 7.7F};
  TestTensor in = TestTensor::of(DType::kF32, {5}, values);
  TestTensor out(DType::kF32, {5});
  float p = 0.3F;
  TestCall call{{in.view(), out.view()}, {cell_from_double(DType::kF32, static_cast<double>(p)).bits}, {}};
  interpret_stages(kernel, call.call());
  std::vector<float> expected;
  const int indices[5][3] = {{1, 0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 3}};
  for (const auto& row : indices) {
    float sum = 0;
    for (int k = 0; k < 3; ++k)
      sum = std::fma(static_cast<float>(k) + p, values[static_cast<size_t>(row[k])], sum);
    expected.push_back(sum * 0.5F);
  }
  EXPECT_EQ(out.values<float>(), expected);
}

TEST(StageInterpreter, FloatSumsUseSixteenLanesOfF64) {
  Kernel kernel = kernel_from(R"(kernel { param p0:i64 input in0:f32 [2:i64, p0:i64]
    reduce stage0:f64 [] over [2:i64, p0:i64] sum in f64 { body = convert.f64(load(in0:f32, raxis0, raxis1)) } output stage0 [] })");
  std::vector<float> values;
  for (int i = 0; i < 50; ++i) values.push_back(std::sin(static_cast<float>(i)) * (i % 7 == 0 ? 1e15F : 1));
  TestTensor in = TestTensor::of(DType::kF32, {2, 25}, values);
  TestTensor out(DType::kF64, {});
  TestCall call{{in.view(), out.view()}, {25}, {}};
  interpret_stages(kernel, call.call());
  double lanes[16] = {};
  for (size_t n = 0; n < 50; ++n) lanes[n % 16] += static_cast<double>(values[n]);
  double eight[8], four[4];
  for (int i = 0; i < 8; ++i) eight[i] = lanes[i] + lanes[i + 8];
  for (int i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
  EXPECT_EQ(out.values<double>()[0], (four[0] + four[2]) + (four[1] + four[3]));
}

TEST(StageInterpreter, FloatSumsOfF32AddEightInF32) {
  Kernel kernel = kernel_from(R"(kernel { param p0:i64 input in0:f32 [p0:i64]
    reduce stage0:f64 [] over [p0:i64] sum in f64 { body = load(in0:f32, raxis0) } output stage0 [] })");
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) values.push_back(std::sin(static_cast<float>(i)) * (i % 7 == 0 ? 1e6F : 1));
  TestTensor in = TestTensor::of(DType::kF32, {300}, values);
  TestTensor out(DType::kF64, {});
  TestCall call{{in.view(), out.view()}, {300}, {}};
  interpret_stages(kernel, call.call());
  double lanes[16] = {};
  for (size_t lane = 0; lane < 16; ++lane) {
    for (size_t first = lane; first < 300; first += 8 * 16) {
      float leaf = 0;
      for (size_t n = first; n < std::min<size_t>(first + 8 * 16, 300); n += 16) leaf += values[n];
      lanes[lane] += static_cast<double>(leaf);
    }
  }
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  EXPECT_EQ(out.values<double>()[0], lanes[0]);
}

TEST(StageInterpreter, EmptyBoxesGiveNeutralElements) {
  auto run = [](const std::string& combiner, const std::string& type, DType dtype) {
    Kernel kernel = kernel_from("kernel { param p0:i64 input in0:" + type +
                                " [p0:i64] reduce stage0:" + type + " [] over [p0:i64] " + combiner + " in " +
                                type + " { body = load(in0:" + type + ", raxis0) } output stage0 [] }");
    TestTensor in(dtype, {0});
    TestTensor out(dtype, {});
    TestCall call{{in.view(), out.view()}, {0}, {}};
    interpret_stages(kernel, call.call());
    return out;
  };
  EXPECT_EQ(run("min", "i16", DType::kI16).values<int16_t>()[0], INT16_MAX);
  EXPECT_EQ(run("max", "i16", DType::kI16).values<int16_t>()[0], INT16_MIN);
  EXPECT_EQ(run("max", "u8", DType::kU8).values<uint8_t>()[0], 0);
  EXPECT_EQ(run("min", "f32", DType::kF32).values<float>()[0], INFINITY);
  EXPECT_EQ(run("sum", "f64", DType::kF64).values<double>()[0], 0.0);
}

TEST(StageInterpreter, StoresPermutedAndStrided) {
  Kernel kernel = kernel_from(R"(kernel { input in0:u8 [2:i64, 2:i64, 3:i64]
    map stage0:u8 [2:i64, 2:i64, 3:i64] { body = load(in0:u8, axis0, sub(1:i64, axis1), axis2) } output stage0 [2, 0, 1] })");
  TestTensor in = TestTensor::of<uint8_t>(DType::kU8, {2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  TestTensor out(DType::kU8, {3, 2, 2});
  TestCall call{{in.view(), out.view()}, {}, {}};
  interpret_stages(kernel, call.call());
  EXPECT_EQ(out.values<uint8_t>(), (std::vector<uint8_t>{3, 0, 9, 6, 4, 1, 10, 7, 5, 2, 11, 8}));
}

TEST(StageInterpreter, DivisionByZeroRaisesTheFlag) {
  Kernel kernel = kernel_from(R"(kernel { input in0:i32 [2:i64]
    map stage0:i32 [2:i64] { body = div(100:i32, load(in0:i32, axis0)) } output stage0 [0] })");
  TestTensor out(DType::kI32, {2});
  TestTensor good = TestTensor::of<int32_t>(DType::kI32, {2}, {7, -7});
  TestCall call{{good.view(), out.view()}, {}, {}};
  interpret_stages(kernel, call.call());
  EXPECT_EQ(out.values<int32_t>(), (std::vector<int32_t>{14, -14}));
  EXPECT_EQ(call.status, 0U);
  TestTensor bad = TestTensor::of<int32_t>(DType::kI32, {2}, {0, 3});
  call.tensors[0] = bad.view();
  interpret_stages(kernel, call.call());
  EXPECT_EQ(out.values<int32_t>(), (std::vector<int32_t>{0, 33}));
  EXPECT_EQ(call.status, kFlagDivisionByZero);
}

}  // namespace
}  // namespace galatea::kernel
