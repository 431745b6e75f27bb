// Small random changes of a policy that keep it a policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/document.h"

namespace galatea::policy {

struct Mutation {
  Document document;
  std::vector<std::string> changes;  ///< "policy.from[3].seq[0]: probability 0.6 → 0.7"
};
/// The same seed gives the same changes on every machine. Where nothing can change there are fewer than asked
/// for.
Mutation mutate(const Document& document, uint64_t seed, int changes);

}  // namespace galatea::policy
