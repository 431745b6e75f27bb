// Rows that are copied, filled, mirrored on their way past the cache (stream_rows.cpp), of every length and
// at every place in a line, against the stage interpreter; and what loops over large inputs ask for before
// they read it (next_row.cpp).
#include <gtest/gtest.h>

#include <random>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/interpreter.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::codegen {
namespace {

using testing::kernel_from;

constexpr int64_t kRows = 7, kBefore = 64, kBehind = 128;

struct Case {
  const char* name;
  const char *input, *output;  ///< extents; p0: rows, p1: columns of the input, p2: of the output
  const char* body;
  int64_t (*columns)(int64_t);
};
const Case kCases[] = {
    {"pad", "[p0:i64, p1:i64, 3:i64]", "[add(p0:i64, 2:i64), p2:i64, 3:i64]",
     "load(in0:T constant 0:T, axis0, axis1, axis2)", [](int64_t w) { return w + 9; }},
    {"erase", "[p0:i64, p1:i64, 3:i64]", "[p0:i64, p2:i64, 3:i64]",
     "select(and(and(ge(axis0, 2:i64), lt(axis0, 5:i64)), and(ge(axis1, 3:i64), lt(axis1, 17:i64))), 0:T, "
     "load(in0:T, axis0, axis1, axis2))",
     [](int64_t w) { return w; }},
    {"crop", "[p0:i64, p1:i64, 3:i64]", "[p0:i64, p2:i64, 3:i64]",
     "load(in0:T, axis0, add(axis1, 2:i64), axis2)", [](int64_t w) { return w - 3; }},
    {"mirror", "[p0:i64, p1:i64, 3:i64]", "[p0:i64, p2:i64, 3:i64]",
     "load(in0:T, axis0, sub(sub(p1:i64, 1:i64), axis1), axis2)", [](int64_t w) { return w; }}};

class LlvmRows : public ::testing::TestWithParam<DType> {};

TEST_P(LlvmRows, OfAnyLengthAnywhere) {
  const DType type = GetParam();
  const int64_t size = size_of(type);
  std::mt19937 random(5);
  for (const Case& c : kCases) {
    std::string text = std::string("kernel { param p0:i64 param p1:i64 param p2:i64 input in0:T ") + c.input +
                       " dense 3 map stage0:T " + c.output + " { body = " + c.body +
                       " } output stage0 [0, 1, 2] dense 3 streaming }";
    for (size_t at = 0; (at = text.find(":T", at)) != std::string::npos;)
      text.replace(at, 2, ":" + std::string(short_name(type)));
    const kernel::Kernel kernel = kernel_from(text);
    for (const Target& target : runnable_targets()) {
      auto backend = make_llvm_backend(target);
      const kernel::ScheduleOptions options = backend->schedule_options();
      auto compiled =
          backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
      ASSERT_TRUE(compiled) << compiled.error().message();
      for (const int64_t width : {4, 5, 21, 22, 64, 75, 131})
        for (const int64_t shift : {0, 8, 56}) {
          const int64_t columns = c.columns(width), rows = c.name == std::string("pad") ? kRows + 2 : kRows;
          std::vector<uint8_t> from(static_cast<size_t>(kRows * width * 3 * size + runtime::kBufferPadding));
          for (uint8_t& byte : from) byte = static_cast<uint8_t>(random() % 100);
          const auto bytes = static_cast<size_t>(rows * columns * 3 * size);
          // Past the cache or not, from a place that is aligned to elements only, with something on either
          // side.
          for (const int64_t stream_from : {int64_t{0}, runtime::kStreamFrom}) {
            std::vector<uint8_t> expected(bytes + kBefore + kBehind + 64), actual;
            uint8_t* to = nullptr;
            const auto run = [&](std::vector<uint8_t>& memory, const auto& code) {
              std::fill(memory.begin(), memory.end(), uint8_t{0xCD});
              to = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64) +
                   shift;
              runtime::KernelTensor tensors[] = {{from.data(), {kRows, width, 3}, {width * 3, 3, 1}},
                                                 {to, {rows, columns, 3}, {columns * 3, 3, 1}}};
              const uint64_t params[] = {kRows, static_cast<uint64_t>(width), static_cast<uint64_t>(columns)};
              uint32_t status = 0;
              code(runtime::KernelCall{tensors, params, nullptr, &status, stream_from});
              const std::vector<uint8_t> around(memory.begin(), to - memory.data() + memory.begin());
              EXPECT_TRUE(std::all_of(around.begin(), around.end(), [](uint8_t b) { return b == 0xCD; }));
              EXPECT_TRUE(std::all_of(to + bytes, memory.data() + memory.size(),
                                      [](uint8_t b) { return b == 0xCD; }));
              return std::vector<uint8_t>(to, to + bytes);
            };
            actual = expected;
            const auto wanted = run(
                expected, [&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
            const auto made =
                run(actual, [&](const runtime::KernelCall& call) { compiled->code->run(call); });
            ASSERT_EQ(wanted, made) << c.name << ", " << target.name() << ", width " << width << ", at "
                                    << shift << ", past the cache from " << stream_from;
          }
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LlvmRows,
                         ::testing::Values(DType::kU8, DType::kI16, DType::kF32, DType::kF64),
                         [](const auto& test) { return std::string(short_name(test.param)); });

/// A row's place is divided by an extent: where the rows have no columns nothing is computed, so that nothing
/// divides by zero; where they have some, the elements say it.
TEST(LlvmRows, NothingIsDividedForRowsWithoutColumns) {
  const kernel::Kernel kernel = kernel_from(
      "kernel { param p0:i64 param p1:i64 param p2:i64 input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3 "
      "map stage0:u8 [4:i64, p2:i64, 3:i64] { body = load(in0:u8 clamp, rem(axis0, p1:i64), axis1, axis2) } "
      "output stage0 [0, 1, 2] dense 3 streaming }");
  std::vector<uint8_t> from(4 * 64 * 3 + runtime::kBufferPadding, 5);
  for (const Target& target : runnable_targets()) {
    auto backend = make_llvm_backend(target);
    const kernel::ScheduleOptions options = backend->schedule_options();
    auto compiled =
        backend->compile(kernel, kernel::lower(kernel, kernel::make_schedule(kernel, options), options));
    ASSERT_TRUE(compiled) << compiled.error().message();
    for (const int64_t width : {0, 40})
      for (const int64_t columns : {0, 40}) {
        const auto status_of = [&](const auto& code) {
          std::vector<uint8_t> to(static_cast<size_t>(4 * columns * 3 + kBehind));
          runtime::KernelTensor tensors[] = {{from.data(), {4, width, 3}, {width * 3, 3, 1}},
                                             {to.data(), {4, columns, 3}, {columns * 3, 3, 1}}};
          const uint64_t params[] = {4, static_cast<uint64_t>(width), static_cast<uint64_t>(columns)};
          uint32_t status = 0;
          code(runtime::KernelCall{tensors, params, nullptr, &status, 0});
          return status;
        };
        const uint32_t wanted =
            status_of([&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
        EXPECT_EQ(wanted != 0, width == 0 && columns > 0);
        EXPECT_EQ(status_of([&](const runtime::KernelCall& call) { compiled->code->run(call); }), wanted)
            << target.name() << ", " << columns << " columns of " << width;
      }
  }
}

/// Prefetches into the second cache in the code for `level`.
int prefetches(const std::string& text, TargetLevel level) {
  const kernel::Kernel kernel = kernel_from(text);
  const Target target{level, false};
  const auto options = make_llvm_backend(target)->schedule_options();
  const auto module = CodeModule::open();
  EXPECT_TRUE(module) << module.error().message();
  const auto assembly =
      (*module)->assembly(kernel::lower(kernel, kernel::make_schedule(kernel, options), options), target);
  EXPECT_TRUE(assembly) << assembly.error().message();
  int found = 0;
  for (size_t at = 0; (at = assembly->find("prefetcht1", at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(LlvmAhead, RunsIntoABatchAskForWhatComesLater) {
  const auto inverted = [](const std::string& from, const std::string& value, const std::string& streaming) {
    return "kernel { param p0:i64 input in0:" + from +
           " [p0:i64] dense 1 map stage0:f32 [p0:i64] { body = " + value + " } output stage0 [0] dense 1" +
           streaming + " }";
  };
  const std::string floats = "sub(1:f32, load(in0:f32, axis0))";
  const std::string cast = "convert.f32(load(in0:u8, axis0))";
  for (const TargetLevel level : {TargetLevel::kX86V3, TargetLevel::kX86V4}) {
    EXPECT_GT(prefetches(inverted("f32", floats, " streaming"), level), 0);
    // What stays in the cache is not worth it, nor is a quarter of a line for a line that is stored.
    EXPECT_EQ(prefetches(inverted("f32", floats, ""), level), 0);
    EXPECT_EQ(prefetches(inverted("u8", cast, " streaming"), level), 0);
  }
}

}  // namespace
}  // namespace galatea::codegen
