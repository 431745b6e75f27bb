#include "policy/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "policy/operation.h"
#include "policy/random.h"
#include "policy/writer.h"

namespace galatea::policy {
namespace {

using Json = nlohmann::ordered_json;

/// Characters, not bytes: the text has ± and °.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - width_of(row[i]) + 1, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

/// How often each member of the pool is drawn for a sample, on average.
std::vector<double> draws(const Document& document, const Node& choice) {
  std::vector<double> weights = normalized_weights(document, choice);
  const double mean = static_cast<double>(choice.least + choice.most) / 2;
  const bool equal = std::all_of(weights.begin(), weights.end(), [&](double w) { return w == weights[0]; });
  if (choice.replace || equal) {
    for (double& weight : weights) weight *= mean;
    return weights;
  }
  // Weighted draws without replacement have no simple formula: they are counted.
  constexpr int kTrials = 20'000;
  Random random(1);
  std::vector<double> counts(weights.size());
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> left = weights;
    for (int64_t n = random.integer(choice.least, choice.most); n > 0; --n) {
      double sum = 0;
      for (double weight : left) sum += weight;
      double at = random.uniform() * sum;
      size_t chosen = 0;
      while (chosen + 1 < left.size() && (at >= left[chosen] || left[chosen] == 0)) at -= left[chosen++];
      counts[chosen] += 1.0 / kTrials;
      left[chosen] = 0;
    }
  }
  return counts;
}

void count(const Document& document, const Node& node, double times, std::map<std::string, double>& runs) {
  times *= node.probability;
  switch (node.kind) {
    case Node::Kind::kApply:
      runs[node.name] += times;
      break;
    case Node::Kind::kSequence:
      for (const Node& child : node.children) count(document, child, times, runs);
      break;
    case Node::Kind::kMix:
      for (const Node& child : node.children)
        count(document, child, times * static_cast<double>(node.chains), runs);
      break;
    case Node::Kind::kReference:
      count(document, *document.definition(node.name), times, runs);
      break;
    case Node::Kind::kChoose: {
      const std::vector<PoolItem> pool = expanded_pool(document, node);
      const std::vector<double> drawn = draws(document, node);
      for (size_t i = 0; i < pool.size(); ++i) {
        if (pool[i].node.empty())
          runs[pool[i].name] += times * drawn[i] * node.each.probability;
        else
          count(document, pool[i].node[0], times * drawn[i], runs);
      }
      break;
    }
  }
}

void gather_values(const Document& document, const Node& node,
                   std::map<std::string, std::vector<double>>& values) {
  if (node.kind == Node::Kind::kApply && node.magnitude.kind == Magnitude::Kind::kValue)
    values[node.name].push_back(node.magnitude.value);
  for (const Node& child : node.children) gather_values(document, child, values);
  if (node.kind != Node::Kind::kChoose) return;
  for (const PoolItem& item : expanded_pool(document, node)) {
    if (!item.node.empty())
      gather_values(document, item.node[0], values);
    else if (node.each.magnitude.kind == Magnitude::Kind::kValue)
      values[item.name].push_back(node.each.magnitude.value);
  }
}

std::string percent(double probability) { return fmt::format("{:.4g} %", probability * 100); }

void describe(const Document& document, const Node& node, size_t depth, std::string& out) {
  const std::string margin(2 * depth + 2, ' ');
  const std::string chance = node.probability == 1 ? "" : fmt::format(", with {}", percent(node.probability));
  switch (node.kind) {
    case Node::Kind::kApply: {
      std::string magnitude;
      const Augmentation& entry = *document.find(node.name);
      if (node.magnitude.kind == Magnitude::Kind::kBin && entry.has_magnitude())
        magnitude =
            fmt::format(" bin {}: {}", node.magnitude.bin,
                        parameter_text(entry, magnitude_of_bin(entry, node.magnitude.bin, document.bins)));
      else if (node.magnitude.kind != Magnitude::Kind::kNone)
        magnitude = " " + magnitude_text(node.magnitude);
      out += fmt::format("{}{}{}{}\n", margin, node.name, magnitude, chance);
      break;
    }
    case Node::Kind::kSequence:
      out += fmt::format("{}one after the other{}\n", margin, chance);
      for (const Node& child : node.children) describe(document, child, depth + 1, out);
      break;
    case Node::Kind::kMix:
      out += fmt::format("{}{} chains, mixed with the image (alpha {}){}\n", margin, node.chains, node.alpha,
                         chance);
      for (const Node& child : node.children) describe(document, child, depth + 1, out);
      break;
    case Node::Kind::kReference:
      out += fmt::format("{}the definition {}{}\n", margin, node.name, chance);
      break;
    case Node::Kind::kChoose: {
      const std::string number = node.least == node.most ? std::to_string(node.most)
                                                         : fmt::format("{} to {}", node.least, node.most);
      const std::vector<PoolItem> pool = expanded_pool(document, node);
      std::string each;
      if (node.each.probability != 1) each += fmt::format(", each with {}", percent(node.each.probability));
      if (node.each.magnitude.kind != Magnitude::Kind::kNone)
        each += ", " + magnitude_text(node.each.magnitude);
      out += fmt::format("{}{} of {}{}{}{}{}\n", margin, number, node.from_all ? "all " : "", pool.size(),
                         each, node.replace || node.most < 2 ? "" : ", none twice", chance);
      const std::vector<double> weights = normalized_weights(document, node);
      for (size_t i = 0; !node.from_all && i < pool.size(); ++i) {
        if (node.weights.given()) out += fmt::format("{}  weight {:.4g}\n", margin, weights[i]);
        if (pool[i].node.empty())
          out += fmt::format("{}  {}\n", margin, pool[i].name);
        else
          describe(document, pool[i].node[0], depth + 1, out);
      }
      if (node.from_all && node.weights.given())
        for (size_t i = 0; i < pool.size(); ++i)
          out += fmt::format("{}  {} weighs {:.4g}\n", margin, pool[i].name, weights[i]);
      break;
    }
  }
}

std::vector<int64_t> shown_bins(int64_t bins, bool all) {
  constexpr int64_t kMost = 9;
  const int64_t count = all ? bins : std::min(bins, kMost);
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bin = count > 1 ? i * (bins - 1) / (count - 1) : 0;
    if (shown.empty() || shown.back() != bin) shown.push_back(bin);
  }
  return shown;
}

}  // namespace

