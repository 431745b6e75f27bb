// Machine code against the stage interpreter, bit for bit, for every target that this machine runs.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/interpreter.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::codegen {
namespace {

using testing::kernel_from;
using testing::TestTensor;

TestTensor random_tensor(DType type, std::vector<int64_t> extents, uint32_t seed) {
  TestTensor out(type, std::move(extents));
  std::mt19937 random(seed);
  for (int64_t i = 0; i < out.count(); ++i) {
    Cell cell = is_float(type) ? cell_from_double(type, std::uniform_real_distribution<>(-300, 300)(random))
                               : cell_from_int(type, static_cast<int64_t>(random()));
    store_cell(type, out.bytes.data() + i * size_of(type), cell);
  }
  return out;
}

/// Runs the kernel on the judge and on every target, fused or not, and compares the output's bytes. A kernel is
/// compiled for the first of its sizes; what is kept here is found for the others.
void expect_equal(const kernel::Kernel& kernel, std::vector<TestTensor> inputs, DType out_type,
                  const std::vector<int64_t>& out_extents, const std::vector<uint64_t>& params) {
  auto run = [&](const std::function<void(const runtime::KernelCall&)>& code) {
    TestTensor out(out_type, out_extents);
    std::vector<runtime::KernelTensor> tensors;
    for (TestTensor& input : inputs) tensors.push_back(input.view());
    tensors.push_back(out.view());
    std::vector<uint8_t> scratch(1 << 22);
    auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    uint32_t status = 0;
    runtime::KernelCall call{tensors.data(), params.data(), reinterpret_cast<uint8_t*>(aligned), &status};
    code(call);
    EXPECT_EQ(out.bytes.size(),
              static_cast<size_t>(out.count() * size_of(out_type) + runtime::kBufferPadding));
    for (int64_t i = 0; i < runtime::kBufferPadding; ++i)
      EXPECT_EQ(out.bytes[static_cast<size_t>(out.count() * size_of(out_type) + i)], 0xCD)
          << "wrote past the end";
    return out.bytes;
  };
  static std::vector<CompiledKernel> kept;
  auto expected = run([&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
  for (const Target& target : runnable_targets()) {
    for (bool fuse : {true, false}) {
      auto backend = make_llvm_backend(target);
      kernel::ScheduleOptions options = backend->schedule_options();
      options.fuse = fuse;
      kernel::LoopKernel loops = kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
      if (getenv("DUMP")) std::fputs(to_text(loops).c_str(), stderr);
      auto compiled = backend->compile(kernel, loops);
      ASSERT_TRUE(compiled) << compiled.error().message();
      if (!compiled->from_cache) kept.push_back(*compiled);
      auto actual = run([&](const runtime::KernelCall& call) { compiled->code->run(call); });
      ASSERT_EQ(expected, actual) << target.name() << (fuse ? "" : ", not fused") << "\n" << to_text(loops);
    }
  }
}

TEST(Llvm, UnknownBackendsAreRefused) {
  auto backend = make_backend("magic", nullptr);
  ASSERT_FALSE(backend.has_value());
  EXPECT_EQ(backend.error().diagnostics[0].code, "G0563");
}

TEST(Llvm, PointwiseBytes) {
  auto kernel = kernel_from(
      R"(kernel { param p0:i64 param p1:i64 param p2:f32 param p3:f32 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    map stage0:u8 [p0:i64, p1:i64, 3:i64] { body = saturate.u8(fma(convert.f32(load(in0:u8, axis0, axis1, axis2)), p2:f32, p3:f32)) }
    output stage0 [0, 1, 2] dense 3 })");
  for (int64_t h : {1, 5}) {
    for (int64_t w : {1, 7, 64, 131}) {
      std::vector<uint64_t> params = {static_cast<uint64_t>(h), static_cast<uint64_t>(w),
                                      cell_from_double(DType::kF32, 1.7).bits,
                                      cell_from_double(DType::kF32, -31.25).bits};
      expect_equal(kernel, {random_tensor(DType::kU8, {h, w, 3}, 1)}, DType::kU8, {h, w, 3}, params);
    }
  }
}

TEST(Llvm, NormalizeToPlanes) {
  auto kernel = kernel_from(
      R"(kernel { param p0:i64 param p1:i64 param p2:f32 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    map stage0:f32 [p0:i64, p1:i64, 3:i64] { body = mul(sub(convert.f32(load(in0:u8, axis0, sub(sub(p1:i64, 1:i64), axis1), axis2)), select(eq(axis2, 0:i64), 1.5:f32, 2.5:f32)), p2:f32) }
    output stage0 [2, 0, 1] dense 3 })");
  for (int64_t w : {1, 16, 37, 100}) {
    std::vector<uint64_t> params = {4, static_cast<uint64_t>(w), cell_from_double(DType::kF32, 0.017).bits};
    expect_equal(kernel, {random_tensor(DType::kU8, {4, w, 3}, 2)}, DType::kF32, {3, 4, w}, params);
  }
}

TEST(Llvm, Sums) {
  auto kernel = kernel_from(R"(kernel { param p0:i64 param p1:i64 input in0:f32 [p0:i64, p1:i64] dense 2
    reduce stage0:f32 [] over [p0:i64, p1:i64] sum in f64 { body = convert.f64(load(in0:f32, raxis0, raxis1)) } output stage0 [] })");
  for (int64_t w : {0, 1, 5, 16, 100})
    expect_equal(kernel, {random_tensor(DType::kF32, {3, w}, 3)}, DType::kF32, {},
                 {3, static_cast<uint64_t>(w)});
  auto bytes = kernel_from(R"(kernel { param p0:i64 param p1:i64 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    reduce stage0:u64 [3:i64] over [p0:i64, p1:i64] sum in u64 { body = convert.u64(load(in0:u8, raxis0, raxis1, axis0)) } output stage0 [0] })");
  for (int64_t w : {1, 5, 100})
    expect_equal(bytes, {random_tensor(DType::kU8, {7, w, 3}, 4)}, DType::kU64, {3},
                 {7, static_cast<uint64_t>(w)});
}

