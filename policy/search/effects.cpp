#include "policy/search/effects.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "policy/reader.h"
#include "policy/table.h"

namespace galatea::policy {
namespace {

constexpr int kGroups = 5;

/// Trials that ended well, with what is left of their scores when the mean of those that may be compared is
/// taken away.
struct Centred {
  std::vector<const Trial*> trials;
  std::vector<double> scores;
  std::vector<size_t> round;  ///< of each trial: of those that may be compared
  size_t rounds = 0;

  explicit Centred(const std::vector<Trial>& all) {
    std::map<std::pair<double, int64_t>, size_t> numbers;
    for (const Trial& trial : all) {
      if (trial.failed) continue;
      round.push_back(numbers.try_emplace({trial.budget, trial.step}, numbers.size()).first->second);
      trials.push_back(&trial);
      scores.push_back(trial.score);
    }
    rounds = numbers.size();
    scores = centred(scores);
  }
  std::vector<double> centred(std::vector<double> values) const {
    std::vector<double> sums(rounds, 0.0), counts(rounds, 0.0);
    for (size_t i = 0; i < values.size(); ++i) {
      sums[round[i]] += values[i];
      ++counts[round[i]];
    }
    for (size_t i = 0; i < values.size(); ++i) values[i] -= sums[round[i]] / counts[round[i]];
    return values;
  }
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The value of a gene, or the group of values that it is in.
double group_of(const Gene& gene, double value) {
  const bool many = gene.kind == Gene::Kind::kNumber ? gene.high > gene.low : gene.high - gene.low > kGroups;
  if (!many || gene.kind == Gene::Kind::kChoice) return value;
  const double part = gene.is_log ? std::log(value / gene.low) / std::log(gene.high / gene.low)
                                  : (value - gene.low) / (gene.high - gene.low);
  return std::min(std::floor(part * kGroups), kGroups - 1.0);
}

}  // namespace

std::vector<Importance> importance(const Space& space, const std::vector<Trial>& trials) {
  const Centred good(trials);
  const double all = product(good.scores, good.scores);
  const auto count = static_cast<double>(good.trials.size()), rounds = static_cast<double>(good.rounds);
  std::vector<Importance> found;
  for (size_t g = 0; g < space.genes().size(); ++g) {
    std::map<std::optional<double>, std::pair<double, double>> groups;  // sum of scores, count
    for (size_t i = 0; i < good.trials.size(); ++i) {
      const Point& point = good.trials[i]->point;
      std::optional<double> group;  // none: the value does not matter, its item was not chosen
      if (space.active(point)[g]) group = group_of(space.genes()[g], point[g]);
      auto& [sum, size] = groups[group];
      sum += good.scores[i];
      ++size;
    }
    double between = 0;
    for (const auto& [value, group] : groups) between += group.first * group.first / group.second;
    Importance each;
    each.share = all > 0 ? between / all : 0;
    if (count > rounds && !groups.empty())
      each.by_chance = std::min(1.0, (static_cast<double>(groups.size()) - 1) / (count - rounds));
    found.push_back(each);
  }
  return found;
}

std::vector<Effect> operation_effects(const Space& space, const std::vector<Trial>& trials) {
  const Centred good(trials);
  const double degrees = static_cast<double>(good.trials.size()) - static_cast<double>(good.rounds) - 1;
  if (degrees < 3) return {};
  std::map<std::string, std::vector<double>> runs;
  for (size_t i = 0; i < good.trials.size(); ++i) {
    const ReadResult read = read_policy_tree(space.at(good.trials[i]->point));
    if (!read.document) return {};  // it was one when the trial ran
    for (const auto& [name, expected] : expected_runs(*read.document)) {
      auto& column = runs.try_emplace(name, good.trials.size(), 0.0).first->second;
      column[i] = expected;
    }
  }
  std::vector<Effect> effects;
  for (const auto& [name, column] : runs) {
    Effect effect;
    effect.operation = name;
    const auto [least, most] = std::minmax_element(column.begin(), column.end());
    effect.least = *least;
    effect.most = *most;
    const std::vector<double> x = good.centred(column);
    const double spread = product(x, x);
    if (spread < 1e-12) continue;
    const double slope = product(x, good.scores) / spread, range = effect.most - effect.least;
    const double unexplained =
        std::max(0.0, product(good.scores, good.scores) - slope * slope * spread) / degrees;
    const double error = student_quantile(degrees) * std::sqrt(unexplained / spread);
    effect.change = slope * range;
    effect.low = (slope - error) * range;
    effect.high = (slope + error) * range;
    effects.push_back(effect);
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const Effect& a, const Effect& b) { return std::abs(a.change) > std::abs(b.change); });
  return effects;
}

double student_quantile(double degrees) {
  // Cornish and Fisher's expansion around the normal distribution's.
  constexpr double z = 1.959963984540054, z2 = z * z;
  const double terms[] = {z, z * (z2 + 1) / 4, z * (5 * z2 * z2 + 16 * z2 + 3) / 96,
                          z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384};
  double sum = 0, power = 1;
  for (double term : terms) {
    sum += term / power;
    power *= degrees;
  }
  return sum;
}

}  // namespace galatea::policy
