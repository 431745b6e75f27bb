#include "policy/search/strategy.h"

#include <algorithm>
#include <deque>

namespace galatea::policy {
namespace {

/// A generator of its own for each trial.
Random random_of(uint64_t seed, int64_t number) {
  Random mixed(seed ^ (static_cast<uint64_t>(number) * 0xD1B54A32D192ED03u));
  return Random(mixed.bits());
}

class RandomSearch : public Strategy {
 public:
  RandomSearch(const Space& space, const StrategyOptions& options) : space_(space), seed_(options.seed) {}
  std::optional<Point> ask(int64_t number) override {
    Random random = random_of(seed_, number);
    return space_.random(random);
  }
  void tell(const Trial&) override {}

 private:
  const Space& space_;
  uint64_t seed_;
};

class GridSearch : public Strategy {
 public:
  GridSearch(const Space& space, const StrategyOptions& options) : space_(space), levels_(options.levels) {}
  std::optional<Point> ask(int64_t number) override { return space_.counted(number, levels_); }
  void tell(const Trial&) override {}

 private:
  const Space& space_;
  int64_t levels_;
};

/// Regularised evolution (Real et al., 2019): the best of a few of the latest trials has a mutated child;
/// age, not failure, takes trials out.
class Evolution : public Strategy {
 public:
  Evolution(const Space& space, const StrategyOptions& options) : space_(space), options_(options) {}
  std::optional<Point> ask(int64_t number) override {
    Random random = random_of(options_.seed, number);
    if (number < options_.population || alive_.empty()) return space_.random(random);
    const Trial* parent = nullptr;
    for (int64_t i = 0; i < options_.tournament; ++i) {
      const Trial& candidate = alive_[random.index(alive_.size())];
      if (parent == nullptr || candidate.score > parent->score) parent = &candidate;
    }
    return space_.mutated(parent->point, random);
  }
  void tell(const Trial& trial) override {
    if (trial.failed) return;
    alive_.push_back(trial);
    if (alive_.size() > static_cast<size_t>(options_.population)) alive_.pop_front();
  }

 private:
  const Space& space_;
  StrategyOptions options_;
  std::deque<Trial> alive_;
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(const Space& space, const StrategyOptions& options) {
  if (options.name == "grid") return std::make_unique<GridSearch>(space, options);
  if (options.name == "evolution") return std::make_unique<Evolution>(space, options);
  return std::make_unique<RandomSearch>(space, options);
}

}  // namespace galatea::policy