/// The remainder of floats is ours, down to subnormals and NaN; the judge calls C's fmod.
TEST(Llvm, RemaindersOfFloats) {
  for (const DType type : {DType::kF32, DType::kF64}) {
    const std::string t = type == DType::kF32 ? "f32" : "f64";
    auto kernel = kernel_from("kernel { param p0:i64 input in0:" + t + " [p0:i64] dense 1 input in1:" + t +
                              " [p0:i64] dense 1\n map stage0:" + t + " [p0:i64] { body = rem(load(in0:" + t +
                              ", axis0), load(in1:" + t + ", axis0)) }\n output stage0 [0] dense 1 }");
    std::vector<double> values = {0.0,   -0.0,    1.0,     -1.0,     3.0,       0.1,         5.5,    -7.25,
                                  1e-40, -3e-42,  1e-45,   1e30,     -2.5e38,   1.2e-38,     1e-310, 4.9e-324,
                                  1e300, 8388608, 0.33333, INFINITY, -INFINITY, std::nan("")};
    std::mt19937_64 random(11);
    for (int i = 0; i < 300; ++i)
      values.push_back(std::ldexp(std::uniform_real_distribution<>(-1, 1)(random),
                                  std::uniform_int_distribution<>(-150, 120)(random)));
    std::vector<std::pair<double, double>> pairs;
    for (size_t i = 0; i < 22; ++i)
      for (size_t j = 0; j < 22; ++j) pairs.emplace_back(values[i], values[j]);
    for (size_t i = 22; i + 1 < values.size(); ++i) {
      pairs.emplace_back(values[i], values[i + 1]);
      pairs.emplace_back(values[i] * 1e3, values[i]);
      pairs.emplace_back(3 * values[i], values[i]);
    }
    // Which NaN comes out is not laid down: one pattern stands for all of them.
    std::erase_if(pairs, [type](const auto& pair) {
      const Cell a = cell_from_double(type, pair.first), b = cell_from_double(type, pair.second);
      return std::isnan(std::fmod(cell_to_double(type, a), cell_to_double(type, b)));
    });
    ASSERT_GT(pairs.size(), 1000U);
    const auto n = static_cast<int64_t>(pairs.size());
    TestTensor a(type, {n}), b(type, {n});
    for (int64_t i = 0; i < n; ++i) {
      const auto& [x, y] = pairs[static_cast<size_t>(i)];
      store_cell(type, a.bytes.data() + i * size_of(type), cell_from_double(type, x));
      store_cell(type, b.bytes.data() + i * size_of(type), cell_from_double(type, y));
    }
    expect_equal(kernel, {a, b}, type, {n}, {static_cast<uint64_t>(n)});
  }
}

