#include "policy/search/rounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace galatea::policy {
namespace {

/// Trials that have ended, by number.
class Ended {
 public:
  void add(const Trial& trial) { trials_[trial.number] = trial; }
  const Trial* find(int64_t number) const {
    const auto found = trials_.find(number);
    return found == trials_.end() ? nullptr : &found->second;
  }
  /// `count` trials from `first` on, those that ended well, best first, equal scores by number; none: not all
  /// have ended.
  std::optional<std::vector<const Trial*>> ranked(int64_t first, int64_t count) const {
    std::vector<const Trial*> good;
    for (int64_t number = first; number < first + count; ++number) {
      const Trial* trial = find(number);
      if (trial == nullptr) return std::nullopt;
      if (!trial->failed) good.push_back(trial);
    }
    std::stable_sort(good.begin(), good.end(),
                     [](const Trial* a, const Trial* b) { return a->score > b->score; });
    return good;
  }

 private:
  std::map<int64_t, Trial> trials_;
};

/// Every number has its place: bracket, rung, and place in the rung, whose holder is known when the rung
/// below has ended. So nothing depends on the order in which trials end, and the next bracket may begin
/// meanwhile.
class Halving : public Strategy {
 public:
  Halving(const Space& space, const StrategyOptions& options) : space_(space), seed_(options.seed) {
    int64_t size = options.population_or_default();
    for (double budget : budgets_of(options)) {
      rungs_.push_back({bracket_, size, budget});
      bracket_ += size;
      size = std::max<int64_t>(1, size / options.eta);
    }
  }

  int64_t whole() const override { return bracket_; }

  Ask ask(int64_t number) override {
    const int64_t first = number / bracket_ * bracket_;
    size_t rung = rungs_.size() - 1;
    while (first + rungs_[rung].first > number) --rung;
    Ask asked;
    asked.trial.number = number;
    asked.trial.budget = rungs_[rung].budget;
    asked.kind = Ask::Kind::kTrial;
    if (rung == 0) {
      Random random = random_of_trial(seed_, number);
      asked.trial.point = space_.random(random);
      return asked;
    }
    const auto below = standing(first, rung - 1);
    const auto place = static_cast<size_t>(number - first - rungs_[rung].first);
    if (!below) {
      asked.kind = Ask::Kind::kLater;
    } else if (place >= below->size()) {
      asked.kind = Ask::Kind::kNever;  // too many failed
    } else {
      asked.trial.point = (*below)[place]->point;
      asked.trial.parent = (*below)[place]->number;
    }
    return asked;
  }

  void tell(const Trial& trial) override { ended_.add(trial); }

 private:
  struct Rung {
    int64_t first;  ///< its first trial, counted from the bracket's
    int64_t size;
    double budget;
  };

  /// The trials of a rung that ended well, best first; none: it has not ended.
  std::optional<std::vector<const Trial*>> standing(int64_t bracket, size_t rung) const {
    int64_t size = rungs_[rung].size;
    if (rung > 0) {
      const auto below = standing(bracket, rung - 1);
      if (!below) return std::nullopt;
      size = std::min(size, static_cast<int64_t>(below->size()));
    }
    return ended_.ranked(bracket + rungs_[rung].first, size);
  }

  const Space& space_;
  uint64_t seed_;
  std::vector<Rung> rungs_;
  int64_t bracket_ = 0;  ///< how many trials a bracket has
  Ended ended_;
};

class Population : public Strategy {
 public:
  Population(const Space& space, const StrategyOptions& options)
      : space_(space), seed_(options.seed), size_(options.population_or_default()) {}

  int64_t whole() const override { return size_; }

  Ask ask(int64_t number) override {
    Random random = random_of_trial(seed_, number);
    Ask asked;
    asked.kind = Ask::Kind::kTrial;
    asked.trial.number = number;
    asked.trial.step = number / size_;
    if (asked.trial.step == 0) {
      asked.trial.point = space_.random(random);
      return asked;
    }
    const auto ranked = ended_.ranked((asked.trial.step - 1) * size_, size_);
    if (!ranked) {
      asked.kind = Ask::Kind::kAllLater;
      return asked;
    }
    if (ranked->empty()) return {};  // nobody has a state to go on from
    const Trial* parent = ended_.find(number - size_);
    const auto quarter = static_cast<size_t>(std::max<int64_t>(1, size_ / 4));
    const auto failures = static_cast<size_t>(size_) - ranked->size();
    const size_t lasting = ranked->size() - std::min(ranked->size(), quarter - std::min(quarter, failures));
    const auto place = std::find(ranked->begin(), ranked->end(), parent) - ranked->begin();
    asked.trial.point = parent->point;
    if (static_cast<size_t>(place) >= std::max<size_t>(1, lasting)) {
      parent = (*ranked)[random.index(std::min(quarter, ranked->size()))];
      asked.trial.point = parent->point;
      for (size_t change = 0; change < 1 + space_.genes().size() / 5; ++change)
        asked.trial.point = space_.mutated(asked.trial.point, random);
    }
    asked.trial.parent = parent->number;
    return asked;
  }

  void tell(const Trial& trial) override { ended_.add(trial); }

 private:
  const Space& space_;
  uint64_t seed_;
  int64_t size_;
  Ended ended_;
};

}  // namespace

Random random_of_trial(uint64_t seed, int64_t number) {
  Random mixed(seed ^ (static_cast<uint64_t>(number) * 0xD1B54A32D192ED03u));
  return Random(mixed.bits());
}

std::vector<double> budgets_of(const StrategyOptions& options) {
  const auto eta = static_cast<double>(options.eta);
  const double steps = std::round(std::log(options.greatest_budget / options.least_budget) / std::log(eta));
  std::vector<double> budgets;
  for (double budget = options.least_budget; static_cast<double>(budgets.size()) < steps; budget *= eta)
    budgets.push_back(budget);
  budgets.push_back(options.greatest_budget);
  return budgets;
}

std::unique_ptr<Strategy> make_halving(const Space& space, const StrategyOptions& options) {
  return std::make_unique<Halving>(space, options);
}

std::unique_ptr<Strategy> make_population(const Space& space, const StrategyOptions& options) {
  return std::make_unique<Population>(space, options);
}

}  // namespace galatea::policy
