// Images whose channels only the call knows (lower_channels.cpp): which kernels have loops for three channels
// beside those for any number, and that both compute what the stages mean.
#include <gtest/gtest.h>

#include "tests/kernel/kernel_call.h"
#include "tests/loops/loop_harness.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT

/// Loops for three channels ask the parameter.
bool has_loops_for_three(const LoopKernel& loops) {
  return to_text(loops).find("if p2 == 3") != std::string::npos;
}

void expect_same(const Kernel& kernel, const LoopKernel& loops, int64_t least_channels,
                 const std::vector<uint64_t>& more) {
  for (int64_t channels = least_channels; channels <= 5; ++channels)
    for (const uint64_t width : {uint64_t{0}, uint64_t{1}, uint64_t{70}}) {
      std::vector<uint64_t> params = {3, width, static_cast<uint64_t>(channels)};
      params.insert(params.end(), more.begin(), more.end());
      EXPECT_EQ(run_loops(kernel, loops, params, 1), run_stages(kernel, params, 1))
          << channels << " channels, width " << width << "\n"
          << to_text(loops);
    }
}

TEST(UnknownChannels, ElementsWithoutAPlaceNeedNoPixels) {
  const Kernel kernel = kernel_from(R"(kernel { param p0:i64 param p1:i64 param p2:i64 param p3:f32
    input in0:u8 [p0:i64, p1:i64, p2:i64] dense 3
    map stage0:u8 [256:i64] { body = saturate.u8(mul(convert.f32(convert.u8(axis0)), p3:f32)) }
    map stage1:u8 [p0:i64, p1:i64, p2:i64] { body = load(stage0:u8, convert.i64(load(in0:u8, axis0, axis1, axis2))) }
    output stage1 [0, 1, 2] dense 3 })");
  const LoopKernel loops = lower_verified(kernel, {});
  EXPECT_FALSE(has_loops_for_three(loops)) << to_text(loops);
  expect_same(kernel, loops, 0, {0x3FC00000});
}

TEST(UnknownChannels, AConditionOnThePlaceWantsPixels) {
  const Kernel kernel = kernel_from(R"(kernel { param p0:i64 param p1:i64 param p2:i64 param p3:i64
    input in0:u8 [p0:i64, p1:i64, p2:i64] dense 3
    map stage0:u8 [p0:i64, p1:i64, p2:i64] { body = select(lt(mul(axis1, 2:i64), p3:i64), 0:u8, load(in0:u8, axis0, axis1, axis2)) }
    output stage0 [0, 1, 2] dense 3 })");
  const LoopKernel loops = lower_verified(kernel, {});
  EXPECT_TRUE(has_loops_for_three(loops)) << to_text(loops);
  expect_same(kernel, loops, 0, {20});
}

/// The loops ask where the box is (lower_box.cpp), so that pixels need not be told apart.
TEST(UnknownChannels, ABoxWantsNoPixels) {
  const Kernel kernel = kernel_from(R"(kernel { param p0:i64 param p1:i64 param p2:i64 param p3:i64
    input in0:u8 [p0:i64, p1:i64, p2:i64] dense 3
    map stage0:u8 [p0:i64, p1:i64, p2:i64] { body = select(lt(axis1, p3:i64), 0:u8, load(in0:u8, axis0, axis1, axis2)) }
    output stage0 [0, 1, 2] dense 3 })");
  const LoopKernel loops = lower_verified(kernel, {});
  EXPECT_FALSE(has_loops_for_three(loops)) << to_text(loops);
  expect_same(kernel, loops, 0, {20});
}

/// The result has three channels whatever the image has; and its table keeps the size by which code
/// generators know it.
TEST(UnknownChannels, ReadingChannelsByNumberWantsPixels) {
  const Kernel kernel = kernel_from(R"(kernel { param p0:i64 param p1:i64 param p2:i64 param p3:f32
    input in0:u8 [p0:i64, p1:i64, p2:i64] dense 3
    map stage0:u8 [256:i64] { body = saturate.u8(mul(convert.f32(convert.u8(axis0)), p3:f32)) }
    map stage1:u8 [p0:i64, p1:i64, 3:i64] { body = sub(load(stage0:u8, convert.i64(load(in0:u8, axis0, axis1, 2:i64))),
      load(stage0:u8, convert.i64(load(in0:u8, axis0, axis1, sub(2:i64, axis2))))) }
    output stage1 [0, 1, 2] dense 3 })");
  const LoopKernel loops = lower_verified(kernel, {});
  EXPECT_TRUE(has_loops_for_three(loops)) << to_text(loops);
  int tables = 0;
  for (const LoopBuffer& buffer : loops.buffers) {
    if (buffer.kind != BufferKind::kScratch) continue;
    ++tables;
    EXPECT_TRUE(is_const_int(buffer.elements, 256)) << to_text(loops);
  }
  EXPECT_EQ(tables, 2);
  expect_same(kernel, loops, 3, {0x3FC00000});
}

}  // namespace
}  // namespace galatea::testing
