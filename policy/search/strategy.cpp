#include "policy/search/strategy.h"

#include <algorithm>
#include <map>

#include "policy/search/rounds.h"

namespace galatea::policy {
namespace {

Ask trial_at(int64_t number, Point point) {
  Ask asked;
  asked.kind = Ask::Kind::kTrial;
  asked.trial.number = number;
  asked.trial.point = std::move(point);
  return asked;
}

class RandomSearch : public Strategy {
 public:
  RandomSearch(const Space& space, const StrategyOptions& options) : space_(space), seed_(options.seed) {}
  Ask ask(int64_t number) override {
    Random random = random_of_trial(seed_, number);
    return trial_at(number, space_.random(random));
  }
  void tell(const Trial&) override {}

 private:
  const Space& space_;
  uint64_t seed_;
};

class GridSearch : public Strategy {
 public:
  GridSearch(const Space& space, const StrategyOptions& options) : space_(space), levels_(options.levels) {}
  Ask ask(int64_t number) override {
    std::optional<Point> point = space_.counted(number, levels_);
    return point ? trial_at(number, std::move(*point)) : Ask{};
  }
  void tell(const Trial&) override {}

 private:
  const Space& space_;
  int64_t levels_;
};

/// Regularised evolution (Real et al., 2019): the best of a few of the latest trials has a mutated child;
/// age, not failure, takes trials out. A child knows the trials that lie `ahead` numbers before it or more,
/// so that so many can be under way, and their order of ends says nothing.
class Evolution : public Strategy {
 public:
  Evolution(const Space& space, const StrategyOptions& options)
      : space_(space), options_(options), population_(options.population_or_default()) {}
  Ask ask(int64_t number) override {
    Random random = random_of_trial(options_.seed, number);
    const int64_t known = number - options_.ahead + 1;  // the trials before this one
    if (number >= population_ && known > settled_) return {Ask::Kind::kAllLater, {}};
    const auto end = std::ranges::lower_bound(good_, known, {}, &Trial::number);
    const auto latest = std::min(end - good_.begin(), static_cast<std::ptrdiff_t>(population_));
    if (number < population_ || latest == 0) return trial_at(number, space_.random(random));
    const Trial* parent = nullptr;
    for (int64_t i = 0; i < options_.tournament; ++i) {
      const auto back = static_cast<std::ptrdiff_t>(random.index(static_cast<size_t>(latest)));
      const Trial& candidate = *(end - latest + back);
      if (parent == nullptr || candidate.score > parent->score) parent = &candidate;
    }
    return trial_at(number, space_.mutated(parent->point, random));
  }
  void tell(const Trial& trial) override {
    unsettled_[trial.number] = trial;
    for (auto next = unsettled_.find(settled_); next != unsettled_.end(); next = unsettled_.find(settled_)) {
      if (!next->second.failed) good_.push_back(std::move(next->second));
      unsettled_.erase(next);
      ++settled_;
    }
  }

 private:
  const Space& space_;
  StrategyOptions options_;
  int64_t population_;
  int64_t settled_ = 0;                 ///< all trials before it have ended
  std::vector<Trial> good_;             ///< those of them that did not fail, by number
  std::map<int64_t, Trial> unsettled_;  ///< ended, while one before has not
};

}  // namespace

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names = {"random", "grid", "evolution", "halving", "population"};
  return names;
}

int64_t StrategyOptions::population_or_default() const {
  if (population > 0) return population;
  return name == "halving" ? 27 : name == "population" ? 8 : 16;
}

std::unique_ptr<Strategy> make_strategy(const Space& space, const StrategyOptions& options) {
  if (options.name == "grid") return std::make_unique<GridSearch>(space, options);
  if (options.name == "evolution") return std::make_unique<Evolution>(space, options);
  if (options.name == "halving") return make_halving(space, options);
  if (options.name == "population") return make_population(space, options);
  return std::make_unique<RandomSearch>(space, options);
}

}  // namespace galatea::policy
