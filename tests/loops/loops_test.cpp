// What loops.h and schedule.h promise besides values: the verifier's refusals, offsets taken apart, scratch,
// placements with reasons, text.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/reader.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;

/// out[i] = v0 for i in 0 .. n, with room for a test to break it.
LoopKernel simple() {
  LoopKernel k;
  k.name = "simple";
  k.params = {{"n", DType::kI64}};
  k.buffers = {{"out", BufferKind::kOutput, DType::kI64, 0, Expr()}};
  k.var_types = {DType::kI64};
  k.stride_vars = {{-1}};
  Block body;
  body.push_back({Store{0, var(0, DType::kI64), var(0, DType::kI64), false}, {}});
  k.body.push_back(
      {For{0, const_int(0), param(0, DType::kI64), LoopRole::kVector, 8, 1, std::move(body)}, {}});
  return k;
}
std::string complaint(const LoopKernel& k) {
  const Status status = kernel::verify(k);
  return status ? "" : status.error().message();
}

TEST(LoopVerifier, AcceptsLegalLoops) { EXPECT_EQ(complaint(simple()), ""); }

TEST(LoopVerifier, NamesWhatIsWrong) {
  LoopKernel k = simple();
  std::get<Store>(std::get<For>(k.body[0].node).body[0].node).value = const_float(1.0);
  EXPECT_NE(complaint(k).find("value stored to out is f32, not i64"), std::string::npos) << complaint(k);

  k = simple();
  k.var_types.push_back(DType::kI64);
  std::get<Store>(std::get<For>(k.body[0].node).body[0].node).offset = var(1, DType::kI64);
  EXPECT_NE(complaint(k).find("v1 is not defined"), std::string::npos) << complaint(k);

  k = simple();
  Block inner = std::get<For>(k.body[0].node).body;
  std::get<For>(k.body[0].node).body = {{If{equal(var(0, DType::kI64), const_int(3)), inner, {}}, {}}};
  EXPECT_NE(complaint(k).find("differs between lanes"), std::string::npos) << complaint(k);

  k = simple();
  k.var_types.push_back(DType::kI64);
  Block nested = std::get<For>(k.body[0].node).body;
  std::get<For>(k.body[0].node).body = {
      {For{1, const_int(0), const_int(2), LoopRole::kVector, 8, 1, nested}, {}}};
  EXPECT_NE(complaint(k).find("inside another"), std::string::npos) << complaint(k);

  k = simple();
  k.buffers[0].kind = BufferKind::kInput;
  EXPECT_NE(complaint(k).find("store to the input"), std::string::npos) << complaint(k);

  k = simple();
  std::get<For>(k.body[0].node).body.push_back({Assign{0, const_int(1)}, {}});
  EXPECT_NE(complaint(k).find("cannot be assigned"), std::string::npos) << complaint(k);
}

TEST(VectorOffset, TakesOffsetsApart) {
  const Expr x = var(0, DType::kI64), base = var(1, DType::kI64), lane = var(2, DType::kI64);
  const std::vector<bool> varying = {false, false, true};
  VectorOffset parts;
  ASSERT_TRUE(match_vector_offset((base + x * const_int(3)) + const_int(2), 0, varying, &parts));
  EXPECT_TRUE(same(parts.uniform, base));
  EXPECT_TRUE(is_const_int(parts.scale, 3));
  EXPECT_EQ(parts.constant, 2);
  ASSERT_TRUE(match_vector_offset(base + const_int(5), 0, varying, &parts));
  EXPECT_FALSE(parts.scale);
  EXPECT_EQ(parts.constant, 5);
  ASSERT_TRUE(match_vector_offset(base - x, 0, varying, &parts));
  EXPECT_TRUE(is_const_int(parts.scale, -1));
  EXPECT_FALSE(match_vector_offset(base + max(x, base), 0, varying, &parts));
  EXPECT_FALSE(match_vector_offset(lane + x, 0, varying, &parts));
}

TEST(Scratch, BuffersAreAlignedAndPadded) {
  LoopKernel k = simple();
  k.buffers.push_back({"a", BufferKind::kScratch, DType::kU8, -1, param(0, DType::kI64)});
  k.buffers.push_back({"b", BufferKind::kScratch, DType::kF64, -1, const_int(3)});
  const ScratchLayout layout = layout_scratch(k);
  for (const uint64_t n : {0, 1, 63, 64, 65, 1000}) {
    const int64_t a = value_of(layout.offsets[1], {n}), b = value_of(layout.offsets[2], {n}),
                  bytes = value_of(layout.bytes, {n});
    EXPECT_EQ(a % 64, 0);
    EXPECT_EQ(b % 64, 0);
    EXPECT_GE(b, a + static_cast<int64_t>(n) + 64);
    EXPECT_GE(bytes, b + 24 + 64);
  }
}

