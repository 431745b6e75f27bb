// What a search's report says: effects with their uncertainty, and the page.
#include "policy/search/report.h"

#include <cmath>

#include <gtest/gtest.h>

#include "policy/random.h"
#include "policy/search/effects.h"
#include "policy/search/search.h"
#include "tests/policy/search_space.h"

namespace galatea::policy {
namespace {

class PolicyReport : public ::testing::Test {
 protected:
  PolicyReport() : space_(testing::read_space(testing::kSpace).space) {}

  std::optional<Space> space_;
};

TEST_F(PolicyReport, ImportanceIsTheShareOfTheVariance) {
  std::vector<Trial> trials;
  // Every point of a grid; the score depends on the choice and, a quarter as much in variance, on half of the
  // bins.
  for (int64_t i = 0; i < 3 * 2 * 10; ++i) {
    const Point point = {10.0 + 20.0 * static_cast<double>(i % 3), static_cast<double>(i / 3 % 2),
                         static_cast<double>(i / 6)};
    trials.push_back({i, point, false, 2 * point[1] + (point[2] >= 4 ? 1 : 0), 1, ""});
  }
  trials.push_back({60, {10, 0, 0}, true, 0, 1, "it ended with status 1"});
  const std::vector<Importance> found = importance(*space_, trials);
  // Variances: 1 of the choice, 0.24 of the bins (6 of 10), which fall in five groups of two, 4 starting one.
  EXPECT_NEAR(found[0].share, 0, 1e-12);
  EXPECT_NEAR(found[1].share, 1 / 1.24, 1e-12);
  EXPECT_GT(found[2].share, 0.1);
  EXPECT_NEAR(found[0].share + found[1].share + found[2].share, 1, 0.05);
  // Sixty trials; ranges from 10 to 50 in three groups of five, two choices, five groups of bins.
  EXPECT_NEAR(found[0].by_chance, 2 / 59.0, 1e-12);
  EXPECT_NEAR(found[1].by_chance, 1 / 59.0, 1e-12);
  EXPECT_NEAR(found[2].by_chance, 4 / 59.0, 1e-12);
}

TEST_F(PolicyReport, TheReportIsWholeAndEscaped) {
  const std::vector<Trial> trials = {{0, {10, 0, 1}, false, 0.25, 1, ""},
                                     {1, {20, 1, 2}, false, 0.75, 3, ""},
                                     {2, {30, 1, 3}, true, 0, 1, "it's <odd> & \"quoted\""}};
  const std::string page =
      html_report(*space_, trials, {"A <search>", "cmd && \"x\"", "{}", "policy.load(\"b\")", false});
  EXPECT_EQ(page.find("<odd>"), std::string::npos);
  EXPECT_EQ(page.find("A <search>"), std::string::npos);
  for (const char* part :
       {"A &lt;search&gt;", "cmd &amp;&amp; &quot;x&quot;", "3 trials, 1 failed", "trial 1: 0.75, 3.0 s",
        "policy.seq[1].mag.bin", "it's &lt;odd&gt; &amp; &quot;quoted&quot;", "</html>"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in\n" << page;
  auto count = [&](const std::string& word) {
    size_t found = 0;
    for (size_t at = 0; (at = page.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 4u) << "two trials in two plots";
  for (const char* tag : {"svg", "table", "tr", "td", "h2", "pre", "code"})
    EXPECT_EQ(count("<" + std::string(tag) + ">") + count("<" + std::string(tag) + " "),
              count("</" + std::string(tag) + ">"))
        << tag;
  EXPECT_NE(html_report(*space_, {}, {"none", "x", "", "", true}).find("nothing to plot"), std::string::npos);
}

TEST_F(PolicyReport, BudgetsAreComparedAmongThemselves) {
  // The score is the budget, and 1 more for the second choice: which budgets a choice had must not count.
  std::vector<Trial> trials;
  for (int64_t i = 0; i < 40; ++i) {
    Trial trial{i, {10, static_cast<double>(i % 2), 0}};
    trial.budget = i < 30 ? 1 : 100;
    trial.score = trial.budget + trial.point[1];
    trials.push_back(trial);
  }
  EXPECT_NEAR(importance(*space_, trials)[1].share, 1, 1e-12);
}

// Student's quantiles as tables have them.
TEST_F(PolicyReport, QuantilesOfStudent) {
  for (auto [degrees, quantile] : {std::pair{3, 3.182},
                                   {4, 2.776},
                                   {5, 2.571},
                                   {10, 2.228},
                                   {30, 2.042},
                                   {100, 1.984},
                                   {1000000, 1.960}})
    EXPECT_NEAR(student_quantile(degrees), quantile, quantile * 0.01) << degrees;
}

// y = 3 runs + noise of deviation 1: of intervals for 95 %, about so many contain the slope; and an operation
// without influence is called certain about once in twenty times.
TEST_F(PolicyReport, IntervalsOfEffectsHoldWhatTheySay) {
  const auto space = testing::read_space(R"({"format": "augment-policy", "version": 1, "bins": 11,
    "augmentations": {"equalize": {}, "invert": {}, "identity": {}},
    "policy": {"seq": [["equalize", {"$float": [0, 1]}, null], ["invert", {"$float": [0, 1]}, null],
      ["identity", 1, null]]}})");
  ASSERT_TRUE(space.space) << space.report;
  Random random(11);
  // The sum of twelve uniform numbers has variance 1.
  auto noise = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    return sum;
  };
  constexpr int kSearches = 1000;
  int held = 0, called = 0;
  for (int search = 0; search < kSearches; ++search) {
    std::vector<Trial> trials;
    for (int64_t i = 0; i < 12; ++i) {
      Trial trial{i, space.space->random(random)};
      trial.score = 3 * trial.point[0] + noise();
      trials.push_back(trial);
    }
    const std::vector<Effect> effects = operation_effects(*space.space, trials);
    ASSERT_EQ(effects.size(), 2u) << "what always runs has no effect";
    for (const Effect& effect : effects) {
      const double range = effect.most - effect.least;
      EXPECT_LE(effect.low, effect.change);
      EXPECT_LE(effect.change, effect.high);
      if (effect.operation == "equalize") held += effect.low <= 3 * range && 3 * range <= effect.high;
      if (effect.operation == "invert") called += effect.is_certain();
    }
  }
  // Four standard deviations of a binomial distribution.
  const double deviation = 4 * std::sqrt(kSearches * 0.05 * 0.95);
  EXPECT_NEAR(held, 0.95 * kSearches, deviation);
  EXPECT_NEAR(called, 0.05 * kSearches, deviation);
}

TEST_F(PolicyReport, TooFewTrialsHaveNoEffects) {
  std::vector<Trial> trials;
  for (int64_t i = 0; i < 4; ++i)
    trials.push_back({i, {10, static_cast<double>(i % 2), 0}, false, static_cast<double>(i)});
  EXPECT_TRUE(operation_effects(*space_, trials).empty());
}

TEST_F(PolicyReport, LineagesAndBudgetsDecideWhatIsBest) {
  auto trial = [](int64_t number, double score, double budget, int64_t step, int64_t parent) {
    Trial made{number, {10, 0, 0}, false, score};
    made.budget = budget;
    made.step = step;
    made.parent = parent;
    return made;
  };
  const std::vector<Trial> halving = {trial(0, 9, 1, 0, -1), trial(1, 5, 1, 0, -1), trial(2, 1, 3, 0, 0)};
  EXPECT_EQ(ranking(halving, false)[0].number, 2);
  EXPECT_EQ(ranking(halving, true)[0].number, 2);
  EXPECT_EQ(ranking(halving, true)[1].number, 1);
  const std::vector<Trial> steps = {trial(0, 1, 0, 0, -1), trial(1, 2, 0, 0, -1), trial(2, 3, 0, 1, 1),
                                    trial(3, 2, 0, 1, 1), trial(5, 7, 0, 2, 2)};
  EXPECT_EQ(ranking(steps, false)[0].number, 5);
  std::vector<int64_t> line;
  for (const Trial& each : lineage(steps, 5)) line.push_back(each.number);
  EXPECT_EQ(line, (std::vector<int64_t>{1, 2, 5}));
  const std::string page = html_report(*space_, steps, {"s", "x", "{}", "p", false});
  EXPECT_NE(page.find("The best schedule"), std::string::npos);
  EXPECT_EQ(html_report(*space_, halving, {"s", "x", "{}", "p", false}).find("The best schedule"),
            std::string::npos);
}

}  // namespace
}  // namespace galatea::policy