std::map<std::string, double> expected_runs(const Document& document) {
  std::map<std::string, double> runs;
  for (const Augmentation& entry : document.augmentations) runs[entry.name] = 0;
  count(document, document.policy, 1, runs);
  return runs;
}

std::map<std::string, std::vector<double>> values_of_steps(const Document& document) {
  std::map<std::string, std::vector<double>> values;
  gather_values(document, document.policy, values);
  for (const auto& [name, node] : document.definitions) gather_values(document, node, values);
  return values;
}

std::string policy_table(const Document& document, const TableOptions& options) {
  std::string out =
      fmt::format("{}: {} augmentations, {} bin{}\n\n", document.name.empty() ? "policy" : document.name,
                  document.augmentations.size(), document.bins, document.bins == 1 ? "" : "s");
  const auto runs = expected_runs(document);
  const std::vector<int64_t> bins = shown_bins(document.bins, options.all_bins);
  std::vector<std::vector<std::string>> rows = {{"augmentation", "operation", "a sample"}};
  for (int64_t bin : bins) rows[0].push_back(fmt::format("bin {}", bin));
  for (const Augmentation& entry : document.augmentations) {
    rows.push_back({entry.name, entry.op, fmt::format("{:.3f}", runs.at(entry.name))});
    for (int64_t bin : bins) {
      if (!entry.has_magnitude()) break;
      rows.back().push_back(parameter_text(entry, magnitude_of_bin(entry, bin, document.bins)));
    }
  }
  out += columns(rows) + "\n";
  describe(document, document.policy, 0, out);
  for (const auto& [name, node] : document.definitions) {
    out += fmt::format("\n  {}:\n", name);
    describe(document, node, 1, out);
  }
  return out;
}

std::string policy_table_json(const Document& document) {
  const auto runs = expected_runs(document);
  Json table = Json::array();
  for (const Augmentation& entry : document.augmentations) {
    Json magnitudes = Json::array();
    if (entry.has_magnitude())
      for (int64_t bin = 0; bin < document.bins; ++bin)
        magnitudes.push_back(magnitude_of_bin(entry, bin, document.bins));
    table.push_back({{"name", entry.name},
                     {"operation", entry.op},
                     {"runs_per_sample", runs.at(entry.name)},
                     {"negate", entry.negate},
                     {"param", entry.param},
                     {"magnitudes", std::move(magnitudes)}});
  }
  Json root = {{"name", document.name},
               {"bins", document.bins},
               {"augmentations", std::move(table)},
               {"policy", parse_ordered_json(to_json(document.policy))}};
  return json_text(root) + "\n";
}

}  // namespace galatea::policy
