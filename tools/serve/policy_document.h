// A policy document as the page shows it: its table, its weights, what is wrong with it.
//
// Comes in: the text of a document, saved or not. Goes out: JSON; the text with other weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "policy/document.h"

namespace galatea::tools::serve {

struct PolicyText {
  std::string path;  ///< what its imports lie beside
  std::string text;
};

/// nullopt: something is wrong, in words that `problems` gets, with the places in the text.
std::optional<policy::Document> read_document(const PolicyText& policy, std::string& problems);

/// {"name", "bins", "augmentations": [{"name", "operation", "range"}], "choices": [{"place", "draws", "members":
/// [{"name", "weight"}]}]}; weights add up to 1.
nlohmann::ordered_json json_of(const policy::Document& document);

/// The document with these weights for a choice of json_of(): one a member, not negative, not all 0. An error
/// says what is wrong with them.
Result<std::string> with_weights(policy::Document document, size_t choice,
                                 const std::vector<double>& weights);

/// The bins of a row of the table that a grid shows, from the weakest to the strongest; one where the row has no
/// magnitudes.
std::vector<int64_t> bins_of(const policy::Document& document, const policy::Augmentation& row, int most);

}  // namespace galatea::tools::serve
