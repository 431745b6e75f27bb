// Strategies of searches: which points they try, and what they make of scores.
#include "policy/search/strategy.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "policy/random.h"
#include "tests/policy/search_space.h"

namespace galatea::policy {
namespace {

using Kind = Ask::Kind;

class PolicyStrategy : public ::testing::Test {
 protected:
  PolicyStrategy() : space_(testing::read_space(testing::kSpace).space) {}

  static Point point_of(Strategy& strategy, int64_t number) {
    const Ask asked = strategy.ask(number);
    EXPECT_EQ(asked.kind, Kind::kTrial) << number;
    return asked.trial.point;
  }

  std::optional<Space> space_;
};

TEST_F(PolicyStrategy, GridCountsEachPointOnce) {
  const auto grid = make_strategy(*space_, {.name = "grid", .levels = 3});
  std::set<Point> seen;
  int64_t number = 0;
  for (Ask asked; (asked = grid->ask(number)).kind == Kind::kTrial; ++number) {
    EXPECT_TRUE(space_->contains(asked.trial.point));
    EXPECT_TRUE(seen.insert(asked.trial.point).second);
  }
  EXPECT_EQ(number, 3 * 2 * 11);
  EXPECT_TRUE(seen.contains({10, 0, 0}));
  EXPECT_TRUE(seen.contains({50, 1, 10}));
}

TEST_F(PolicyStrategy, RandomPointsDependOnSeedAndNumberAlone) {
  const auto one = make_strategy(*space_, {.seed = 5}), other = make_strategy(*space_, {.seed = 5}),
             different = make_strategy(*space_, {.seed = 6});
  std::set<Point> seen;
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(space_->contains(point_of(*one, i)));
    seen.insert(point_of(*one, i));
  }
  EXPECT_GT(seen.size(), 95u);
  EXPECT_EQ(point_of(*one, 41), point_of(*other, 41));
  EXPECT_NE(point_of(*one, 41), point_of(*different, 41));
}

// A hill whose top is known: evolution ends nearer to it than random points do.
TEST_F(PolicyStrategy, EvolutionClimbs) {
  auto height = [](const Point& point) {
    return -std::abs(point[0] - 33) / 40 - (point[1] == 1 ? 0 : 1) - std::abs(point[2] - 8) / 10;
  };
  // The mean of the trials 150 to 199, over five seeds.
  auto mean_of_last = [&](const char* name) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const auto strategy = make_strategy(*space_, {.name = name, .seed = seed});
      for (int64_t i = 0; i < 200; ++i) {
        Trial trial = strategy->ask(i).trial;
        trial.score = height(trial.point);
        strategy->tell(trial);
        if (i >= 150) sum += trial.score / 250;
      }
    }
    return sum;
  };
  EXPECT_GT(mean_of_last("evolution"), mean_of_last("random") / 2) << "scores are below 0";
}

// A search with `jobs` places in which a random one of the running trials ends next; scores by the trial.
std::map<int64_t, Trial> run_in_any_order(Strategy& strategy, int64_t trials, size_t jobs, uint64_t order,
                                          const std::function<void(Trial&)>& score) {
  std::map<int64_t, Trial> running, ended;
  Random random(order);
  auto start = [&] {
    for (int64_t number = 0; number < trials && running.size() < jobs; ++number) {
      if (running.contains(number) || ended.contains(number)) continue;
      const Ask asked = strategy.ask(number);
      if (asked.kind == Kind::kAllLater || asked.kind == Kind::kEnd) return;
      if (asked.kind == Kind::kTrial) running[number] = asked.trial;
    }
  };
  for (start(); !running.empty(); start()) {
    auto next = running.begin();
    std::advance(next, static_cast<std::ptrdiff_t>(random.index(running.size())));
    Trial trial = next->second;
    running.erase(next);
    score(trial);
    strategy.tell(trial);
    ended[trial.number] = trial;
  }
  return ended;
}

// What is tried is a function of the seed and of scores: with any number of places, in any order of ends.
TEST_F(PolicyStrategy, EvolutionDoesNotDependOnTheOrderOfEnds) {
  for (int64_t ahead : {int64_t{1}, int64_t{3}, int64_t{8}}) {
    const StrategyOptions options = {.name = "evolution", .seed = 11, .population = 6, .ahead = ahead};
    std::optional<std::map<int64_t, Trial>> first;
    for (uint64_t order = 0; order < 20; ++order) {
      const auto strategy = make_strategy(*space_, options);
      const auto ended = run_in_any_order(*strategy, 60, 1 + order % 9, order, [](Trial& trial) {
        trial.failed = trial.number % 7 == 3;
        trial.score = static_cast<double>((trial.number * 37 + 11) % 41);
      });
      ASSERT_EQ(ended.size(), 60u);
      if (!first) first = ended;
      for (const auto& [number, trial] : ended) EXPECT_EQ(trial.point, first->at(number).point) << number;
    }
    // A child differs in one value from one of the latest six that had not failed `ahead` numbers before.
    for (int64_t number = 6; number < 60; ++number) {
      std::vector<const Trial*> alive;
      for (int64_t before = number - ahead; before >= 0 && alive.size() < 6; --before)
        if (!first->at(before).failed) alive.push_back(&first->at(before));
      const Point& point = first->at(number).point;
      const bool has_parent = std::ranges::any_of(alive, [&](const Trial* parent) {
        int changed = 0;
        for (size_t i = 0; i < point.size(); ++i) changed += point[i] != parent->point[i];
        return changed <= 1;
      });
      EXPECT_TRUE(has_parent || alive.empty()) << number << ", " << ahead << " ahead";
    }
  }
}

