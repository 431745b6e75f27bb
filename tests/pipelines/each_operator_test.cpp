// Every operator on images by itself (each_operator.h) gives the same bits on every backend, fused and not.
#include <gtest/gtest.h>

#include <set>

#include "compiler/codegen/cuda/shim_backend.h"
#include "tests/pipelines/each_operator.h"
#include "tests/pipelines/ways.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

/// Of few cases each run tries other operators than its neighbours in the table.
constexpr uint64_t kSeedStep = 29;

TEST(EachOperator, GivesTheSameBitsOfEveryInput) {
  const std::vector<std::string> names = each_operator_names();
  const int64_t number = cases(12 * std::ssize(names), 24);
  std::set<std::string> ran;
  int64_t refused = 0;
  for (int64_t i = 0; i < number; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kSeedStep + 1;
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

/// The text that a GPU would run, compiled for the host; a compiler is started for each, so few are tried.
TEST(EachOperator, GivesTheSameBitsAsCudaText) {
  auto shim = codegen::make_shim_backend();
  if (!shim) GTEST_SKIP() << "the CUDA text was not run: " << shim.error().message();
  const int64_t number = cases(std::ssize(each_operator_names()), 3);
  int64_t ran = 0;
  for (int64_t i = 0; i < number; ++i) {
    const uint64_t seed = static_cast<uint64_t>(i) * kSeedStep + 1;
    const EachOperator each = each_operator(seed);
    const PipelineOutcome expected = judged(each.text, seed);
    if (!expected.staging.empty()) continue;
    ++ran;
    const PipelineOutcome found = run_pipeline(each.text, seed, {"CUDA text", shim->get(), true, true, 1});
    EXPECT_EQ(difference(expected, found), "") << "seed " << seed << "\n" << each.text;
  }
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace galatea::testing