/// A resize of bytes: integer weights that sum to 2^14, horizontal then vertical.
TEST(Llvm, ResizeOfBytes) {
  auto kernel = kernel_from(
      R"(kernel { param p0:i64 param p1:i64 param p2:i64 param p3:i64 param p4:f32 param p5:f32 param p6:i64 param p7:i64
    input in0:u8 [p0:i64, p1:i64, 3:i64] dense 2
    map stage0:i32 [p3:i64] { body = convert.i32(floor(mul(convert.f32(axis0), p4:f32))) }
    map stage1:i32 [p3:i64, p6:i64] { body = convert.i32(select(eq(axis1, 0:i64), sub(16384:i64, mul(sub(p6:i64, 1:i64), 2000:i64)), 2000:i64)) }
    map stage2:i32 [p2:i64] { body = convert.i32(floor(mul(convert.f32(axis0), p5:f32))) }
    map stage3:f32 [p2:i64, p7:i64] { body = div(1:f32, convert.f32(add(p7:i64, axis1))) }
    band stage4:f32 [p0:i64, p3:i64, 3:i64] axis 1 in i32 { first = convert.i64(load(stage0:i32, axis1)) taps = p6:i64
      weight = load(stage1:i32, axis1, tap) source = load(in0:u8 clamp, axis0, add(convert.i64(load(stage0:i32, axis1)), tap), axis2) finish = mul(convert.f32(acc:i32), 6.103515625e-05:f32) }
    band stage5:f32 [p2:i64, p3:i64, 3:i64] axis 0 in f32 { first = convert.i64(load(stage2:i32, axis0)) taps = p7:i64
      weight = load(stage3:f32, axis0, tap) source = load(stage4:f32 clamp, add(convert.i64(load(stage2:i32, axis0)), tap), axis1, axis2) finish = mul(sub(convert.f32(saturate.u8(acc:f32)), 100:f32), 0.5:f32) }
    output stage5 [2, 0, 1] dense 3 })");
  for (auto [h, w, oh, ow, taps] : {std::array<int64_t, 5>{9, 11, 5, 4, 3},
                                    {40, 300, 20, 224, 3},
                                    {30, 200, 31, 33, 7},
                                    {17, 64, 40, 130, 2},
                                    {8, 900, 3, 40, 9},
                                    {1, 1, 3, 5, 2},
                                    {6, 90, 4, 64, 5}}) {
    float sx = static_cast<float>(w) / static_cast<float>(ow),
          sy = static_cast<float>(h) / static_cast<float>(oh);
    std::vector<uint64_t> params = {static_cast<uint64_t>(h),
                                    static_cast<uint64_t>(w),
                                    static_cast<uint64_t>(oh),
                                    static_cast<uint64_t>(ow),
                                    cell_from_double(DType::kF32, static_cast<double>(sx)).bits,
                                    cell_from_double(DType::kF32, static_cast<double>(sy)).bits,
                                    static_cast<uint64_t>(taps),
                                    2};
    expect_equal(kernel, {random_tensor(DType::kU8, {h, w, 3}, 5)}, DType::kF32, {3, oh, ow}, params);
  }
}

/// Weights that need more than 16 bits.
TEST(Llvm, LargeWeights) {
  auto kernel = kernel_from(
      R"(kernel { param p0:i64 param p1:i64 param p2:i64 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    map stage0:i32 [p1:i64, 2:i64] { body = convert.i32(sub(mul(axis0, p2:i64), mul(axis1, 40000:i64))) }
    band stage1:f32 [p0:i64, p1:i64, 3:i64] axis 1 in i32 { first = axis1 taps = 2:i64 weight = load(stage0:i32, axis1, tap)
      source = load(in0:u8 clamp, axis0, add(axis1, tap), axis2) finish = convert.f32(acc:i32) }
    output stage1 [0, 1, 2] dense 3 })");
  for (int64_t step : {1, 700})
    expect_equal(kernel, {random_tensor(DType::kU8, {3, 50, 3}, 5)}, DType::kF32, {3, 50, 3},
                 {3, 50, static_cast<uint64_t>(step)});
}

/// Large outputs of a batch: whole registers go past the cache where their place is aligned.
TEST(Llvm, StreamedOutputs) {
  constexpr int64_t kHeight = 301, kWidth = 256;  // one plane of floats: 308,224 bytes
  for (const char* output : {"[2, 0, 1]", "[0, 1, 2]"}) {
    auto kernel = kernel_from(
        std::string(R"(kernel { param p0:i64 param p1:i64 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
      map stage0:f32 [p0:i64, p1:i64, 3:i64] { body = mul(convert.f32(load(in0:u8, axis0, axis1, axis2)), 0.5:f32) }
      output stage0 )") +
        output + " dense 3 streaming }");
    TestTensor input = random_tensor(DType::kU8, {kHeight, kWidth, 3}, 6);
    const std::vector<uint64_t> params = {kHeight, kWidth};
    constexpr size_t kCount = kHeight * kWidth * 3;
    const bool planar = output[1] == '2';
    for (const size_t shift : {0, 4, 32}) {
      std::vector<uint8_t> memory(kCount * 4 + 256), expected;
      auto* data =
          reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64) + shift;
      TestTensor shape(DType::kF32, planar ? std::vector<int64_t>{3, kHeight, kWidth}
                                           : std::vector<int64_t>{kHeight, kWidth, 3});
      runtime::KernelTensor tensors[] = {input.view(), shape.view()};
      tensors[1].data = data;
      uint32_t status = 0;
      const runtime::KernelCall call{tensors, params.data(), nullptr, &status};
      kernel::interpret_stages(kernel, call);
      expected = memory;
      for (const Target& target : runnable_targets()) {
        auto backend = make_llvm_backend(target);
        const kernel::ScheduleOptions options = backend->schedule_options();
        auto compiled =
            backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
        ASSERT_TRUE(compiled) << compiled.error().message();
        std::fill_n(data, kCount * 4, uint8_t{0xCD});
        compiled->code->run(call);
        ASSERT_TRUE(memory == expected) << target.name() << ", " << output << ", shifted by " << shift;
      }
    }
  }
}

