// What Pillow, torchvision and OpenCV made of images, as recorded by make_peers.py, against galatea under the
// presets (`compat=`), what torchvision made of boxes, against operators that DALI does not have, and what
// Albumentations and torchvision made, against the lines of the pages that translate from them: the same
// inputs, equal bit for bit, or within what the case states and why.
//
// Kernels run in the loop interpreter here, as in dali_test.cpp.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "tests/oracle/run_case.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

class Peers : public ::testing::TestWithParam<const char*> {};

TEST_P(Peers, GiveWhatWasRecorded) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/peers", GetParam());
  ASSERT_TRUE(group) << group.error();
  ASSERT_FALSE(group->cases.empty());
  for (const OracleCase& oracle_case : group->cases) {
    EXPECT_NE(oracle_case.text.find("compat="), std::string::npos) << oracle_case.name;
    EXPECT_LE(oracle_case.tolerance, 1) << oracle_case.name << ": presets promise one level";
    if (!takes(oracle_case.name)) continue;
    EXPECT_EQ(run_case(oracle_case), "") << oracle_case.name;
  }
}

TEST(PeersOfOperators, GiveWhatWasRecorded) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/peers", "detection");
  ASSERT_TRUE(group) << group.error();
  ASSERT_FALSE(group->cases.empty());
  for (const OracleCase& oracle_case : group->cases) EXPECT_EQ(run_case(oracle_case), "") << oracle_case.name;
}

/// The rows of a page's tables that say how far its lines are off: "| `code` | `line` | number |".
std::vector<std::string> measured_rows(const std::string& page) {
  std::ifstream in(std::string(GALATEA_SOURCE_DIR) + "/docs/" + page);
  std::vector<std::string> rows;
  const std::regex measured("\\| `.*` \\| `.*` \\| [0-9.e-]+ \\|");
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, measured)) rows.push_back(line);
  return rows;
}

class Recipes : public ::testing::TestWithParam<const char*> {};

// Every measured row of a page is a recorded case, and the case is what stands there.
TEST_P(Recipes, GiveWhatTheLibraryGives) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/peers", GetParam());
  ASSERT_TRUE(group) << group.error();
  const std::vector<std::string> rows = measured_rows(std::string("from-") + GetParam() + ".md");
  ASSERT_EQ(rows.size(), group->cases.size()) << "record anew: tests/oracle/make_peers.py " << GetParam();
  for (size_t i = 0; i < rows.size(); ++i) {
    const OracleCase& oracle_case = group->cases[i];
    const size_t begin = oracle_case.text.rfind("return ") + 7;
    const std::string line = oracle_case.text.substr(begin, oracle_case.text.rfind('\n') - begin);
    EXPECT_TRUE(rows[i].starts_with("| `" + oracle_case.name + "` | `" + line + "` | "))
        << rows[i] << "\nis recorded as " << oracle_case.name << ": " << line;
    EXPECT_EQ(run_case(oracle_case), "") << oracle_case.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Recipes, ::testing::Values("albumentations", "torchvision"),
                         [](const auto& test) { return std::string(test.param); });

INSTANTIATE_TEST_SUITE_P(Recorded, Peers,
                         ::testing::Values("resize", "colour", "blur", "warp", "perspective", "floats",
                                           "decode"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace galatea::testing
