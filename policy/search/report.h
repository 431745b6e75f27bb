// A search as a page: scores over trials, scores against cost, what matters, the best policy.
#pragma once

#include <string>
#include <vector>

#include "policy/search/strategy.h"

namespace galatea::policy {

struct ReportText {
  std::string title, objective;
  std::string best_json;      ///< empty: there is no best policy
  std::string pipeline_text;  ///< the best policy as a pipeline
  bool minimize = false;
};
/// One HTML page without scripts, other files or addresses.
std::string html_report(const Space& space, const std::vector<Trial>& trials, const ReportText& text);

/// A gene's value as people read it.
std::string value_text(const Gene& gene, double value);

}  // namespace galatea::policy
