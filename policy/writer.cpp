#include "policy/writer.h"

#include <cmath>

#include "base/json.h"

namespace galatea::policy {
namespace {

using MagKind = Magnitude::Kind;

using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 100;

/// Whole numbers have no point.
Json json_number(double value) {
  if (std::abs(value) < 1e15 && value == std::trunc(value)) return static_cast<int64_t>(value);
  return value;
}

Json json_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return nullptr;
    case JsonValue::Kind::kBool:
      return value.boolean;
    case JsonValue::Kind::kInteger:
      return value.integer;
    case JsonValue::Kind::kNumber:
      return value.number;
    case JsonValue::Kind::kString:
      return value.text;
    case JsonValue::Kind::kArray: {
      Json list = Json::array();
      for (const JsonValue& item : value.items) list.push_back(json_of(item));
      return list;
    }
    case JsonValue::Kind::kObject: {
      Json object = Json::object();
      for (const JsonMember& member : value.members) object[member.key] = json_of(member.value);
      return object;
    }
  }
  return nullptr;
}

Json json_of(const std::vector<Extra>& extras) {
  Json object = Json::object();
  for (const Extra& extra : extras) object[extra.name] = json_of(extra.value);
  return object;
}

Json json_bounds(const std::pair<double, double>& bounds) {
  return Json::array({json_number(bounds.first), json_number(bounds.second)});
}

Json json_of(const Magnitude& magnitude) {
  Json object = Json::object();
  switch (magnitude.kind) {
    case MagKind::kNone:
      return nullptr;
    case MagKind::kBin:
      object["bin"] = magnitude.bin;
      break;
    case MagKind::kUniformBin:
      object["uniform_bin"] = {magnitude.bin, magnitude.last_bin};
      break;
    case MagKind::kLevel:
      object["level"] = json_number(magnitude.level);
      if (magnitude.max != 10) object["max"] = json_number(magnitude.max);
      if (magnitude.deviation != 0) object["std"] = json_number(magnitude.deviation);
      if (magnitude.clip) object["clip"] = json_bounds(*magnitude.clip);
      break;
    case MagKind::kUniformLevel:
      object["uniform_level"] =
          Json::array({json_number(magnitude.level), json_number(magnitude.last_level)});
      if (magnitude.max != 10) object["max"] = json_number(magnitude.max);
      if (magnitude.deviation != 0) object["std"] = json_number(magnitude.deviation);
      if (magnitude.clip) object["clip"] = json_bounds(*magnitude.clip);
      break;
    case MagKind::kValue:
      object["value"] = json_number(magnitude.value);
      break;
  }
  return object;
}

Json json_of(const Node& node);

Json json_of_choice(const Node& node) {
  Json object = Json::object();
  object["choose"] = node.least == node.most ? Json(node.least) : Json::array({node.least, node.most});
  if (node.from_all) {
    object["from"] = "*";
  } else {
    Json pool = Json::array();
    for (const PoolItem& item : node.pool)
      pool.push_back(item.name.empty() ? json_of(item.node[0]) : Json(item.name));
    object["from"] = std::move(pool);
  }
  Json each = Json::object();
  if (node.each.probability != 1) each["p"] = json_number(node.each.probability);
  if (node.each.magnitude.kind != Magnitude::Kind::kNone) each["mag"] = json_of(node.each.magnitude);
  if (!each.empty()) object["each"] = std::move(each);
  if (!node.weights.by_place.empty()) {
    Json weights = Json::array();
    for (double weight : node.weights.by_place) weights.push_back(json_number(weight));
    object["weights"] = std::move(weights);
  } else if (node.weights.given()) {
    Json weights = Json::object();
    for (const auto& [name, weight] : node.weights.by_name) weights[name] = json_number(weight);
    object["weights"] = std::move(weights);
  }
  if (!node.replace) object["replace"] = false;
  return object;
}