TEST_F(PolicyStrategy, EvolutionKeepsAsManyUnderWayAsItMay) {
  const auto strategy = make_strategy(*space_, {.name = "evolution", .seed = 1, .population = 4, .ahead = 3});
  for (int64_t number = 0; number < 4; ++number) EXPECT_EQ(strategy->ask(number).kind, Kind::kTrial);
  EXPECT_EQ(strategy->ask(4).kind, Kind::kAllLater) << "it needs the trials 0 and 1";
  auto tell = [&](int64_t number) {
    Trial trial;
    trial.number = number;
    trial.point = point_of(*strategy, number < 4 ? number : 0);
    strategy->tell(trial);
  };
  tell(1);
  EXPECT_EQ(strategy->ask(4).kind, Kind::kAllLater);
  tell(0);
  EXPECT_EQ(strategy->ask(4).kind, Kind::kTrial);
  EXPECT_EQ(strategy->ask(5).kind, Kind::kAllLater);
}

TEST_F(PolicyStrategy, BudgetsGrowToTheGreatest) {
  auto budgets = [](double least, double greatest, int64_t eta) {
    return budgets_of({.least_budget = least, .greatest_budget = greatest, .eta = eta});
  };
  EXPECT_EQ(budgets(1, 27, 3), (std::vector<double>{1, 3, 9, 27}));
  EXPECT_EQ(budgets(1, 30, 3), (std::vector<double>{1, 3, 9, 30}));
  EXPECT_EQ(budgets(2, 20, 10), (std::vector<double>{2, 20}));
  EXPECT_EQ(budgets(0.1, 0.1, 3), (std::vector<double>{0.1}));
}

// Scores that differ by trial: in whatever order trials end, those that are the best of their rung go on.
TEST_F(PolicyStrategy, HalvingPromotesTheBestOfEachRung) {
  const StrategyOptions options = {.name = "halving", .seed = 3, .population = 9, .greatest_budget = 9};
  constexpr int64_t kBracket = 9 + 3 + 1;
  auto score = [](Trial& trial) {
    const int64_t root = trial.parent < 0 ? trial.number : trial.parent;
    trial.score = static_cast<double>(root * 7 % 13) + 100 * trial.budget;
  };
  std::optional<std::map<int64_t, Trial>> first;
  for (uint64_t order = 0; order < 20; ++order) {
    const auto strategy = make_strategy(*space_, options);
    EXPECT_EQ(strategy->whole(), kBracket);
    auto ended = run_in_any_order(*strategy, 2 * kBracket, 1 + order % 5, order, score);
    ASSERT_EQ(ended.size(), static_cast<size_t>(2 * kBracket));
    for (int64_t bracket : {int64_t{0}, kBracket}) {
      // Rung by rung: budgets, and parents in the order of their scores.
      for (auto [from, count, next, promoted, budget] :
           {std::tuple{0, 9, 9, 3, 3.0}, std::tuple{9, 3, 12, 1, 9.0}}) {
        std::vector<std::pair<double, int64_t>> ranked;
        for (int64_t i = 0; i < count; ++i)
          ranked.emplace_back(-ended.at(bracket + from + i).score, bracket + from + i);
        std::sort(ranked.begin(), ranked.end());
        for (int64_t i = 0; i < promoted; ++i) {
          const Trial& trial = ended.at(bracket + next + i);
          EXPECT_EQ(trial.budget, budget);
          EXPECT_EQ(trial.parent, ranked[static_cast<size_t>(i)].second);
          EXPECT_EQ(trial.point, ended.at(trial.parent).point);
        }
      }
      EXPECT_EQ(ended.at(bracket).budget, 1);
      EXPECT_EQ(ended.at(bracket).parent, -1);
    }
    if (!first) first = ended;
    for (const auto& [number, trial] : ended) {
      EXPECT_EQ(trial.point, first->at(number).point) << number << " of order " << order;
      EXPECT_EQ(trial.parent, first->at(number).parent) << number << " of order " << order;
    }
  }
}

