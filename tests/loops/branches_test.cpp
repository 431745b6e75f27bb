// Choices that become branches (branch_loops.cpp): which do, and that nothing changes but what is computed.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/kernel/kernel_call.h"
#include "tests/loops/loop_harness.h"
#include "tests/loops/sample_kernels.h"
#include "tests/loops/sample_stages.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT

/// Branches inside of vector loops.
int count_branches(const LoopKernel& loops) {
  int out = 0;
  for_each_statement(loops.body, [&](const Statement& statement) {
    const auto* loop = std::get_if<For>(&statement.node);
    if (!loop || loop->role != LoopRole::kVector) return;
    for_each_statement(
        loop->body, [&](const Statement& inner) { out += std::holds_alternative<If>(inner.node) ? 1 : 0; });
  });
  return out;
}

/// A float of each byte by `body`, with p1 and p2 as conditions.
Kernel choosing(const std::string& body) {
  return kernel_from(
      "kernel { param p0:i64 param p1:bool param p2:bool param p3:f32 input in0:u8 [p0:i64] dense 1 "
      "map stage0:f32 [p0:i64] { body = " +
      body + " } output stage0 [0] dense 1 }");
}

/// Its work is `length` sums and roots.
std::string chain(const std::string& from, int length) {
  std::string out = from;
  for (int i = 0; i < length; ++i) out = "sqrt(add(" + out + ", p3:f32))";
  return out;
}

constexpr const char* kByte = "convert.f32(load(in0:u8, axis0))";

TEST(Branches, ChannelsShareThem) {
  const SampleKernel sample = chosen_steps();
  const LoopKernel loops = lower_verified(sample.kernel, {});
  EXPECT_EQ(count_branches(loops), 2) << to_text(loops);
  for (const std::vector<uint64_t>& params : sample.params)
    EXPECT_EQ(run_loops(sample.kernel, loops, params, 1), run_stages(sample.kernel, params, 1));
}

void expect_same_values(const Kernel& kernel, const LoopKernel& loops) {
  for (uint64_t choice = 0; choice < 4; ++choice) {
    const std::vector<uint64_t> params = {70, choice % 2, choice / 2, sample::bits(2.5F)};
    EXPECT_EQ(run_loops(kernel, loops, params, 1), run_stages(kernel, params, 1)) << to_text(loops);
  }
}

TEST(Branches, StandInsideOthers) {
  const std::string inner = "select(p2:bool, " + chain(kByte, 8) + ", " + kByte + ")";
  const Kernel kernel = choosing("select(p1:bool, " + chain(inner, 9) + ", " + kByte + ")");
  const LoopKernel loops = lower_verified(kernel, {});
  int nested = 0;
  for_each_statement(loops.body, [&](const Statement& statement) {
    const auto* choice = std::get_if<If>(&statement.node);
    if (!choice || choice->condition->kind != ExprKind::kParam) return;
    nested += static_cast<int>(
        std::count_if(choice->then_body.begin(), choice->then_body.end(),
                      [](const Statement& s) { return std::holds_alternative<If>(s.node); }));
  });
  EXPECT_EQ(nested, 1) << to_text(loops);
  expect_same_values(kernel, loops);
}

TEST(Branches, AreNotMadeWhereTheyWouldSaveNothing) {
  const std::string shared = chain(kByte, 20), differing = "convert.bool(load(in0:u8, axis0))";
  for (const std::string& body : {
           "select(p1:bool, " + chain(kByte, 3) + ", " + kByte + ")",             // a short body
           "select(p1:bool, add(" + shared + ", p3:f32), " + shared + ")",        // both arms need it
           "select(" + differing + ", " + chain(kByte, 20) + ", " + kByte + ")",  // not of the whole loop
       }) {
    const Kernel kernel = choosing(body);
    const LoopKernel loops = lower_verified(kernel, {});
    EXPECT_EQ(count_branches(loops), 0) << to_text(loops);
    expect_same_values(kernel, loops);
  }
}

/// A division by zero raises its flag whichever arm is taken.
TEST(Branches, HoldNoDivisionThatMayRaiseAFlag) {
  std::string quotient = "convert.i64(load(in0:u8, axis0))";
  for (int i = 0; i < 5; ++i) quotient = "add(div(" + quotient + ", sub(p0:i64, 70:i64)), 9:i64)";
  const Kernel kernel = choosing("select(p1:bool, convert.f32(" + quotient + "), " + kByte + ")");
  EXPECT_EQ(count_branches(lower_verified(kernel, {})), 0);
}

}  // namespace
}  // namespace galatea::testing
