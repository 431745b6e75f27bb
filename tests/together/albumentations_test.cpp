// Boxes in three formats, labels, masks and points against what Albumentations made of the same
// (data/albumentations.json, written by make_albumentations.py).
#include <gtest/gtest.h>

#include "tests/oracle/run_case.h"
#include "tests/support/cases.h"

namespace galatea::testing {
namespace {

OracleGroup recorded() {
  auto group = load_group(std::string(GALATEA_SOURCE_DIR) + "/tests/together/data", "albumentations");
  if (!group) ADD_FAILURE() << group.error();
  return group ? *group : OracleGroup{};
}

TEST(Albumentations, HasTheSameBoxesMasksAndPoints) {
  const OracleGroup group = recorded();
  EXPECT_EQ(group.cases.size(), 30U);
  for (const OracleCase& each : group.cases)
    if (takes(each.name)) {
      EXPECT_EQ(run_case(each), "") << each.name;
    }
}

/// The comparison sees other windows, angles, formats and shares.
TEST(Albumentations, OthersWouldFail) {
  const OracleGroup group = recorded();
  size_t tried = 0;
  for (const OracleCase& each : group.cases)
    for (const auto& [from, to] :
         {std::pair{"start=[3, 2]", "start=[3, 3]"}, std::pair{"angle=17.0", "angle=17.1"},
          std::pair{"size=[50, 31]", "size=[50, 32]"},
          std::pair{"box_format=\"cxcywh\"", "box_format=\"xywh\""},
          std::pair{"min_visible=0.6", "min_visible=1.0"},
          std::pair{"fn.flip(t)", "fn.flip(t, vertical=1)"}}) {
      OracleCase other = each;
      const size_t at = other.text.find(from);
      if (at == std::string::npos) continue;
      // Nothing is cut off by these.
      const bool keeps_all = std::string(from).starts_with("min") &&
                             (each.name.starts_with("flip") || each.name.starts_with("pad") ||
                              each.name.starts_with("resize") || each.name.starts_with("longest"));
      // Fractions of the picture do not change with its size.
      const bool keeps_fractions = std::string(from).starts_with("size") && each.name == "resize_cxcywh";
      if (keeps_all || keeps_fractions || each.name.ends_with("_xywh")) continue;
      other.text.replace(at, std::string(from).size(), to);
      EXPECT_NE(run_case(other), "") << each.name << " with " << to;
      ++tried;
    }
  EXPECT_GT(tried, 15U);
}

}  // namespace
}  // namespace galatea::testing