TEST_F(PolicyStrategy, HalvingGoesOnWithoutThoseThatFailed) {
  const auto strategy = make_strategy(*space_, {.name = "halving", .population = 9, .greatest_budget = 9});
  // All but two of the first nine fail; of the three places of the next rung one stays empty.
  const auto ended = run_in_any_order(*strategy, 13, 4, 1, [](Trial& trial) {
    trial.failed = trial.number < 9 && trial.number != 4 && trial.number != 6;
    trial.score = static_cast<double>(trial.number);
  });
  EXPECT_EQ(ended.size(), 12u);
  EXPECT_FALSE(ended.contains(11));
  EXPECT_EQ(ended.at(9).parent, 6);
  EXPECT_EQ(ended.at(10).parent, 4);
  EXPECT_EQ(ended.at(12).parent, 10);
  const auto hopeless = make_strategy(*space_, {.name = "halving", .population = 9, .greatest_budget = 9});
  EXPECT_EQ(run_in_any_order(*hopeless, 13, 4, 1, [](Trial& trial) { trial.failed = true; }).size(), 9u);
}

TEST_F(PolicyStrategy, PopulationsReplaceTheirWorstQuarter) {
  const StrategyOptions options = {.name = "population", .seed = 5, .population = 8};
  std::optional<std::map<int64_t, Trial>> first;
  for (uint64_t order = 0; order < 20; ++order) {
    const auto strategy = make_strategy(*space_, options);
    const auto ended = run_in_any_order(*strategy, 5 * 8, 1 + order % 9, order, [](Trial& trial) {
      trial.failed = trial.number == 13;
      trial.score = static_cast<double>((trial.number * 37 + 11) % 41);
    });
    ASSERT_EQ(ended.size(), 40u);
    for (int64_t step = 1; step < 5; ++step) {
      std::vector<std::pair<double, int64_t>> ranked;
      for (int64_t member = 0; member < 8; ++member) {
        const Trial& before = ended.at((step - 1) * 8 + member);
        ranked.emplace_back(before.failed ? 1000 : -before.score, before.number);
      }
      std::sort(ranked.begin(), ranked.end());
      for (int64_t place = 0; place < 8; ++place) {
        const int64_t before = ranked[static_cast<size_t>(place)].second;
        const Trial& trial = ended.at(before + 8);
        EXPECT_EQ(trial.step, step);
        if (place < 6) {
          EXPECT_EQ(trial.parent, before) << "it goes on";
          EXPECT_EQ(trial.point, ended.at(before).point);
        } else {
          EXPECT_TRUE(trial.parent == ranked[0].second || trial.parent == ranked[1].second) << trial.parent;
          EXPECT_NE(trial.point, ended.at(trial.parent).point) << "it explores";
          EXPECT_TRUE(space_->contains(trial.point));
        }
      }
    }
    if (!first) first = ended;
    for (const auto& [number, trial] : ended) {
      EXPECT_EQ(trial.point, first->at(number).point) << number;
      EXPECT_EQ(trial.parent, first->at(number).parent) << number;
    }
  }
}

TEST_F(PolicyStrategy, APopulationThatFailsAltogetherEnds) {
  const auto strategy = make_strategy(*space_, {.name = "population", .population = 4});
  EXPECT_EQ(run_in_any_order(*strategy, 40, 4, 1, [](Trial& trial) { trial.failed = true; }).size(), 4u);
}

// The best value changes while the training goes on: a population follows it, a fixed policy cannot.
TEST_F(PolicyStrategy, PopulationsFindSchedules) {
  constexpr int64_t kSteps = 40, kMembers = 12;
  const auto strategy = make_strategy(*space_, {.name = "population", .seed = 2, .population = kMembers});
  // A member's state is a sum of gains: a step's gain is the greater, the nearer its bin is to the step's
  // aim.
  std::map<int64_t, double> states;
  auto gain = [](double bin, int64_t step) { return -std::abs(bin - (step < kSteps / 2 ? 9.0 : 1.0)); };
  const auto ended = run_in_any_order(*strategy, kSteps * kMembers, 3, 4, [&](Trial& trial) {
    const double before = trial.parent < 0 ? 0 : states.at(trial.parent);
    trial.score = states[trial.number] = before + gain(trial.point[2], trial.step);
  });
  double best = -1e9, best_fixed = -1e9;
  for (int64_t member = 0; member < kMembers; ++member)
    best = std::max(best, ended.at((kSteps - 1) * kMembers + member).score);
  for (int bin = 0; bin <= 10; ++bin) {
    double sum = 0;
    for (int64_t step = 0; step < kSteps; ++step) sum += gain(bin, step);
    best_fixed = std::max(best_fixed, sum);
  }
  EXPECT_EQ(best_fixed, -8.0 * kSteps / 2);
  EXPECT_GT(best, best_fixed / 2);
}

}  // namespace
}  // namespace galatea::policy
