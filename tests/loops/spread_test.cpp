// Which phases several blocks of a GPU share, and how statistics of an image are dealt to them.
#include <gtest/gtest.h>

#include "compiler/kernel/spread_phases.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

using namespace kernel;

constexpr ScheduleOptions kGpu{.gpu = true};

const Phase* find_phase(const LoopKernel& loops, const std::string& name) {
  for (const Statement& statement : loops.body)
    if (const auto* phase = std::get_if<Phase>(&statement.node); phase && phase->name == name) return phase;
  return nullptr;
}

int stores_by_warps(const LoopKernel& loops, Combiner combiner) {
  int count = 0;
  for_each_statement(loops.body, [&](const Statement& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    count += store && store->warp && store->combiner == combiner ? 1 : 0;
  });
  return count;
}

TEST(SpreadPhases, AreThoseWorthSeveralBlocks) {
  const LoopKernel apart = lower_verified(resize_u8(true, 3).kernel, {.gpu = true, .fuse = false});
  const Phase *first = find_phase(apart, "first_x"), *rows = find_phase(apart, "h"),
              *out = find_phase(apart, "v");
  ASSERT_TRUE(first && rows && out) << to_text(apart);
  EXPECT_FALSE(first->spread);  // a number a column
  EXPECT_TRUE(rows->spread);
  EXPECT_TRUE(out->spread);
  EXPECT_TRUE(shares_phases(apart));
  // One phase: nobody waits for anybody.
  EXPECT_FALSE(shares_phases(lower_verified(brightness().kernel, kGpu)));
  EXPECT_FALSE(shares_phases(lower_verified(gaussian(Border::kClamp, 3).kernel, kGpu)));
}

TEST(SpreadPhases, StatisticsAreSlicesOfTheImage) {
  const LoopKernel loops = lower_verified(equalized().kernel, kGpu);
  const std::vector<SharedStep> steps = shared_steps(loops);
  ASSERT_EQ(steps.size(), 3U) << to_text(loops);
  // Counts, and what is made of them by one block; the smallest value; the image.
  EXPECT_TRUE(std::holds_alternative<For>(steps[0].spread->node));
  EXPECT_GE(steps[0].alone.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<For>(steps[1].spread->node));
  EXPECT_EQ(steps[1].alone.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<Phase>(steps[2].spread->node));
  EXPECT_EQ(std::get<Phase>(steps[2].spread->node).name, "equal");
  EXPECT_TRUE(steps[2].alone.empty());
  EXPECT_EQ(stores_by_warps(loops, Combiner::kMin), 1);
}

TEST(SpreadPhases, WarpsCombineWhatAnyOrderSuits) {
  const auto stores = [](DType type, DType accumulator, Combiner combiner) {
    return stores_by_warps(lower_verified(reductions(type, accumulator, combiner).kernel, kGpu), combiner);
  };
  EXPECT_EQ(stores(DType::kU8, DType::kI64, Combiner::kSum), 2);  // all, per channel
  EXPECT_EQ(stores(DType::kI16, DType::kI16, Combiner::kMax), 2);
  // Sums of floats are a tree of sixteen lanes.
  EXPECT_EQ(stores(DType::kF32, DType::kF32, Combiner::kSum), 0);
}

/// What the verifier refuses: values of warps where a warp may not be whole, or where threads are of several
/// blocks.
TEST(SpreadPhases, WarpsAreWhole) {
  const auto loops_of = [](int64_t count, bool in_tile) {
    LoopKernel loops;
    loops.name = "warps";
    loops.buffers.push_back(
        {"sum", in_tile ? BufferKind::kShared : BufferKind::kScratch, DType::kI32, -1, const_int(4)});
    loops.var_types = {DType::kI64, DType::kI64};
    loops.block_bytes = const_int(16);
    Block body, phases;
    body.push_back(
        {Store{0, const_int(0), const_int(1, DType::kI32), false, true, Combiner::kSum, true}, {}});
    Phase phase{"count", {}, false};
    phase.body.push_back(
        {For{1, const_int(0), const_int(count), LoopRole::kGrid, 1, 1, std::move(body)}, {}});
    phases.push_back({std::move(phase), {}});
    if (in_tile)
      loops.body.push_back(
          {For{0, const_int(0), const_int(2), LoopRole::kTile, 1, 1, std::move(phases)}, {}});
    else
      loops.body = std::move(phases);
    return loops;
  };
  EXPECT_TRUE(verify(loops_of(64, true)));
  EXPECT_FALSE(verify(loops_of(40, true)));
  EXPECT_FALSE(verify(loops_of(64, false)));
}

}  // namespace
}  // namespace galatea::testing
