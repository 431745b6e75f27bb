#include "policy/search/strategy.h"

#include <algorithm>
#include <deque>

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
/// age, not failure, takes trials out.
class Evolution : public Strategy {
 public:
  Evolution(const Space& space, const StrategyOptions& options)
      : space_(space), options_(options), population_(options.population_or_default()) {}
  Ask ask(int64_t number) override {
    Random random = random_of_trial(options_.seed, number);
    if (number < population_ || alive_.empty()) return trial_at(number, space_.random(random));
    const Trial* parent = nullptr;
    for (int64_t i = 0; i < options_.tournament; ++i) {
      const Trial& candidate = alive_[random.index(alive_.size())];
      if (parent == nullptr || candidate.score > parent->score) parent = &candidate;
    }
    return trial_at(number, space_.mutated(parent->point, random));
  }
  void tell(const Trial& trial) override {
    if (trial.failed) return;
    alive_.push_back(trial);
    if (alive_.size() > static_cast<size_t>(population_)) alive_.pop_front();
  }

 private:
  const Space& space_;
  StrategyOptions options_;
  int64_t population_;
  std::deque<Trial> alive_;
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
