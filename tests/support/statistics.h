// How far what was drawn is from what it should be distributed like.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace galatea::testing {

/// The statistic of counts that should be as `shares` of all; of as many degrees of freedom as there are counts, less
/// one.
inline double chi_square(const std::vector<int>& counts, const std::vector<double>& shares) {
  double total = 0, sum = 0;
  for (const int count : counts) total += count;
  for (size_t n = 0; n < counts.size(); ++n) {
    const double wanted = total * shares[n];
    sum += (counts[n] - wanted) * (counts[n] - wanted) / wanted;
  }
  return sum;
}

/// The same of counts that should be equal.
inline double chi_square(const std::vector<int>& counts) {
  return chi_square(counts, std::vector<double>(counts.size(), 1 / static_cast<double>(counts.size())));
}

/// Kolmogorov and Smirnov's statistic of numbers that should be uniform in [low, high], times the root of how many
/// there are: below 1.95 at the level 0.001.
inline double distance_from_uniform(std::vector<double> numbers, double low, double high) {
  std::ranges::sort(numbers);
  const auto count = static_cast<double>(numbers.size());
  double largest = 0;
  for (size_t n = 0; n < numbers.size(); ++n) {
    const double at = (numbers[n] - low) / (high - low);
    largest =
        std::max({largest, at - static_cast<double>(n) / count, static_cast<double>(n + 1) / count - at});
  }
  return largest * std::sqrt(count);
}

}  // namespace galatea::testing
