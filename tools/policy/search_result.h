// What `galatea policy search` tells of a search.
#pragma once

#include <string>

#include "policy/search/search.h"
#include "policy/search/space.h"
#include "tools/progress.h"

namespace galatea::tools {

/// The best trials, for people.
std::string search_text(const policy::Space& space, const policy::Journal& journal, bool minimize);
/// All trials, as one line of JSON.
std::string search_json(const policy::Space& space, const policy::Journal& journal, bool minimize);

/// A bar on a terminal, else a line for each trial that ended; on stderr.
class SearchProgress {
 public:
  SearchProgress(const policy::Journal& journal, int64_t trials, bool minimize, bool is_terminal);
  void ended(const policy::Trial& trial);
  void running(size_t count);
  void clear() { bar_.clear(); }

 private:
  const policy::Journal& journal_;
  int64_t trials_, before_;
  bool minimize_, is_terminal_;
  Progress bar_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
/// The words behind the bar: "12/50 trials, 2 running, 1 failed, best 0.81, 1:10 left".
std::string search_progress_words(const std::vector<policy::Trial>& ended, size_t running, int64_t trials,
                                  bool minimize, double seconds_a_trial);

}  // namespace galatea::tools
