// Schedules and their reasons, text in and text out: tests/golden/schedule/*.kernel; and what the cost model
// counts.
//
// A file holds a kernel as the passes leave it, a line of three dashes, and its schedule. GALATEA_BLESS=1
// writes what came out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/kernel/cost.h"
#include "compiler/kernel/schedule.h"
#include "tests/kernel/kernel_call.h"
#include "tests/support/bless.h"

namespace galatea::kernel {
namespace {

std::vector<std::string> scheduled_golden_files() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(GALATEA_SOURCE_DIR) + "/tests/golden/schedule"))
    if (entry.path().extension() == ".kernel") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

class GoldenSchedule : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenSchedule, PlacementsAndReasons) {
  std::ifstream file(GetParam());
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const size_t divider = text.find("\n---\n");
  ASSERT_NE(divider, std::string::npos) << "no line of three dashes";
  const std::string before = text.substr(0, divider + 1);
  const Kernel kernel = testing::kernel_from(before);
  const std::string out = to_text(kernel, make_schedule(kernel, {}));
  if (galatea::testing::is_blessing()) {
    std::ofstream(GetParam()) << before << "---\n" << out;
    GTEST_SKIP() << "blessed";
  }
  EXPECT_EQ(out, text.substr(divider + 5));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenSchedule, ::testing::ValuesIn(scheduled_golden_files()),
                         [](const auto& test) { return std::filesystem::path(test.param).stem().string(); });

TEST(Cost, EqualExtentsCancel) {
  const Expr h = param(0, DType::kI64), w = param(1, DType::kI64);
  EXPECT_EQ(relative_volume({h, w, const_int(3)}, {w, h, const_int(3)}), 1);
  EXPECT_EQ(relative_volume({h, w, const_int(3)}, {h, w}), 3);
  EXPECT_EQ(relative_volume({h}, {h, const_int(8)}), 1.0 / 8);
  EXPECT_EQ(relative_volume({h, h}, {h, w}), 1);  // both unknown: of the usual extent
}

TEST(Cost, SharedPartsCountOnce) {
  const Expr x = convert(load({LoadTarget::Kind::kInput, 0}, DType::kU8, {axis(0)}), DType::kF32);
  const double one = operations(x);
  EXPECT_EQ(operations(x * x), one + 1);
  EXPECT_GT(operations(unary(ScalarOp::kSqrt, x)), operations(x + x));
}

/// A reader of every element nine times, in a window.
TEST(Cost, NineReadsAreWorthKeeping) {
  const Kernel kernel = testing::kernel_from(R"(kernel { param p0:i64 input in0:u8 [p0:i64]
    map stage0:u8 [p0:i64] { body = saturate.u8(mul(mul(convert.f32(load(in0:u8, axis0)), 3:f32), 5:f32)) }
    reduce stage1:i32 [p0:i64] over [9:i64] sum in i32 { body = convert.i32(load(stage0:u8 clamp, add(axis0, raxis0))) }
    output stage1 [0] })");
  const Recomputation again = recomputation(kernel, 0);
  EXPECT_EQ(again.evaluations, 9);
  EXPECT_EQ(again.bytes, 2);
  EXPECT_FALSE(again.pays());
  EXPECT_EQ(again.words(), "computed 9 times: 40 operations more, against 2 bytes moved and 9 loads");
}

/// Each stage reads the one before it twice: what is known of a stage is found once, not 2^40 times.
TEST(Schedule, LongChainsOfTables) {
  constexpr int kStages = 40;
  std::string text =
      "kernel { input in0:u8 [16:i64]\n  map stage0:f32 [16:i64] { body = convert.f32(axis0) }\n";
  for (int s = 1; s < kStages; ++s)
    text += fmt::format(
        "  map stage{0}:f32 [16:i64] {{ body = add(load(stage{1}:f32, axis0), "
        "load(stage{1}:f32 clamp, add(axis0, 1:i64))) }}\n",
        s, s - 1);
  text += fmt::format(
      "  map stage{0}:f32 [16:i64] {{ body = add(load(stage{1}:f32, axis0), convert.f32(load(in0:u8, axis0))) }}\n"
      "  output stage{0} [0] }}",
      kStages, kStages - 1);
  const Schedule schedule = make_schedule(testing::kernel_from(text), {});
  for (size_t s = 0; s < kStages; ++s) EXPECT_EQ(schedule.stages[s].placement, Placement::kTable) << s;
}

}  // namespace
}  // namespace galatea::kernel