Json json_of(const Node& node) {
  Json object = Json::object();
  switch (node.kind) {
    case Node::Kind::kApply: {
      const MagKind kind = node.magnitude.kind;
      if (node.extras.empty() && (kind == MagKind::kNone || kind == MagKind::kBin))
        return Json::array({node.name, json_number(node.probability),
                            kind == MagKind::kNone ? Json(nullptr) : Json(node.magnitude.bin)});
      object["apply"] = node.name;
      if (node.probability != 1) object["p"] = json_number(node.probability);
      if (kind != MagKind::kNone) object["mag"] = json_of(node.magnitude);
      if (!node.extras.empty()) object["extras"] = json_of(node.extras);
      return object;
    }
    case Node::Kind::kSequence: {
      Json steps = Json::array();
      for (const Node& child : node.children) steps.push_back(json_of(child));
      object["seq"] = std::move(steps);
      break;
    }
    case Node::Kind::kChoose:
      object = json_of_choice(node);
      break;
    case Node::Kind::kMix: {
      Json mix = Json::object();
      mix["chains"] = node.chains;
      if (node.alpha != 1) mix["alpha"] = json_number(node.alpha);
      mix["chain"] = json_of(node.children[0]);
      object["mix"] = std::move(mix);
      break;
    }
    case Node::Kind::kReference:
      object["ref"] = node.name;
      break;
  }
  if (node.probability != 1) object["p"] = json_number(node.probability);
  return object;
}

Json json_of(const Augmentation& entry) {
  Json object = Json::object();
  if (entry.op != entry.name) object["op"] = entry.op;
  if (entry.range)
    object["range"] = Json::array({json_number(entry.range->first), json_number(entry.range->second)});
  if (!entry.values.empty()) {
    Json values = Json::array();
    for (double value : entry.values) values.push_back(json_number(value));
    object["values"] = std::move(values);
  }
  if (entry.quantize != Quantize::kNone) object["quantize"] = word_of(entry.quantize);
  if (entry.negate) object["negate"] = true;
  if (entry.param != "identity") object["param"] = entry.param;
  if (entry.clamp_low || entry.clamp_high) {
    auto bound = [](const std::optional<double>& value) {
      return value ? json_number(*value) : Json(nullptr);
    };
    object["clamp"] = Json::array({bound(entry.clamp_low), bound(entry.clamp_high)});
  }
  if (!entry.extras.empty()) object["extras"] = json_of(entry.extras);
  return object;
}

/// On one line, with blanks after commas and colons.
std::string flat(const Json& value) {
  if (value.is_string()) return json_quoted(value.get_ref<const std::string&>());
  if (!value.is_structured()) return json_text(value);
  std::string out = value.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += ", ";
    first = false;
    if (value.is_object()) out += json_quoted(key) + ": ";
    out += flat(item);
  }
  return out + (value.is_array() ? "]" : "}");
}

/// What fits on a line stands on one; `open` levels are broken in any case.
void lay_out(const Json& value, size_t indent, size_t used, int open, std::string& out) {
  if (!value.is_structured() || value.empty()) {
    out += flat(value);
    return;
  }
  if (open <= 0) {
    std::string line = flat(value);
    if (used + line.size() + 1 <= kWidth) {
      out += line;
      return;
    }
  }
  out += value.is_array() ? "[" : "{";
  const std::string margin(indent + 2, ' ');
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += margin;
    const std::string lead = value.is_object() ? json_quoted(key) + ": " : "";
    out += lead;
    lay_out(item, indent + 2, indent + 2 + lead.size(), key == "augmentations" ? 1 : 0, out);
  }
  out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

std::string laid_out(const Json& value) {
  std::string out;
  lay_out(value, 0, 0, 1, out);
  return out + "\n";
}

}  // namespace

std::string to_json(const Document& document) {
  Json root = Json::object();
  root["format"] = "augment-policy";
  root["version"] = 1;
  if (!document.name.empty()) root["name"] = document.name;
  root["bins"] = document.bins;
  if (!document.imports.empty()) {
    Json imports = Json::array();
    for (const Import& import : document.imports) imports.push_back(import.path);
    root["imports"] = std::move(imports);
  }
  if (!document.extras.empty()) root["extras"] = json_of(document.extras);
  Json table = Json::object();
  for (const Augmentation& entry : document.augmentations) table[entry.name] = json_of(entry);
  root["augmentations"] = std::move(table);
  if (!document.definitions.empty()) {
    Json definitions = Json::object();
    for (const auto& [name, node] : document.definitions) definitions[name] = json_of(node);
    root["definitions"] = std::move(definitions);
  }
  root["policy"] = json_of(document.policy);
  return laid_out(root);
}

std::string to_json(const Node& node) { return flat(json_of(node)); }
std::string to_json(const Augmentation& augmentation) { return flat(json_of(augmentation)); }
std::string to_json(const JsonValue& value) { return laid_out(json_of(value)); }

}  // namespace galatea::policy
