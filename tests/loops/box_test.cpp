// Loops that a box splits (lower_box.cpp): which do, and that all compute what the stages mean.
#include <gtest/gtest.h>

#include "tests/kernel/kernel_call.h"
#include "tests/loops/loop_harness.h"

namespace galatea::testing {
namespace {

using namespace galatea::kernel;  // NOLINT

/// A box from p2, p4 to before p3, p5.
Kernel erasing(const std::string& body, const std::string& output = "[0, 1, 2]") {
  return kernel_from(
      "kernel { param p0:i64 param p1:i64 param p2:i64 param p3:i64 param p4:i64 param p5:i64 "
      "input in0:u8 [p0:i64, p1:i64, 3:i64] dense 3 map stage0:u8 [p0:i64, p1:i64, 3:i64] { body = " +
      body + " } output stage0 " + output + " dense 3 }");
}

/// Whether the values of vector loops are asked for their place.
bool selects(const LoopKernel& loops) {
  bool found = false;
  for_each_statement(loops.body, [&](const Statement& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    if (store) found |= store->value->kind == ExprKind::kOp && store->value->op == ScalarOp::kSelect;
  });
  return found;
}

constexpr const char* kBox =
    "select(and(and(ge(axis0, p2:i64), lt(axis0, p3:i64)), and(ge(axis1, p4:i64), lt(axis1, p5:i64))), "
    "INSIDE, load(in0:u8, axis0, axis1, axis2))";

std::string box_of(const std::string& inside) {
  std::string text = kBox;
  return text.replace(text.find("INSIDE"), 6, inside);
}

TEST(Boxes, SplitLoops) {
  // Inside, over each edge, beyond, the wrong way round, all of it, nothing of it.
  constexpr int64_t kBoxes[][4] = {{2, 6, 10, 40}, {-3, 4, -9, 20}, {5, 99, 60, 99}, {20, 30, 80, 90},
                                   {6, 2, 40, 10}, {0, 9, 0, 70},   {3, 3, 10, 40},  {-8, -2, -8, -2},
                                   {2, 6, 40, 40}, {0, 1, 69, 70}};
  for (const std::string inside :
       {"7:u8", "select(eq(axis2, 0:i64), 7:u8, 9:u8)", "sub(255:u8, load(in0:u8, axis0, axis1, axis2))"})
    for (const char* output : {"[0, 1, 2]", "[2, 0, 1]", "[1, 0, 2]"}) {
      const Kernel kernel = erasing(box_of(inside), output);
      const LoopKernel loops = lower_verified(kernel, {});
      EXPECT_EQ(selects(loops), false) << to_text(loops);
      for (const auto& [top, bottom, left, right] : kBoxes) {
        const std::vector<uint64_t> params = {9,
                                              70,
                                              static_cast<uint64_t>(top),
                                              static_cast<uint64_t>(bottom),
                                              static_cast<uint64_t>(left),
                                              static_cast<uint64_t>(right)};
        EXPECT_EQ(run_loops(kernel, loops, params, 1), run_stages(kernel, params, 1))
            << top << ", " << bottom << ", " << left << ", " << right << "\n"
            << to_text(loops);
      }
    }
}

/// Both sides of a selection are computed where that can be seen: by a flag.
TEST(Boxes, DoNotSplitWhatMayRaiseAFlag) {
  const Kernel kernel = erasing(box_of("convert.u8(div(axis1, p3:i64))"));
  EXPECT_TRUE(selects(lower_verified(kernel, {})));
}

}  // namespace
}  // namespace galatea::testing
