// Which point of a space is tried next: ask and tell.
//
// Comes in: the trials that have ended. Goes out: the next point. A point depends on the seed, the trial's
// number and the trials told before it was asked for, and on nothing else.
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
  std::string reason;  ///< of a failure
};

struct StrategyOptions {
  std::string name = "random";  ///< "random", "grid", "evolution"
  uint64_t seed = 0;
  int64_t levels = 5;       ///< grid: places on a range of numbers
  int64_t population = 16;  ///< evolution: how many of the latest trials have children
  int64_t tournament = 4;   ///< evolution: how many of them compete to be the parent
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The point of a trial; none: the strategy has no more.
  virtual std::optional<Point> ask(int64_t number) = 0;
  virtual void tell(const Trial& trial) = 0;
};
std::unique_ptr<Strategy> make_strategy(const Space& space, const StrategyOptions& options);

}  // namespace galatea::policy
