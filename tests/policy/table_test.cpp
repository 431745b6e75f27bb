// Numbers and words that people see.
#include "policy/table.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "policy/spelling.h"
#include "tests/policy/read.h"

namespace galatea::policy {
namespace {

TEST(PolicyTable, RunsPerSampleAddUp) {
  double sum = 0;
  for (const auto& [name, runs] : expected_runs(*document_of("rand_augment(n=3, m=9)"))) {
    EXPECT_NEAR(runs, 3.0 / 14, 1e-12) << name;
    sum += runs;
  }
  EXPECT_NEAR(sum, 3, 1e-12);
  // Probabilities of the published table, added by hand for one operation: solarize_add stands in rows 6
  // and 21.
  EXPECT_NEAR(expected_runs(*document_of("image_net")).at("solarize_add"), (0.8 + 0.6) / 25, 1e-12);
  // Three chains of one to three operations.
  sum = 0;
  for (const auto& [name, runs] : expected_runs(*document_of("AugMix()"))) sum += runs;
  EXPECT_NEAR(sum, 6, 1e-12);
  // Each runs with one half.
  EXPECT_NEAR(expected_runs(*document_of("rand-m9")).at("rotate"), 0.5 * 2 / 15, 1e-12);
}

TEST(PolicyTable, WeightedDrawsWithoutReplacementAreCounted) {
  const auto made =
      testing::read(testing::whole("{\"choose\": 2, \"from\": [\"invert\", \"equalize\", \"identity\"], "
                                   "\"weights\": [2, 1, 1], \"replace\": false}",
                                   "\"invert\": {}, \"equalize\": {}, \"identity\": {}"));
  ASSERT_TRUE(made.result.document) << made.report();
  const auto runs = expected_runs(*made.result.document);
  // First draw 1/2; else (1/4 + 1/4) then 2/3 of what is left.
  EXPECT_NEAR(runs.at("invert"), 0.5 + 0.5 * 2 / 3, 0.015);
  EXPECT_NEAR(runs.at("invert") + runs.at("equalize") + runs.at("identity"), 2, 1e-9);
}

TEST(PolicyTable, ValuesOfStepsAreFoundWhereverTheyStand) {
  const auto made = testing::read(
      R"({"format": "augment-policy", "version": 1, "augmentations": {"rotate": {}, "brightness": {}, "invert": {}},
    "definitions": {"turn": {"apply": "rotate", "mag": {"value": 3}}},
    "policy": {"seq": [{"apply": "rotate", "mag": {"value": 12.5}}, ["invert", 1, null], {"ref": "turn"},
      {"choose": 1, "from": ["brightness", {"apply": "rotate", "mag": {"value": -2}}],
       "each": {"mag": {"value": 0.5}}}]}})");
  ASSERT_TRUE(made.result.document) << made.report();
  EXPECT_EQ(values_of_steps(*made.result.document),
            (std::map<std::string, std::vector<double>>{{"rotate", {12.5, -2, 3}}, {"brightness", {0.5}}}));
}

TEST(PolicyTable, SaysWhatRuns) {
  const std::string text = policy_table(*document_of("image_net"), {});
  EXPECT_NE(text.find("1 of 25\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "    one after the other\n      equalize, with 80 %\n      shear_y bin 4: ±0.12, with 80 %\n"),
      std::string::npos)
      << text;
  const auto json = parse_json(policy_table_json(*document_of("trivial_augment_wide()")));
  EXPECT_EQ(json["bins"], 31);
  EXPECT_EQ(json["augmentations"].size(), 14u);
  EXPECT_EQ(json["augmentations"][4]["magnitudes"].size(), 31u);
  EXPECT_EQ(json["augmentations"][4]["magnitudes"][30], 135.0);
}

}  // namespace
}  // namespace galatea::policy
