// Kernels that a GPU makes tile by tile: what is made so, that it computes what stages mean wherever a tile's
// memory lies, and what is refused.
#include <gtest/gtest.h>

#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

using namespace kernel;

constexpr ScheduleOptions kTiledForGpu{.gpu = true};

int stages_in_tiles(const Kernel& kernel) {
  const Schedule schedule = make_schedule(kernel, kTiledForGpu);
  return static_cast<int>(
      std::count_if(schedule.stages.begin(), schedule.stages.end(),
                    [](const StageSchedule& s) { return s.placement == Placement::kTile; }));
}

/// The window's weights are divided by their sum.
SampleKernel normalised_window() {
  SampleKernel out = gaussian(Border::kClamp, 3);
  const auto of = [](int stage, std::vector<Expr> at) {
    return load({LoadTarget::Kind::kStage, stage}, DType::kF32, std::move(at));
  };
  Stage sum;
  sum.name = "sum";
  sum.form = StageForm::kReduce;
  sum.accumulator = DType::kF64;
  sum.extents = {const_int(1)};
  sum.reduce_extents = {param(2, DType::kI64)};
  sum.body = convert(of(0, {reduce_axis(0)}), DType::kF64);
  Stage weights = out.kernel.stages[0];
  weights.name = "weights";
  weights.body = binary(ScalarOp::kDiv, of(0, {axis(0)}), of(1, {const_int(0)}));
  std::vector<Stage>& stages = out.kernel.stages;
  stages.insert(stages.begin() + 1, {sum, weights});
  stages[3].weight = stages[4].weight = of(2, {tap()});
  stages[4].source = load({LoadTarget::Kind::kStage, 3}, DType::kF32, stages[4].source->args, Border::kClamp);
  out.kernel.outputs[0].stage = 4;
  return out;
}

int phases_in(const LoopKernel& loops) {
  int count = 0;
  for_each_statement(loops.body, [&](const Statement& s) { count += std::holds_alternative<Phase>(s.node); });
  return count;
}

TEST(Tiles, EqualStagesWhereverTheirMemoryLies) {
  bool cut = false, spilled = false, known = false;
  int64_t number = 0;
  for (const auto& [name, sample] : tiled_kernels()) {
    const LoopKernel loops = lower_verified(sample.kernel, kTiledForGpu);
    ASSERT_TRUE(loops.block_bytes) << name;
    known |= is_const(loops.block_bytes);
    for (size_t p = 0; p < sample.params.size(); ++p) {
      const int64_t bytes = value_of(loops.block_bytes, sample.params[p]);
      spilled |= bytes > kSharedBytes;
      cut |= !is_const(loops.block_bytes) && bytes <= kSharedBytes;
      const std::vector<uint8_t> expected = run_stages(sample.kernel, sample.params[p], p + 1);
      ++number;
      for (const bool permuted : {false, true}) {
        if (!takes_turn(number, permuted, 2)) continue;
        ASSERT_EQ(run_loops(sample.kernel, loops, sample.params[p], p + 1, permuted), expected)
            << name << ", parameters " << p << (permuted ? ", permuted\n" : "\n") << to_text(loops);
      }
    }
  }
  EXPECT_TRUE(cut && spilled && known);
}

TEST(Tiles, HoldAllThatAResizeKeeps) {
  const Kernel resize = resize_u8(true, 3).kernel;
  EXPECT_EQ(stages_in_tiles(resize), 5);
  // First rows; both kinds of tables and first columns; rows; the output.
  EXPECT_EQ(phases_in(lower_verified(resize, kTiledForGpu)), 4);
  EXPECT_EQ(stages_in_tiles(gaussian(Border::kReflect101, 3).kernel), 2);
  // Weights that are divided by their sum, which is one number.
  EXPECT_EQ(stages_in_tiles(normalised_window().kernel), 4);
}

TEST(Tiles, MakeSumsOverTables) {
  SampleKernel sample = normalised_window();
  for (const auto& [name, window] : tiled_kernels())
    if (name == "tiles_of_gaussian_clamp") sample.params = window.params;
  const LoopKernel loops = lower_verified(sample.kernel, kTiledForGpu);
  ASSERT_TRUE(loops.block_bytes);
  for (size_t p = 0; p < sample.params.size(); ++p)
    ASSERT_EQ(run_loops(sample.kernel, loops, sample.params[p], p + 1, true),
              run_stages(sample.kernel, sample.params[p], p + 1))
        << p;
}

TEST(Tiles, OfAWindowOfKnownSizeTakeNoMoreThanTheyNeed) {
  for (const auto& [name, sample] : tiled_kernels()) {
    if (name != "tiles_of_window") continue;
    const LoopKernel loops = lower_verified(sample.kernel, kTiledForGpu);
    ASSERT_TRUE(is_const(loops.block_bytes));
    // 34 rows of 32 pixels of three floats, and three weights.
    EXPECT_EQ(const_value(loops.block_bytes), 34 * 32 * 3 * 4 + 16);
  }
}

TEST(Tiles, OfAFewRowsHaveTheMemoryThatTheyAreCutFor) {
  // A row's need is a number and small; as many rows as fit into all of it are made at once.
  const LoopKernel loops = lower_verified(nearest_rows(3).kernel, kTiledForGpu);
  ASSERT_TRUE(is_const(loops.block_bytes));
  EXPECT_EQ(const_value(loops.block_bytes), kSharedBytes);
  EXPECT_EQ(stages_in_tiles(nearest_rows(3).kernel), 3);
}

TEST(Tiles, AreNotMadeWhereTheyWouldMissOrRepeatWork) {
  // Nothing is kept.
  EXPECT_EQ(stages_in_tiles(brightness().kernel), 0);
  // A sum over the image is needed by every tile.
  EXPECT_EQ(stages_in_tiles(reductions(DType::kU8, DType::kI64, Combiner::kSum).kernel), 0);
  // An element that nobody reads may raise a flag.
  Kernel divides = gaussian(Border::kClamp, 3).kernel;
  divides.stages[1].finish =
      convert(convert(accumulator(DType::kF32), DType::kI32) / param(2, DType::kI32), DType::kF32);
  divides.params[2].type = DType::kI32;
  EXPECT_EQ(stages_in_tiles(divides), 0);
  // An output that is read again would have to be complete.
  Kernel read = gaussian(Border::kClamp, 3).kernel;
  read.outputs.push_back({1, {0, 1, 2}, false, 3});
  EXPECT_EQ(stages_in_tiles(read), 0);
}

}  // namespace
}  // namespace galatea::testing
