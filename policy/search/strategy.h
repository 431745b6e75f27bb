// Which point of a space is tried next: ask and tell.
//
// Comes in: the trials that have ended. Goes out: trials by their numbers. A trial depends on the seed, its
// number and the scores of certain trials before it, for which it waits, and on nothing else: not on the
// order in which trials end, nor on how many run side by side.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/search/space.h"

namespace galatea::policy {

struct Trial {
  int64_t number = 0;
  Point point;
  bool failed = false;
  double score = 0;  ///< higher is better
  double seconds = 0;
  std::string reason;                  ///< of a failure
  double budget = 0;                   ///< what the objective may spend; 0: the strategy does not say
  int64_t parent = -1;                 ///< the trial whose state it goes on from; -1: none
  int64_t step = 0;                    ///< the place in a schedule
  std::vector<double> scores;          ///< reported while it ran
  bool pruned = false;                 ///< ended for them; then it has failed as well
  std::optional<double> microseconds;  ///< what its policy takes a sample, where that was told
};

struct StrategyOptions {
  std::string name = "random";  ///< one of strategy_names()
  uint64_t seed = 0;
  int64_t levels = 5;  ///< grid: places on a range of numbers
  /// Evolution: how many of the latest trials have children. Halving: how many begin together. Population:
  /// how many members there are. 0: the strategy's own default.
  int64_t population = 0;
  int64_t tournament = 4;       ///< evolution: how many of them compete to be the parent
  int64_t ahead = 8;            ///< evolution: how many trials, at most, may be under way side by side
  double least_budget = 1;      ///< halving: of those that begin
  double greatest_budget = 27;  ///< halving: of those that get through
  int64_t eta = 3;              ///< halving: one of so many goes on, with so many times the budget

  int64_t population_or_default() const;
  bool has_budgets() const { return name == "halving"; }
  bool has_steps() const { return name == "population"; }
  bool has_parents() const { return has_budgets() || has_steps(); }
};
const std::vector<std::string>& strategy_names();

/// The answer to "what is trial 17?".
struct Ask {
  enum class Kind : uint8_t {
    kTrial,     ///< it is `trial`
    kLater,     ///< it depends on trials that have not ended
    kAllLater,  ///< so do all trials after it
    kNever,     ///< there is no such trial, but there may be later ones
    kEnd,       ///< nor are there later ones
  };
  Kind kind = Kind::kEnd;
  Trial trial;  ///< number, point, budget, parent and step
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual Ask ask(int64_t number) = 0;
  virtual void tell(const Trial& trial) = 0;
  /// Shall a trial end early for the scores that it has reported? None: the strategy does not say.
  virtual std::optional<bool> prunes(const Trial&) { return std::nullopt; }
  /// So many trials, or a multiple, make a whole.
  virtual int64_t whole() const { return 1; }
};
std::unique_ptr<Strategy> make_strategy(const Space& space, const StrategyOptions& options);

/// The budgets of successive halving, the least first: each `eta` times the one before, the last the
/// greatest.
std::vector<double> budgets_of(const StrategyOptions& options);

}  // namespace galatea::policy
