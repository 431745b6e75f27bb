// A policy as a table for people.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/document.h"

namespace galatea::policy {

/// How often each augmentation runs on a sample, on average.
std::map<std::string, double> expected_runs(const Document& document);

/// Magnitudes that steps give augmentations as values ({"value": 12.5}), in the order of the document.
std::map<std::string, std::vector<double>> values_of_steps(const Document& document);

struct TableOptions {
  bool all_bins = false;  ///< every bin is a column; else at most nine
};
/// The table of augmentations, how often each runs, what its parameter is at each magnitude; then the
/// expression, a line a step.
std::string policy_table(const Document& document, const TableOptions& options);
/// The same as one line of JSON.
std::string policy_table_json(const Document& document);

}  // namespace galatea::policy