TEST(Schedule, ResizeKeepsRowsAndSaysWhy) {
  const kernel::Kernel k = resize_u8(true, 3).kernel;
  const Schedule schedule = make_schedule(k, {});
  EXPECT_EQ(schedule.stages[0].placement, Placement::kTable);
  EXPECT_EQ(schedule.stages[4].placement, Placement::kRing);
  EXPECT_EQ(schedule.stages[5].placement, Placement::kOutput);
  EXPECT_NE(to_text(k, schedule).find("h: row ring"), std::string::npos) << to_text(k, schedule);
  EXPECT_EQ(make_schedule(k, {.gpu = true}).stages[4].placement, Placement::kTile);
  EXPECT_EQ(make_schedule(k, {.fuse = false}).stages[4].placement, Placement::kWhole);
  const std::string text = to_text(lower(k, schedule, {}));
  EXPECT_NE(text.find("band_row("), std::string::npos) << text;
  EXPECT_NE(text.find("vector(16)"), std::string::npos) << text;
}

/// A band along the last axis of [h, w, n].
std::string band_along_channels(const std::string& n) {
  return fmt::format(R"(kernel "channels" {{
  param p0:i64
  param p1:i64
  param p2:i64
  param p3:i64
  input in0:f32 [p0:i64, p1:i64, p2:i64] dense 3
  map stage0:f32 [{0}:i64, p2:i64] "weight" {{
    body = convert.f32(mul(axis0, axis1))
  }}
  band stage1:f32 [p0:i64, p1:i64, {0}:i64] axis 2 in f32 "mixed" {{
    first = axis2
    taps = p2:i64
    weight = load(stage0:f32, axis2, tap)
    source = load(in0:f32 clamp, axis0, axis1, add(axis2, tap))
    finish = acc:f32
  }}
  output stage1 [0, 1, 2] dense 3
}}
)",
                     n);
}

TEST(Schedule, LanesGoAcrossPixelsWhereChannelsAreMixed) {
  const auto loops_of = [](const std::string& n) {
    SourceMap sources;
    const auto kernel = read_kernel(band_along_channels(n), sources);
    EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().message());
    return kernel ? to_text(lower_verified(*kernel, {})) : std::string();
  };
  EXPECT_EQ(loops_of("2").find("band_row("), std::string::npos) << loops_of("2");
  EXPECT_NE(loops_of("2").find("* 2) + 1] = fma("), std::string::npos) << loops_of("2");
  EXPECT_NE(loops_of("p3").find("band_row("), std::string::npos) << loops_of("p3");
}

TEST(Schedule, PointwiseChainsAreInlinedAndFlat) {
  const kernel::Kernel k = brightness().kernel;
  const Schedule schedule = make_schedule(k, {});
  EXPECT_EQ(schedule.stages[0].placement, Placement::kInlined);
  const LoopKernel loops = lower(k, schedule, {});
  for (const LoopBuffer& buffer : loops.buffers) EXPECT_NE(buffer.kind, BufferKind::kScratch) << buffer.name;
}

/// Lanes walk memory one element (or one pixel) at a time: no gathers in what is meant to be fast.
TEST(Lowering, VectorLoopsHaveConstantStrides) {
  for (const auto& [name, sample] :
       {std::pair{"resize", resize_u8(true, 3)}, {"matrix", colour_matrix()}, {"brightness", brightness()}}) {
    const LoopKernel loops = lower_verified(sample.kernel, {});
    int checked = 0;
    for_each_statement(loops.body, [&, title = name](const Statement& s) {
      const auto* loop = std::get_if<For>(&s.node);
      if (!loop || loop->role != LoopRole::kVector) return;
      for_each_statement(loop->body, [&](const Statement& inner) {
        const auto* store = std::get_if<Store>(&inner.node);
        VectorOffset parts;
        if (store && loops.buffers[static_cast<size_t>(store->buffer)].kind == BufferKind::kOutput) {
          ++checked;
          EXPECT_TRUE(match_vector_offset(store->offset, loop->var, {}, &parts) && parts.scale &&
                      is_const(parts.scale))
              << title << ": " << to_text(store->offset);
        }
      });
    });
    EXPECT_GT(checked, 0) << name;
  }
}

/// What stands on one side of everything that is read is the fill: no loads, no conditions, whole vectors.
TEST(Lowering, LanesGoAlongAReductionWhoseElementsLieSideBySide) {
  const auto text_of = [](const kernel::Kernel& k) { return to_text(lower(k, make_schedule(k, {}), {})); };
  const std::string sums = text_of(reductions(DType::kF32, DType::kF64, kernel::Combiner::kSum, true).kernel);
  EXPECT_NE(sums.find("scratch per_row_lanes"), std::string::npos) << sums;
  EXPECT_EQ(sums.find("per_column_lanes"), std::string::npos) << sums;
  // Element 16 b + lane lies in group b.
  const std::string groups = text_of(sums_of_groups(true).kernel);
  EXPECT_NE(groups.find("scratch per_row_lanes"), std::string::npos) << groups;
  EXPECT_EQ(groups.find(" / 16"), std::string::npos) << groups;
  EXPECT_EQ(groups.find(" % 16"), std::string::npos) << groups;
}