/// Tables of bytes: flat, of a pixel's channels before and after they are mixed, mirrored, of a byte that was
/// computed.
TEST(Llvm, LookUps) {
  const std::string head =
      R"(kernel { param p0:i64 param p1:i64 param p2:f32 param p3:f32 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3
    map stage0:u8 [256:i64] { body = saturate.u8(fma(convert.f32(mul(axis0, axis0)), p2:f32, p3:f32)) }
    map stage1:u8 [p0:i64, p1:i64, 3:i64] { body = load(stage0:u8, convert.i64(load(in0:u8, axis0, INDEX, axis2))) }
    map stage2:u8 [p0:i64, p1:i64, 3:i64] { body = saturate.u8(fma(convert.f32(load(stage1:u8, axis0, axis1, 2:i64)), p2:f32, convert.f32(load(stage1:u8, axis0, axis1, axis2)))) }
    map stage3:u8 [p0:i64, p1:i64, 3:i64] { body = load(stage0:u8, convert.i64(load(stage2:u8, axis0, axis1, axis2))) }
    map stage4:f32 [p0:i64, p1:i64, 3:i64] { body = mul(convert.f32(load(stage3:u8, axis0, axis1, axis2)), p2:f32) }
    output )";
  for (const std::string index : {"axis1", "sub(sub(p1:i64, 1:i64), axis1)"})
    for (const auto& [output, type] : {std::pair{"stage1 [0, 1, 2] dense 3 }", DType::kU8},
                                       {"stage3 [0, 1, 2] dense 3 }", DType::kU8},
                                       {"stage4 [0, 1, 2] dense 3 }", DType::kF32}}) {
      std::string text = head + output;
      text.replace(text.find("INDEX"), 5, index);
      const kernel::Kernel kernel = kernel_from(text);
      for (int64_t w : {1, 15, 16, 33, 200}) {
        const std::vector<uint64_t> params = {3, static_cast<uint64_t>(w),
                                              cell_from_double(DType::kF32, 0.0041).bits,
                                              cell_from_double(DType::kF32, 3.3).bits};
        expect_equal(kernel, {random_tensor(DType::kU8, {3, w, 3}, 7)}, type, {3, w, 3}, params);
      }
    }
}

/// Rows from the end to the beginning: pixels as they are, and each channel for itself.
TEST(Llvm, MirroredPixels) {
  for (const int64_t channels : {2, 3, 4})
    for (const DType type : {DType::kU8, DType::kI16, DType::kF32, DType::kF64})
      for (const std::string body : {"PIXEL", "add(PIXEL, PIXEL)"}) {
        std::string text =
            R"(kernel { param p0:i64 param p1:i64 param p2:i64 input in0:T [p0:i64, p1:i64, C:i64] dense 3
            map stage0:T [p0:i64, p1:i64, C:i64] { body = BODY } output stage0 [0, 1, 2] dense 3 })";
        const auto put = [&](const std::string& what, const std::string& by) {
          for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
            text.replace(at, what.size(), by);
        };
        put("BODY", body);
        put("PIXEL", "load(in0:T, axis0, add(sub(p1:i64, 1:i64), mul(axis1, p2:i64)), axis2)");
        put(":T", ":" + std::string(short_name(type)));
        put("C:i64", std::to_string(channels) + ":i64");
        const kernel::Kernel kernel = kernel_from(text);
        for (const int64_t w : {37, 150}) {
          const std::vector<uint64_t> params = {3, static_cast<uint64_t>(w), static_cast<uint64_t>(-1)};
          expect_equal(kernel, {random_tensor(type, {3, w, channels}, 8)}, type, {3, w, channels}, params);
        }
      }
}

}  // namespace
}  // namespace galatea::codegen
