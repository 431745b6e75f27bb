// A search as a page: scores over trials, scores against cost, which values matter, the best policy.
#pragma once

#include <string>
#include <vector>

#include "policy/search/strategy.h"

namespace galatea::policy {

/// The share of the scores' variance that the values of a gene account for, 0 to 1: between groups of equal
/// values (numbers in five groups) over all. Few trials make it look larger than it is.
std::vector<double> importance(const Space& space, const std::vector<Trial>& trials);

struct ReportText {
  std::string title, objective;
  std::string best_json;      ///< empty: there is no best policy
  std::string pipeline_text;  ///< how a pipeline uses it
  bool minimize = false;
};
/// One HTML page without scripts, other files or addresses.
std::string html_report(const Space& space, const std::vector<Trial>& trials, const ReportText& text);

}  // namespace galatea::policy
