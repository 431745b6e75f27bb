// A search: trials of a strategy's points, side by side, written down as they go.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/document.h"
#include "policy/search/host.h"
#include "policy/search/journal.h"
#include "policy/search/strategy.h"

namespace galatea::policy {

struct SearchOptions {
  std::string objective;  ///< a command; `{policy}` stands for the file, `{policies}` for those of a call
  std::string folder;     ///< where the policies of the trials are written, and folders for their states
  int64_t trials = 50;
  int jobs = 1;        ///< calls that run side by side
  int together = 1;    ///< policies a call, at most, of an objective that names `{policies}`
  double timeout = 0;  ///< seconds for each policy; 0: any time
  bool minimize = false;
  std::string imports_from;     ///< the folder that the space's imports are relative to
  bool prune = false;           ///< trials that report lower scores than others did end early
  double max_microseconds = 0;  ///< what a policy may take a sample; 0: any time
  Host* host = nullptr;         ///< what the objective is asked of instead of a command
  bool keeps_states = false;    ///< each trial has a folder of its own, {state}, and may read its parent's
  /// What `timeout` is counted by.
  std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;
};

struct SearchEvents {
  std::function<void(const Trial&)> ended;  ///< score as the objective gave it
  std::function<void(size_t)> running;      ///< now and then: how many run
  std::function<bool()> is_interrupted = [] { return false; };
};

/// Are these scores, of a trial that runs, the worse half? The best of them is worse than the median of what
/// trials that ended well had reported by then, of five at least (Golovin et al., 2017).
bool is_worse_half(const std::vector<double>& scores, const std::vector<Trial>& ended, bool minimize);

/// Runs trials until there are as many as asked for, the strategy has no more, or it is interrupted. What is
/// in the journal already is not run again; trials that had begun are. Trials whose call together gave no
/// scores are run again one by one: what fails, fails by itself.
Status run_search(const Space& space, Strategy& strategy, Journal& journal, const SearchOptions& options,
                  const SearchEvents& events);

/// Trials that ended well, best first: those with the greatest budget, or of the last step, before the
/// others.
std::vector<Trial> ranking(const std::vector<Trial>& trials, bool minimize);
/// A trial and those whose states it was built on, the first of them first.
std::vector<Trial> lineage(const std::vector<Trial>& trials, int64_t number);

}  // namespace galatea::policy
