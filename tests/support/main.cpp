// main() of every GoogleTest program: runs the tests, and holds what they do against the program's budget.
//
// Work is counted in cases, not in seconds: tests that ran, and cases that generators made (cases.h). Where
// ctest runs a program whole and at the usual scale it sets GALATEA_TEST_BUDGET (tests/budgets.cmake), and
// more work than that is a failure: somebody decides that a suite may grow, and says so in that file.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/build_folder.h"
#include "tests/support/cases.h"

namespace galatea::testing {

// Which build this is.
const char* const kBuildFolder = GALATEA_BINARY_DIR;
const bool kSanitizesThreads = GALATEA_SANITIZES_THREADS;
const bool kSanitized = GALATEA_SANITIZES_THREADS || GALATEA_SANITIZES_ADDRESSES;

}  // namespace galatea::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const int64_t work =
      ::testing::UnitTest::GetInstance()->test_to_run_count() + galatea::testing::cases_made();
  std::printf("work: %lld cases\n", static_cast<long long>(work));
  const char* const budget = std::getenv("GALATEA_TEST_BUDGET");
  if (!budget || std::getenv("GALATEA_TEST_SCALE") || work <= std::atoll(budget)) return status;
  std::printf(
      "FAILED: the budget of this program is %s cases. Make fewer (tests/support/cases.h scales them),"
      " or raise it in tests/budgets.cmake and say why.\n",
      budget);
  return 1;
}
