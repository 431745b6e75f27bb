// Floats that are rounded to bytes (pack_bytes.cpp): of any length, at every place in a line, with numbers
// that a conversion to 32 bits holds and with some that it does not, against the stage interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/interpreter.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::codegen {
namespace {

using testing::kernel_from;

constexpr int64_t kGuardBefore = 64, kGuardBehind = 128;
constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                kNaN = std::numeric_limits<float>::quiet_NaN();

/// What every kernel begins with: rows, columns, nine numbers.
constexpr const char* kHead =
    "kernel { param p0:i64 param p1:i64 param p2:f32 param p3:f32 param p4:f32 param p5:f32 param p6:f32 "
    "param p7:f32 param p8:f32 param p9:f32 param p10:f32 ";

/// select(axis2 == 0, a, select(axis2 == 1, b, c)) of three parameters, the first given.
std::string by_channel(int first) {
  const auto name = [](int number) { return "p" + std::to_string(number) + ":f32"; };
  return "select(eq(axis2, 0:i64), " + name(first) + ", select(eq(axis2, 1:i64), " + name(first + 1) + ", " +
         name(first + 2) + "))";
}

std::string matrix(const std::string& element) {
  const auto channel = [&](int number) {
    const std::string load = "load(in0:" + element + ", axis0, axis1, " + std::to_string(number) + ":i64)";
    return element == "f32" ? load : "convert.f32(" + load + ")";
  };
  return "fma(" + by_channel(2) + ", " + channel(2) + ", fma(" + by_channel(5) + ", " + channel(1) +
         ", fma(" + by_channel(8) + ", " + channel(0) + ", 3.5:f32)))";
}

struct Packing {
  const char* name;
  DType input;
  bool has_table;
  std::string text;
};

std::vector<Packing> cases() {
  const std::string pixels = " [p0:i64, p1:i64, 3:i64] ";
  const auto kernel = [&](const std::string& element, const std::string& body, const std::string& table = "",
                          const std::string& dense = "3") {
    return kHead + ("input in0:" + element + pixels + "dense 3 ") + table + "map stage0:u8" + pixels +
           "{ body = " + body + " } output stage0 [0, 1, 2] dense " + dense + " streaming }";
  };
  return {
      {"matrix of bytes", DType::kU8, false, kernel("u8", "saturate.u8(" + matrix("u8") + ")")},
      {"rows with gaps", DType::kU8, false, kernel("u8", "saturate.u8(" + matrix("u8") + ")", "", "2")},
      {"matrix of floats", DType::kF32, false, kernel("f32", "saturate.u8(" + matrix("f32") + ")")},
      {"matrix and table", DType::kU8, true,
       kernel("u8", "load(in1:u8, convert.i64(saturate.u8(" + matrix("u8") + ")))",
              "input in1:u8 [256:i64] dense 1 ")},
      {"floats, clamped between", DType::kF32, false,
       kernel("f32",
              "saturate.u8(fma(min(max(round(mul(p3:f32, load(in0:f32, axis0, axis1, axis2))), 0:f32), "
              "255:f32), p2:f32, p4:f32))")},
      {"elements of floats", DType::kF32, false,
       kernel("f32", "saturate.u8(fma(load(in0:f32, axis0, axis1, axis2), p2:f32, p3:f32))")},
      {"elements of words", DType::kI16, false,
       kernel("i16", "saturate.u8(fma(convert.f32(load(in0:i16, axis0, axis1, axis2)), p2:f32, p3:f32))")},
  };
}

std::vector<std::vector<float>> numbers() {
  std::vector<std::vector<float>> out = {
      {0.9F, 0.1F, -0.2F, 0.2F, 0.5F, -0.1F, -0.1F, 0.1F, 0.95F},
      {0.5F, 0.5F, 0.5F, 0.5F, -0.5F, 0.25F, 0.25F, 1.0F, 0.0F},
      {1048575.0F, -3.0F, 5.0F, 1048575.0F, 2.0F, 1048575.0F, 1048575.0F, -1.0F, 1048575.0F},
      {1048576.0F, -3.0F, 5.0F, 1048575.0F, 2.0F, 1.0F, 1048575.0F, -1.0F, 1.0F},
      {-4e9F, 4e9F, 3e9F, 4e9F, 4e9F, -3e9F, 1.0F, 1e30F, -1e30F},
      {3e38F, 3e38F, -3e38F, 3e38F, -3e38F, 3e38F, -3e38F, 3e38F, 3e38F}};
  for (const float odd : {kInfinity, -kInfinity, kNaN, -kNaN})
    for (const size_t place : {0U, 4U, 8U}) {
      out.push_back(out[0]);
      out.back()[place] = odd;
    }
  return out;
}

TEST(LlvmPack, LikeTheInterpreter) {
  std::mt19937 random(5);
  for (const Packing& c : cases()) {
    const kernel::Kernel kernel = kernel_from(c.text);
    const int64_t size = size_of(c.input);
    for (const Target& target : runnable_targets()) {
      auto backend = make_llvm_backend(target);
      const kernel::ScheduleOptions options = backend->schedule_options();
      auto compiled =
          backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
      ASSERT_TRUE(compiled) << compiled.error().message();
      const auto compare = [&](int64_t rows, int64_t columns, int64_t shift, int64_t gap, int64_t stream_from,
                               const std::vector<float>& factors) {
        std::vector<uint8_t> from(static_cast<size_t>(rows * columns * 3 * size + runtime::kBufferPadding));
        for (int64_t i = 0; i < rows * columns * 3; ++i) {
          const float odd[] = {kInfinity, -kInfinity, kNaN, -kNaN, 3e38F, -3e38F, 4e9F, 0.5F, 254.5F, 255.5F};
          const Cell cell =
              !is_float(c.input) ? cell_from_int(c.input, static_cast<int64_t>(random()))
              : random() % 7 == 0
                  ? cell_from_double(c.input, static_cast<double>(odd[random() % std::size(odd)]))
                  : cell_from_double(c.input, std::uniform_real_distribution<>(-300, 600)(random));
          store_cell(c.input, from.data() + i * size, cell);
        }
        std::vector<uint8_t> table(256 + runtime::kBufferPadding);
        for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
        const int64_t row = columns * 3 + gap, bytes = rows * row;
        std::vector<uint64_t> params = {static_cast<uint64_t>(rows), static_cast<uint64_t>(columns)};
        for (const float factor : factors) {
          uint32_t bits = 0;
          std::memcpy(&bits, &factor, sizeof bits);
          params.push_back(bits);
        }
        const auto run = [&](const auto& code) {
          std::vector<uint8_t> memory(static_cast<size_t>(bytes + kGuardBefore + kGuardBehind + 64),
                                      uint8_t{0xCD});
          uint8_t* to =
              reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64) + shift;
          std::vector<runtime::KernelTensor> tensors = {
              {from.data(), {rows, columns, 3}, {columns * 3, 3, 1}}};
          if (c.has_table) tensors.push_back({table.data(), {256}, {1}});
          tensors.push_back({to, {rows, columns, 3}, {row, 3, 1}});
          uint32_t status = 0;
          code(runtime::KernelCall{tensors.data(), params.data(), nullptr, &status, stream_from});
          // What lies before, behind and between the rows is not touched.
          EXPECT_TRUE(std::all_of(memory.data(), to, [](uint8_t b) { return b == 0xCD; }));
          EXPECT_TRUE(
              std::all_of(to + bytes, memory.data() + memory.size(), [](uint8_t b) { return b == 0xCD; }));
          return std::vector<uint8_t>(to, to + bytes);
        };
        const auto wanted =
            run([&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
        const auto made = run([&](const runtime::KernelCall& call) { compiled->code->run(call); });
        ASSERT_EQ(wanted, made) << c.name << ", " << target.name() << ", " << rows << " x " << columns
                                << ", at " << shift << ", past the cache from " << stream_from
                                << ", first factors " << factors[0] << ", " << factors[4] << ", "
                                << factors[8];
      };
      const bool has_gaps = std::string(c.name) == "rows with gaps";
      const auto all_numbers = numbers();
      for (const int64_t columns : {1, 5, 16, 21, 31, 32, 33, 63, 64, 65, 127, 128, 200})
        for (const int64_t rows : {1, 3})
          for (const int64_t shift : {0, 1, 32})
            compare(rows, columns, shift, has_gaps ? 7 : 0, shift == 1 ? runtime::kStreamFrom : 0,
                    all_numbers[0]);
      for (const auto& factors : all_numbers) compare(2, 85, 0, has_gaps ? 22 : 0, 0, factors);
    }
  }
}

}  // namespace
}  // namespace galatea::codegen
