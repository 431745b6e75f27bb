// How good a policy may be, guessed without training: affinity and diversity, after Gontijo-Lopes et al.,
// "Affinity and Diversity: Quantifying Mechanisms of Data Augmentation" (2020), with fixed features in the
// place of a trained model. docs/policies.md has the formulas and what they do not see.
#pragma once

#include <cstdint>
#include <vector>

namespace galatea::policy {

/// One picture: its class, its features, and those of several augmented copies.
struct ProxySample {
  int64_t label = 0;
  std::vector<double> clean;
  std::vector<std::vector<double>> augmented;
};

struct ProxyScore {
  double affinity = 1;  ///< 0 to 1: how near augmented pictures stay to their class; 1: as near as clean ones
  double diversity = 0;  ///< 0 to 1: how much copies of a picture differ; 0.5: as pictures of a class do
  double score = 0;      ///< the geometric mean
  int64_t classes = 0;
};

/// `weights`: how much each feature counts. There is at least one sample, each with at least one copy.
ProxyScore proxy_score(const std::vector<ProxySample>& samples, const std::vector<double>& weights);

}  // namespace galatea::policy
