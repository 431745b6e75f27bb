#include "policy/document.h"

#include <numeric>

namespace galatea::policy {
namespace {
constexpr const char* kQuantizeWords[] = {"none", "floor", "ceil", "trunc", "round_even"};
}

const Augmentation* Document::find(std::string_view augmentation) const {
  for (const Augmentation& entry : augmentations)
    if (entry.name == augmentation) return &entry;
  return nullptr;
}

const Node* Document::definition(std::string_view named) const {
  for (const auto& [key, node] : definitions)
    if (key == named) return &node;
  return nullptr;
}

std::vector<PoolItem> expanded_pool(const Document& document, const Node& choice) {
  if (!choice.from_all) return choice.pool;
  std::vector<PoolItem> pool;
  for (const Augmentation& entry : document.augmentations) pool.push_back({entry.name, {}, choice.span});
  return pool;
}

std::vector<double> normalized_weights(const Document& document, const Node& choice) {
  const std::vector<PoolItem> pool = expanded_pool(document, choice);
  std::vector<double> weights(pool.size(), 1.0);
  for (size_t i = 0; i < pool.size(); ++i) {
    if (i < choice.weights.by_place.size()) weights[i] = choice.weights.by_place[i];
    for (const auto& [name, weight] : choice.weights.by_name)
      if (name == pool[i].name) weights[i] = weight;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum > 0)
    for (double& weight : weights) weight /= sum;
  return weights;
}

const char* word_of(Quantize quantize) { return kQuantizeWords[static_cast<size_t>(quantize)]; }

std::optional<Quantize> quantize_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kQuantizeWords); ++i)
    if (word == kQuantizeWords[i]) return static_cast<Quantize>(i);
  return std::nullopt;
}

}  // namespace galatea::policy
