#include "tools/serve/policy_document.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "policy/operation.h"
#include "policy/reader.h"
#include "policy/writer.h"

namespace galatea::tools::serve {
namespace {

using Json = nlohmann::ordered_json;
using policy::Document;
using policy::Node;

struct PlacedChoice {
  std::string place;  ///< "policy.seq[0]"
  Node* node = nullptr;
};

void find_choices(Node& node, const std::string& place, std::vector<PlacedChoice>& choices) {
  if (node.kind == Node::Kind::kChoose) {
    choices.push_back({place, &node});
    for (size_t k = 0; k < node.pool.size(); ++k)
      for (Node& inner : node.pool[k].node)
        find_choices(inner, fmt::format("{}.from[{}]", place, k), choices);
  }
  const char* word = node.kind == Node::Kind::kMix ? "chain" : "seq";
  for (size_t k = 0; k < node.children.size(); ++k)
    find_choices(node.children[k], fmt::format("{}.{}[{}]", place, word, k), choices);
}

std::vector<PlacedChoice> choices_of(Document& document) {
  std::vector<PlacedChoice> choices;
  find_choices(document.policy, "policy", choices);
  for (auto& [name, node] : document.definitions) find_choices(node, name, choices);
  return choices;
}

std::string member_name(const policy::PoolItem& item) {
  if (!item.name.empty()) return item.name;
  return item.node.empty() ? "" : policy::to_json(item.node.front());
}

}  // namespace

std::optional<Document> read_document(const PolicyText& policy, std::string& problems) {
  SourceMap sources;
  policy::ReadResult read = policy::read_policy(sources.add(policy.path, policy.text), sources);
  for (const Diagnostic& diagnostic : read.diagnostics) problems += render_text(diagnostic, sources);
  return std::move(read.document);
}

Json json_of(const Document& document) {
  Json json = {{"name", document.name}, {"bins", document.bins}};
  json["augmentations"] = Json::array();
  for (const policy::Augmentation& row : document.augmentations) {
    json["augmentations"].push_back({{"name", row.name}, {"operation", row.op}});
    if (row.range) json["augmentations"].back()["range"] = {row.range->first, row.range->second};
  }
  json["choices"] = Json::array();
  Document copy = document;
  for (const PlacedChoice& choice : choices_of(copy)) {
    const std::vector<double> weights = policy::normalized_weights(copy, *choice.node);
    const std::vector<policy::PoolItem> pool = policy::expanded_pool(copy, *choice.node);
    Json members = Json::array();
    for (size_t k = 0; k < pool.size(); ++k)
      members.push_back({{"name", member_name(pool[k])}, {"weight", weights[k]}});
    json["choices"].push_back({{"place", choice.place},
                               {"draws", {choice.node->least, choice.node->most}},
                               {"members", std::move(members)}});
  }
  return json;
}

Result<std::string> with_weights(Document document, size_t choice, const std::vector<double>& weights) {
  const std::vector<PlacedChoice> choices = choices_of(document);
  const auto wrong = [](std::string why) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(why);
    return make_error(ErrorKind::kUser, std::move(diagnostic));
  };
  if (choice >= choices.size()) return wrong("there is no such choice in the document");
  Node& node = *choices[choice].node;
  const std::vector<policy::PoolItem> pool = policy::expanded_pool(document, node);
  if (weights.size() != pool.size())
    return wrong(fmt::format("{} weights for {} members", weights.size(), pool.size()));
  const bool are_weights = std::ranges::all_of(weights, [](double w) { return std::isfinite(w) && w >= 0; });
  if (!are_weights || std::accumulate(weights.begin(), weights.end(), 0.0) <= 0)
    return wrong("weights are numbers from 0, and not all 0");
  node.weights.by_place.clear();
  node.weights.by_name.clear();
  const bool are_equal = std::ranges::count(weights, weights[0]) == std::ssize(weights);
  // What `*` stands for has names; other members may have none.
  if (node.from_all)
    for (size_t k = 0; k < pool.size(); ++k) node.weights.by_name.emplace_back(pool[k].name, weights[k]);
  else
    node.weights.by_place = weights;
  if (are_equal) node.weights = {};
  return policy::to_json(document);
}

std::vector<int64_t> bins_of(const Document& document, const policy::Augmentation& row, int most) {
  if (!row.has_magnitude()) return {0};
  std::vector<int64_t> bins;
  for (int64_t i = 1; i <= most; ++i)
    if (const int64_t bin = (document.bins - 1) * i / most; bins.empty() || bins.back() != bin)
      bins.push_back(bin);
  return bins;
}

}  // namespace galatea::tools::serve
