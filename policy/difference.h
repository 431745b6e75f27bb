// What two policies do not have in common.
#pragma once

#include <string>
#include <vector>

#include "policy/document.h"

namespace galatea::policy {

struct Difference {
  std::string path;         ///< "augmentations.rotate.range", "policy.from[3].seq[0]"
  std::string left, right;  ///< JSON on one line; empty: not there
};
/// In the order of the documents; names of policies are not compared.
std::vector<Difference> differences(const Document& left, const Document& right);

}  // namespace galatea::policy
