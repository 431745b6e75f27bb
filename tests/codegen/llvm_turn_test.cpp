// Rows for columns: blocks of pixels that machine code turns in registers, against the stage interpreter.
#include <gtest/gtest.h>

#include <random>

#include "compiler/codegen/code_module.h"
#include "compiler/codegen/llvm_backend.h"
#include "compiler/kernel/interpreter.h"
#include "tests/kernel/kernel_call.h"

namespace galatea::codegen {
namespace {

using testing::kernel_from;
using testing::TestTensor;

struct Way {
  const char *row, *column;  ///< of the source, for the destination's axis0 and axis1
};
constexpr Way kWays[] = {{"axis1", "axis0"},
                         {"sub(sub(p0:i64, 1:i64), axis1)", "axis0"},
                         {"axis1", "sub(sub(p1:i64, 1:i64), axis0)"},
                         {"sub(sub(p0:i64, 1:i64), axis1)", "sub(sub(p1:i64, 1:i64), axis0)"}};

/// T: the type. Rows of the source may lie apart: `dense` of its axes are dense.
kernel::Kernel turning(DType type, int64_t channels, const Way& way, int dense) {
  const std::string t(short_name(type)), c = std::to_string(channels) + ":i64";
  return kernel_from("kernel { param p0:i64 param p1:i64 input in0:" + t + " [p0:i64, p1:i64, " + c +
                     "] dense " + std::to_string(dense) + " map stage0:" + t + " [p1:i64, p0:i64, " + c +
                     "] { body = load(in0:" + t + ", " + way.row + ", " + way.column +
                     ", axis2) } output stage0 [0, 1, 2] dense 3 }");
}

struct Image {
  TestTensor tensor;
  runtime::KernelTensor view;
  /// Rows lie `apart` elements further than they are long.
  Image(DType type, int64_t height, int64_t width, int64_t channels, int64_t apart)
      : tensor(type, {height, width * channels + apart}) {
    std::mt19937 random(static_cast<uint32_t>(height * 1000 + width));
    // Any bits: nothing computes with them, so that even NaNs keep theirs.
    for (int64_t i = 0; i < tensor.count() * size_of(type); ++i)
      tensor.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(random());
    view.data = tensor.bytes.data();
    const int64_t extents[] = {height, width, channels}, strides[] = {width * channels + apart, channels, 1};
    std::copy(std::begin(extents), std::end(extents), view.extents);
    std::copy(std::begin(strides), std::end(strides), view.strides);
  }
};

std::vector<uint8_t> turned(Image& from, const std::function<void(const runtime::KernelCall&)>& code) {
  const runtime::KernelTensor& view = from.view;
  TestTensor out(from.tensor.type, {view.extents[1], view.extents[0], view.extents[2]});
  const runtime::KernelTensor tensors[] = {view, out.view()};
  const uint64_t params[] = {static_cast<uint64_t>(view.extents[0]), static_cast<uint64_t>(view.extents[1])};
  uint32_t status = 0;
  code({tensors, params, nullptr, &status});
  return out.bytes;
}

kernel::LoopKernel loops_for(const kernel::Kernel& kernel, const kernel::ScheduleOptions& options) {
  return kernel::lower(kernel, kernel::make_schedule(kernel, options), options);
}

/// Sizes below, at, and about whole blocks, either way.
constexpr std::pair<int64_t, int64_t> kSizes[] = {{1, 1},   {3, 50},  {50, 3},  {16, 16}, {17, 16},
                                                  {15, 40}, {40, 15}, {33, 64}, {37, 53}};

class LlvmTurn : public ::testing::TestWithParam<DType> {};

TEST_P(LlvmTurn, EveryPixelAndDirection) {
  const DType type = GetParam();
  for (const int64_t channels : {1, 2, 3, 4})
    for (size_t w = 0; w < std::size(kWays); ++w) {
      // One channel lies like more of them, and what is odd here is even there.
      const int64_t apart = w % 2 == 0 ? 0 : 5;
      const kernel::Kernel kernel = turning(type, channels, kWays[w], apart == 0 ? 3 : 2);
      for (const Target& target : runnable_targets()) {
        auto backend = make_llvm_backend(target);
        auto compiled = backend->compile(kernel, loops_for(kernel, backend->schedule_options()));
        ASSERT_TRUE(compiled) << compiled.error().message();
        for (const auto& [height, width] : kSizes) {
          Image image(type, height, width, channels, apart);
          const auto expected =
              turned(image, [&](const runtime::KernelCall& call) { kernel::interpret_stages(kernel, call); });
          const auto actual =
              turned(image, [&](const runtime::KernelCall& call) { compiled->code->run(call); });
          ASSERT_EQ(expected, actual) << target.name() << ", " << channels << " channels, " << kWays[w].row
                                      << ", " << kWays[w].column << ", " << height << " x " << width;
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, LlvmTurn,
                         ::testing::Values(DType::kU8, DType::kI16, DType::kF16, DType::kF32, DType::kF64),
                         [](const auto& test) { return std::string(short_name(test.param)); });

/// The test above would hold for a gather as well: what takes blocks, and what has no lane for its pixels.
TEST(LlvmTurn, TakesBlocksWhereAPixelFitsALane) {
  const auto host = host_target();
  if (!host) GTEST_SKIP() << "no machine code for this processor";
  auto code_module = CodeModule::open();
  ASSERT_TRUE(code_module) << code_module.error().message();
  const auto takes_blocks = [&](DType type, int64_t channels) {
    const kernel::Kernel kernel = turning(type, channels, kWays[0], 3);
    auto text =
        (*code_module)->llvm_text(loops_for(kernel, make_llvm_backend(*host)->schedule_options()), *host);
    EXPECT_TRUE(text);
    return text && text->find("\nturn:") != std::string::npos;
  };
  for (const int64_t channels : {1, 2, 3, 4}) {
    EXPECT_TRUE(takes_blocks(DType::kU8, channels)) << channels;
    EXPECT_TRUE(takes_blocks(DType::kF32, channels) || host->vector_bits() == 128) << channels;
  }
  EXPECT_FALSE(takes_blocks(DType::kF64, 3));
}

}  // namespace
}  // namespace galatea::codegen
