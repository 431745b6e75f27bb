// Strategies that go by rounds: what is tried next depends on how all trials of a round compare.
#pragma once

#include <memory>

#include "policy/random.h"
#include "policy/search/strategy.h"

namespace galatea::policy {

/// A generator of its own for each trial.
Random random_of_trial(uint64_t seed, int64_t number);

/// Successive halving (Jamieson and Talwalkar, 2016): of a bracket's trials the best `eta`-th goes on with
/// `eta` times the budget, until few have spent the greatest. Brackets follow one another.
std::unique_ptr<Strategy> make_halving(const Space& space, const StrategyOptions& options);
/// Population-based training of schedules (Ho et al., 2019): members train side by side, a step at a time;
/// the worst quarter goes on from the state of a member of the best quarter, with a changed policy.
std::unique_ptr<Strategy> make_population(const Space& space, const StrategyOptions& options);

}  // namespace galatea::policy
