#include "policy/mutate.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "policy/check_policy.h"
#include "policy/random.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {

using MagKind = Magnitude::Kind;

/// One thing that can change: the change is made, and told in words.
struct Site {
  std::string path;
  std::function<std::string(Random&)> change;
};

std::string moved(double& probability, Random& random) {
  const double before = probability;
  const double step = random.integer(1, 3) * 0.1 * (random.chance(0.5) ? 1 : -1);
  // Tenths, as policies have them; never 0, which would be a step that is not there.
  probability = std::clamp(std::round((probability + step) * 10) / 10, 0.1, 1.0);
  return fmt::format("probability {} → {}", before, probability);
}

int64_t moved(int64_t bin, int64_t bins, Random& random) {
  const int64_t reach = std::max<int64_t>(1, bins / 10);
  const int64_t step = random.integer(1, reach) * (random.chance(0.5) ? 1 : -1);
  return std::clamp<int64_t>(bin + step, 0, bins - 1);
}

std::string moved(Magnitude& magnitude, int64_t bins, Random& random) {
  if (magnitude.kind == MagKind::kBin) {
    const int64_t before = magnitude.bin;
    magnitude.bin = magnitude.last_bin = moved(before, bins, random);
    return fmt::format("bin {} → {}", before, magnitude.bin);
  }
  if (magnitude.kind == MagKind::kUniformBin) {
    const int64_t low = magnitude.bin, high = magnitude.last_bin;
    const int64_t one = moved(low, bins, random), other = moved(high, bins, random);
    std::tie(magnitude.bin, magnitude.last_bin) = std::minmax({one, other});
    return fmt::format("bins {} to {} → {} to {}", low, high, magnitude.bin, magnitude.last_bin);
  }
  const double before = magnitude.level;
  const double step =
      magnitude.max * 0.1 * static_cast<double>(random.integer(1, 2)) * (random.chance(0.5) ? 1 : -1);
  magnitude.level =
      std::clamp(magnitude.level + step, 0.0, magnitude.clip ? magnitude.clip->second : magnitude.max);
  if (magnitude.kind == MagKind::kUniformLevel)
    magnitude.level = std::min(magnitude.level, magnitude.last_level);
  return fmt::format("level {:.4g} → {:.4g}", before, magnitude.level);
}

class Sites {
 public:
  explicit Sites(Document& document) : document_(document) {
    visit(document.policy, "policy");
    for (auto& [name, node] : document.definitions) visit(node, "definitions." + name);
  }
  std::vector<Site> take() { return std::move(sites_); }

 private:
  void add(const std::string& path, std::function<std::string(Random&)> change) {
    sites_.push_back({path, std::move(change)});
  }

  void add_magnitude(Magnitude& magnitude, const std::string& path) {
    if (magnitude.kind == MagKind::kNone || magnitude.kind == MagKind::kValue) return;
    const int64_t bins = document_.bins;
    add(path, [&magnitude, bins](Random& random) { return moved(magnitude, bins, random); });
  }

  void visit(Node& node, const std::string& path) {
    if (node.kind == Node::Kind::kApply) {
      add(path, [&node](Random& random) { return moved(node.probability, random); });
      add_magnitude(node.magnitude, path);
      if (document_.augmentations.size() > 1)
        add(path,
            [&document = document_, &node](Random& random) { return replaced(document, node, random); });
    } else if (node.kind == Node::Kind::kChoose) {
      add_magnitude(node.each.magnitude, path + ".each");
      // A bare name takes what `each` says.
      if (node.from_all || std::any_of(node.pool.begin(), node.pool.end(),
                                       [](const PoolItem& item) { return !item.name.empty(); })) {
        add(path, [&node](Random& random) {
          const int64_t before = node.most;
          node.most = std::clamp<int64_t>(before + (random.chance(0.5) ? 1 : -1), 1, 6);
          node.least = std::min(node.least, node.most);
          if (before == node.least || node.least > before) node.least = node.most;
          return fmt::format("chosen {} → {}", before, node.most);
        });
        add(path + ".each", [&node](Random& random) { return moved(node.each.probability, random); });
      }
    }
    for (size_t i = 0; i < node.children.size(); ++i)
      visit(node.children[i],
            node.kind == Node::Kind::kMix ? path + ".mix.chain" : fmt::format("{}.seq[{}]", path, i));
    for (size_t i = 0; i < node.pool.size(); ++i)
      for (Node& child : node.pool[i].node) visit(child, fmt::format("{}.from[{}]", path, i));
  }

  static std::string replaced(const Document& document, Node& node, Random& random) {
    const std::string before = node.name;
    const bool had = document.find(before)->has_magnitude();
    size_t chosen = random.index(document.augmentations.size() - 1);
    if (document.augmentations[chosen].name == before) ++chosen;
    const Augmentation& entry = document.augmentations[chosen];
    node.name = entry.name;
    node.extras.clear();
    if (!entry.has_magnitude()) {
      node.magnitude = {};
    } else if (!had || node.magnitude.kind == MagKind::kValue || !entry.values.empty()) {
      node.magnitude = {};
      node.magnitude.kind = MagKind::kBin;
      node.magnitude.bin = node.magnitude.last_bin = random.integer(0, document.bins - 1);
    }
    return fmt::format("{} → {}", before, node.name);
  }

  Document& document_;
  std::vector<Site> sites_;
};

bool is_sound(const Document& document) {
  DiagnosticSink sink;
  Fields fields(sink);
  check_policy(document, fields);
  return !sink.has_errors();
}

}  // namespace

Mutation mutate(const Document& document, uint64_t seed, int changes) {
  constexpr int kAttempts = 50;
  Random random(seed);
  Mutation mutation{document, {}};
  for (int made = 0, attempts = 0; made < changes && attempts < changes * kAttempts; ++attempts) {
    Document tried = mutation.document;
    std::vector<Site> sites = Sites(tried).take();
    if (sites.empty()) break;
    const size_t chosen = random.index(sites.size());
    const std::string words = sites[chosen].change(random);
    if (to_json(tried) == to_json(mutation.document) || !is_sound(tried)) continue;
    mutation.changes.push_back(sites[chosen].path + ": " + words);
    mutation.document = std::move(tried);
    ++made;
  }
  return mutation;
}

}  // namespace galatea::policy
