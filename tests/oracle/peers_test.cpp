// What Pillow, torchvision and OpenCV made of images, as recorded by make_peers.py, against galatea under the
// presets (`compat=`), and what torchvision made of boxes, against operators that DALI does not have: the same
// inputs, equal bit for bit, or within what the case states and why.
//
// Kernels run in the loop interpreter here, as in dali_test.cpp.
#include <gtest/gtest.h>

#include "tests/oracle/run_case.h"

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
    EXPECT_EQ(run_case(oracle_case), "") << oracle_case.name;
  }
}

TEST(PeersOfOperators, GiveWhatWasRecorded) {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/oracle/peers", "detection");
  ASSERT_TRUE(group) << group.error();
  ASSERT_FALSE(group->cases.empty());
  for (const OracleCase& oracle_case : group->cases) EXPECT_EQ(run_case(oracle_case), "") << oracle_case.name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Peers,
                         ::testing::Values("resize", "colour", "blur", "warp", "perspective", "floats",
                                           "decode"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace galatea::testing
