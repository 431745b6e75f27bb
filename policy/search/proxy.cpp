#include "policy/search/proxy.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace galatea::policy {
namespace {

using Vector = std::vector<double>;

/// What clean pictures look like: the mean of each class, and how far its pictures are from it.
struct CleanStatistics {
  std::map<int64_t, Vector> means;
  Vector variances;

  CleanStatistics(const std::vector<ProxySample>& samples) {
    const size_t count = samples[0].clean.size();
    const auto n = static_cast<double>(samples.size());
    Vector mean(count, 0.0);
    std::map<int64_t, double> sizes;
    for (const ProxySample& sample : samples) {
      Vector& sum = means.try_emplace(sample.label, count, 0.0).first->second;
      ++sizes[sample.label];
      for (size_t i = 0; i < count; ++i) {
        sum[i] += sample.clean[i];
        mean[i] += sample.clean[i] / n;
      }
    }
    // A class of few pictures leans on the mean of all: as if it had one more picture, which is that mean.
    for (auto& [label, sum] : means)
      for (size_t i = 0; i < count; ++i) sum[i] = (sum[i] + mean[i]) / (sizes[label] + 1);
    variances.assign(count, 0.0);
    for (const ProxySample& sample : samples) {
      const Vector& of_class = means.at(sample.label);
      for (size_t i = 0; i < count; ++i)
        variances[i] += (sample.clean[i] - of_class[i]) * (sample.clean[i] - of_class[i]) / n;
    }
    // A feature that hardly ever changes must not rule: features lie between 0 and 1, or near it.
    for (double& variance : variances) variance += 1e-4;
  }
};

double distance(const Vector& a, const Vector& b, const Vector& variances, const Vector& weights) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += weights[i] * (a[i] - b[i]) * (a[i] - b[i]) / variances[i];
  return sum;
}

}  // namespace

ProxyScore proxy_score(const std::vector<ProxySample>& samples, const std::vector<double>& weights) {
  const CleanStatistics clean(samples);
  double nearness = 0, spread = 0;
  for (const ProxySample& sample : samples) {
    const Vector& centre = clean.means.at(sample.label);
    const double own = distance(sample.clean, centre, clean.variances, weights);
    const auto copies = static_cast<double>(sample.augmented.size());
    Vector mean(sample.clean.size(), 0.0);
    double kept = 0;
    for (const Vector& copy : sample.augmented) {
      // An augmentation that moves a picture towards its class's mean is not better than none.
      const double moved = std::max(own, distance(copy, centre, clean.variances, weights));
      kept += (1 + own) / (1 + moved);
      // From the first copy on, so that equal copies have a spread of exactly 0.
      for (size_t i = 0; i < copy.size(); ++i) mean[i] += (copy[i] - sample.augmented[0][i]) / copies;
    }
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += sample.augmented[0][i];
    nearness += kept / copies;
    double around = 0;
    for (const Vector& copy : sample.augmented) around += distance(copy, mean, clean.variances, weights);
    if (copies > 1) spread += around / (copies - 1);
  }
  const auto n = static_cast<double>(samples.size());
  ProxyScore score;
  score.affinity = nearness / n;
  score.diversity = spread / n / (1 + spread / n);
  score.score = std::sqrt(score.affinity * score.diversity);
  score.classes = static_cast<int64_t>(clean.means.size());
  return score;
}

}  // namespace galatea::policy
