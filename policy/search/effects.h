// What the scores of a search say about its values and operations.
#pragma once

#include <string>
#include <vector>

#include "policy/search/strategy.h"

namespace galatea::policy {

struct Importance {
  /// The share of the scores' variance, 0 to 1, that the values of a gene account for: between groups of
  /// equal values (numbers in five groups) over all.
  double share = 0;
  double by_chance = 0;  ///< what a gene without any influence would get on average
};
/// One for each gene. Scores of other budgets or steps are not compared with one another.
std::vector<Importance> importance(const Space& space, const std::vector<Trial>& trials);

/// How scores change with how often an operation runs.
struct Effect {
  std::string operation;
  double least = 0, most = 0;  ///< expected runs on a sample, over the trials
  /// The change of the score from the least to the most, on a straight line; and its 95 % interval.
  double change = 0, low = 0, high = 0;
  bool is_certain() const { return low > 0 || high < 0; }
};
/// Operations that do not run equally often in all trials, the largest change first.
std::vector<Effect> operation_effects(const Space& space, const std::vector<Trial>& trials);

/// The 97.5 % quantile of Student's distribution: within 1 % from three degrees of freedom on.
double student_quantile(double degrees);

}  // namespace galatea::policy