TEST(Lowering, RowsThatLieDenselyAreNotTakenApart) {
  const auto text_of = [](const kernel::Kernel& k) { return to_text(lower(k, make_schedule(k, {}), {})); };
  const std::string dense = text_of(samples_in_a_row(2).kernel);
  EXPECT_EQ(dense.find(" / "), std::string::npos) << dense;
  EXPECT_EQ(dense.find(" % "), std::string::npos) << dense;
  EXPECT_EQ(dense.find("scratch"), std::string::npos) << dense;
  const std::string apart = text_of(samples_in_a_row(1).kernel);
  EXPECT_NE(apart.find(" / "), std::string::npos) << apart;
}

TEST(Lowering, EdgesOfPaddingAreTheirFill) {
  const LoopKernel loops = lower_verified(padded().kernel, {});
  int edges = 0, copies = 0;
  for_each_statement(loops.body, [&](const Statement& s) {
    const auto* loop = std::get_if<For>(&s.node);
    if (!loop || !std::holds_alternative<Store>(loop->body.front().node)) return;
    EXPECT_EQ(loop->role, LoopRole::kVector);
    const bool is_fill = is_const(std::get<Store>(loop->body.front().node).value);
    ++(is_fill ? edges : copies);
  });
  EXPECT_EQ(edges, 2);
  EXPECT_EQ(copies, 1);
}

/// A border of the reader's holds what it reads within the same extent: away from edges nothing holds an index, and pixels
/// and channels are one run.
TEST(Lowering, WindowsOfWindowsHaveOneBorder) {
  const kernel::Kernel k = dilated(false).kernel;
  const Schedule schedule = make_schedule(k, {});
  ASSERT_EQ(schedule.stages[0].placement, Placement::kInlined);
  int vectors = 0;
  for_each_statement(lower(k, schedule, {}).body, [&](const Statement& s) {
    const auto* loop = std::get_if<For>(&s.node);
    if (!loop || loop->role != LoopRole::kVector) return;
    ++vectors;
    ASSERT_EQ(loop->body.size(), 1U);
    const auto* store = std::get_if<Store>(&loop->body[0].node);
    ASSERT_TRUE(store);
    EXPECT_FALSE(lowering::any_node(store->value, [](const ExprNode& e) {
      return e.kind == ExprKind::kOp && e.op == ScalarOp::kMin && e.type == DType::kI64;
    })) << to_text(store->value);
  });
  EXPECT_EQ(vectors, 1);
}

/// Tables are small: no loops of their own for a step of 1 or -1 through a parameter.
TEST(Lowering, TablesHaveLoopsOnce) {
  int tables = 0;
  for (const auto& [name, sample] : sample_kernels()) {
    const Schedule schedule = make_schedule(sample.kernel, {});
    const LoopKernel loops = lower(sample.kernel, schedule, {});
    for (size_t s = 0; s < schedule.stages.size(); ++s) {
      if (schedule.stages[s].placement != Placement::kTable) continue;
      const std::string& stage = sample.kernel.stages[s].name;
      for (const Statement& statement : loops.body) {
        const auto* phase = std::get_if<Phase>(&statement.node);
        if (!phase || phase->name != stage) continue;
        ++tables;
        for_each_statement(phase->body, [&](const Statement& inner) {
          const auto* choice = std::get_if<If>(&inner.node);
          if (!choice || choice->condition->kind != ExprKind::kOp) return;
          EXPECT_NE(choice->condition->op, ScalarOp::kEq) << name << ", " << stage;
        });
      }
    }
  }
  EXPECT_GE(tables, 6);
}

TEST(Lowering, GpuFormHoldsPhasesOfGridLoopsOnly) {
  for (const auto& [name, sample] : sample_kernels()) {
    const LoopKernel loops = lower_verified(sample.kernel, {.gpu = true});
    for_each_statement(loops.body, [&](const Statement& s) {
      const auto* loop = std::get_if<For>(&s.node);
      if (!loop) return;
      EXPECT_NE(loop->role, LoopRole::kVector) << name;
      EXPECT_TRUE(loop->role != LoopRole::kTile || loops.block_bytes) << name;
    });
    for (const Statement& s : loops.body) {
      const auto* phase = std::get_if<Phase>(&s.node);
      ASSERT_TRUE(phase || std::holds_alternative<Let>(s.node) || loops.block_bytes) << name;
      if (!phase) continue;
      for (const Statement& inner : phase->body) {
        const auto* loop = std::get_if<For>(&inner.node);
        ASSERT_TRUE(std::holds_alternative<Let>(inner.node) || (loop && loop->role == LoopRole::kGrid))
            << name << ", " << phase->name;
      }
    }
  }
}

}  // namespace
}  // namespace galatea::testing
