// Every operator on images by itself (each_operator.h) gives the same bits on every backend, fused and not.
#include <gtest/gtest.h>

#include <set>

#include "tests/pipelines/each_operator.h"
#include "tests/pipelines/ways.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

TEST(EachOperator, GivesTheSameBitsOfEveryInput) {
  const std::vector<std::string> names = each_operator_names();
  const int64_t number = cases(12 * std::ssize(names), 24);
  // Of few cases each run tries other operators than its neighbours in the table.
  constexpr uint64_t kStep = 29;
  std::set<std::string> ran;
  int64_t refused = 0;
  for (int64_t i = 0; i < number; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kStep + 1;
    const EachOperator each = each_operator(seed);
    const Finding found = look_at(each.text, seed);
    if (found.fault.starts_with("refused")) {
      ++refused;
      continue;
    }
    EXPECT_EQ(found.fault, "") << "seed " << seed << "\n" << each.text;
    if (found.ran) ran.insert(each.name);
  }
  // What an operator does not accept is told before it runs; most of what is drawn it accepts.
  EXPECT_LT(refused * 3, number);
  if (number < 12 * std::ssize(names)) return;
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_GT(ran.size() * 10, all.size() * 9);
}

}  // namespace
}  // namespace galatea::testing
