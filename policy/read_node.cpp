#include "policy/read_node.h"

#include <algorithm>

#include <fmt/format.h>

namespace galatea::policy {
namespace {

using JsonKind = JsonValue::Kind;

// Stages are unrolled when a pipeline is compiled.
constexpr int64_t kMostChains = 16;

template <typename T>
void set(T& target, const std::optional<T>& value) {
  if (value) target = *value;
}

/// Without a place where there is no name.
void read_name(const JsonValue& value, Fields& fields, const std::string& what, Node& node) {
  const auto name = fields.string(value, what);
  if (!name) return;
  node.name = *name;
  node.name_span = value.span;
}

void read_probability(const JsonValue& object, Fields& fields, double& probability) {
  if (const JsonValue* p = object.find("p")) set(probability, fields.number(*p, "a probability", 0, 1));
}

std::optional<std::pair<int64_t, int64_t>> integer_pair(const JsonValue& value, Fields& fields,
                                                        const std::string& what, int64_t most) {
  if (value.kind != JsonKind::kArray || value.items.size() != 2) {
    fields.report(Message::kWrongType, value.span, {what, "a list of two whole numbers", describe(value)});
    return std::nullopt;
  }
  const auto low = fields.integer(value.items[0], what, 0, most),
             high = fields.integer(value.items[1], what, 0, most);
  if (!low || !high) return std::nullopt;
  if (*low > *high) {
    fields.report(Message::kOutOfRange, value.span,
                  {what, "from its least to its greatest", fmt::format("[{}, {}]", *low, *high)});
    return std::nullopt;
  }
  return std::pair(*low, *high);
}

/// What levels have, fixed or drawn.
void read_scale(const JsonValue& object, Fields& fields, Magnitude& magnitude) {
  if (const JsonValue* max = object.find("max"))
    set(magnitude.max, fields.number(*max, "the greatest level", 0, kAnything, true));
  if (const JsonValue* clip = object.find("clip")) {
    magnitude.clip = fields.pair(*clip, "the clip of a level");
    if (magnitude.clip && magnitude.clip->first > magnitude.clip->second)
      fields.report(Message::kOutOfRange, clip->span,
                    {"the clip of a level", "from its least to its greatest", "the reverse"});
  }
  if (const JsonValue* deviation = object.find("std"))
    set(magnitude.deviation, fields.number(*deviation, "a standard deviation", 0));
}

Magnitude read_magnitude(const JsonValue& value, Fields& fields) {
  Magnitude magnitude;
  magnitude.span = value.span;
  const std::string what = "a magnitude";
  if (value.kind == JsonKind::kNull) return magnitude;
  if (value.kind != JsonKind::kObject) {
    fields.report(Message::kWrongType, value.span,
                  {what, "null, or an object such as {\"bin\": 3}", describe(value)});
    return magnitude;
  }
  if (const JsonValue* bin = value.find("bin")) {
    fields.object(value, what, {"bin"});
    magnitude.kind = Magnitude::Kind::kBin;
    set(magnitude.bin, fields.integer(*bin, "a bin", 0));
    magnitude.last_bin = magnitude.bin;
  } else if (const JsonValue* bins = value.find("uniform_bin")) {
    fields.object(value, what, {"uniform_bin"});
    magnitude.kind = Magnitude::Kind::kUniformBin;
    if (const auto read = integer_pair(*bins, fields, "a range of bins", kManyIntegers))
      std::tie(magnitude.bin, magnitude.last_bin) = *read;
  } else if (const JsonValue* level = value.find("level")) {
    fields.object(value, what, {"level", "max", "std", "clip"});
    magnitude.kind = Magnitude::Kind::kLevel;
    set(magnitude.level, fields.number(*level, "a level", 0));
    read_scale(value, fields, magnitude);
  } else if (const JsonValue* levels = value.find("uniform_level")) {
    fields.object(value, what, {"uniform_level", "max", "std", "clip"});
    magnitude.kind = Magnitude::Kind::kUniformLevel;
    if (const auto read = fields.pair(*levels, "a range of levels")) {
      std::tie(magnitude.level, magnitude.last_level) = *read;
      if (magnitude.level < 0 || magnitude.level > magnitude.last_level)
        fields.report(Message::kOutOfRange, levels->span,
                      {"a range of levels", "from its least, at least 0, to its greatest",
                       fmt::format("[{}, {}]", magnitude.level, magnitude.last_level)});
    }
    read_scale(value, fields, magnitude);
  } else if (const JsonValue* direct = value.find("value")) {
    fields.object(value, what, {"value"});
    magnitude.kind = Magnitude::Kind::kValue;
    set(magnitude.value, fields.number(*direct, "a magnitude"));
  } else if (fields.object(value, what, {"bin", "uniform_bin", "level", "uniform_level", "value"}) &&
             value.members.empty()) {
    fields.report(Message::kMissingKey, value.span,
                  {what, "one of the keys `bin`, `uniform_bin`, `level`, `uniform_level` and `value`", ""});
  }
  return magnitude;
}

/// ["rotate", 0.6, 9]
Node read_triple(const JsonValue& value, Fields& fields) {
  Node node;
  node.kind = Node::Kind::kApply;
  node.span = value.span;
  if (value.items.size() != 3) {
    fields.report(Message::kWrongType, value.span,
                  {"a step", "[augmentation, probability, bin or null]",
                   fmt::format("a list of {}", value.items.size())});
    node.kind = Node::Kind::kSequence;
    return node;
  }
  read_name(value.items[0], fields, "the name of an augmentation", node);
  set(node.probability, fields.number(value.items[1], "a probability", 0, 1));
  node.magnitude.span = value.items[2].span;
  if (value.items[2].kind == JsonKind::kNull) return node;
  if (const auto bin = fields.integer(value.items[2], "a bin", 0)) {
    node.magnitude.kind = Magnitude::Kind::kBin;
    node.magnitude.bin = node.magnitude.last_bin = *bin;
  }
  return node;
}

void read_weights(const JsonValue& value, Fields& fields, Weights& weights) {
  weights.span = value.span;
  if (value.kind == JsonKind::kArray) {
    for (const JsonValue& item : value.items)
      weights.by_place.push_back(fields.number(item, "a weight", 0).value_or(1));
  } else if (value.kind == JsonKind::kObject) {
    for (const JsonMember& member : value.members)
      weights.by_name.emplace_back(member.key, fields.number(member.value, "a weight", 0).value_or(1));
  } else {
    fields.report(
        Message::kWrongType, value.span,
        {"a choice's weights", "a list of numbers, or an object from names to numbers", describe(value)});
    return;
  }
  if (!weights.given())
    fields.report(Message::kEmptyList, value.span, {"this list of weights", "leave `weights` out"});
}

void read_pool(const JsonValue& value, Fields& fields, Node& node) {
  if (value.kind == JsonKind::kString && value.text == "*") {
    node.from_all = true;
    return;
  }
  if (value.kind != JsonKind::kArray) {
    fields.report(Message::kWrongType, value.span,
                  {"what a choice is made from", "\"*\", or a list of names and nodes", describe(value)});
    return;
  }
  if (value.items.empty())
    fields.report(Message::kEmptyList, value.span,
                  {"what a choice is made from", "list what to choose from; \"*\" is every augmentation"});
  for (const JsonValue& item : value.items) {
    PoolItem made{"", {}, item.span};
    if (item.kind == JsonKind::kString)
      made.name = fields.name(item.text, item.span, "the name of an augmentation").value_or("");
    else
      made.node.push_back(read_node(item, fields));
    node.pool.push_back(std::move(made));
  }
}

void read_choice(const JsonValue& value, const JsonValue& count, Fields& fields, Node& node) {
  node.kind = Node::Kind::kChoose;
  fields.object(value, "a choice", {"choose", "from", "each", "weights", "replace", "p"});
  if (count.kind == JsonKind::kArray) {
    if (const auto read = integer_pair(count, fields, "how many are chosen", kMostDraws))
      std::tie(node.least, node.most) = *read;
  } else if (const auto read = fields.integer(count, "how many are chosen", 0, kMostDraws)) {
    node.least = node.most = *read;
  }
  fields.need(value, "a choice", {"from"}, "\"from\": \"*\" is every augmentation");
  if (const JsonValue* from = value.find("from")) read_pool(*from, fields, node);
  if (const JsonValue* each = value.find("each");
      each && fields.object(*each, "what `each` says", {"p", "mag"})) {
    read_probability(*each, fields, node.each.probability);
    if (const JsonValue* mag = each->find("mag")) node.each.magnitude = read_magnitude(*mag, fields);
  }
  if (const JsonValue* weights = value.find("weights")) read_weights(*weights, fields, node.weights);
  if (const JsonValue* replace = value.find("replace"))
    set(node.replace, fields.boolean(*replace, "`replace`"));
}

void read_mix(const JsonValue& mix, Fields& fields, Node& node) {
  node.kind = Node::Kind::kMix;
  if (!fields.object(mix, "a mix", {"chains", "chain", "alpha"})) return;
  fields.need(mix, "a mix", {"chains", "chain"});
  if (const JsonValue* chains = mix.find("chains"))
    set(node.chains, fields.integer(*chains, "the number of chains", 1, kMostChains));
  if (const JsonValue* alpha = mix.find("alpha"))
    set(node.alpha, fields.number(*alpha, "alpha", 0, kAnything, true));
  if (const JsonValue* chain = mix.find("chain")) node.children.push_back(read_node(*chain, fields));
}

void read_sequence(const JsonValue& steps, Fields& fields, Node& node) {
  node.kind = Node::Kind::kSequence;
  if (!fields.list(steps, "a sequence", "nodes")) return;
  for (const JsonValue& step : steps.items) node.children.push_back(read_node(step, fields));
}

}  // namespace

std::vector<Extra> read_extras(const JsonValue& value, Fields& fields) {
  std::vector<Extra> extras;
  if (value.kind != JsonKind::kObject) {
    fields.report(Message::kWrongType, value.span,
                  {"`extras`", "an object of named arguments", describe(value)});
    return extras;
  }
  for (const JsonMember& member : value.members) {
    bool fine = member.value.kind != JsonKind::kObject;
    for (const JsonValue& item : member.value.items) fine = fine && item.is_number();
    if (!fine)
      fields.report(Message::kWrongType, member.value.span,
                    {"an argument", "a number, a string, true, false, null or a list of numbers",
                     describe(member.value)});
    else
      extras.push_back({member.key, member.value, member.key_span});
  }
  return extras;
}

namespace {

/// The keys of a node of which nobody knows what it is; where the key that says so is misspelt, those that
/// belong to it as well.
std::vector<std::string> keys_of_unknown_node(const JsonValue& value) {
  std::vector<std::string> keys = {"apply", "seq", "choose", "mix", "ref", "p"};
  const std::vector<std::string> kinds(keys.begin(), keys.end() - 1);
  for (const JsonMember& member : value.members) {
    const std::string meant = did_you_mean(member.key, kinds);
    if (meant.contains("`choose`"))
      keys.insert(keys.end(), {"from", "each", "weights", "replace"});
    else if (meant.contains("`apply`"))
      keys.insert(keys.end(), {"mag", "extras"});
  }
  return keys;
}

}  // namespace

Node read_node(const JsonValue& value, Fields& fields) {
  if (value.kind == JsonKind::kArray) return read_triple(value, fields);
  Node node;
  node.span = value.span;
  if (value.kind != JsonKind::kObject) {
    fields.report(Message::kWrongType, value.span,
                  {"a node", "an object, or [augmentation, probability, bin]", describe(value)});
    return node;
  }
  read_probability(value, fields, node.probability);
  if (const JsonValue* apply = value.find("apply")) {
    fields.object(value, "a step", {"apply", "p", "mag", "extras"});
    node.kind = Node::Kind::kApply;
    read_name(*apply, fields, "the name of an augmentation", node);
    if (const JsonValue* mag = value.find("mag")) node.magnitude = read_magnitude(*mag, fields);
    if (const JsonValue* extras = value.find("extras")) node.extras = read_extras(*extras, fields);
  } else if (const JsonValue* steps = value.find("seq")) {
    fields.object(value, "a sequence", {"seq", "p"});
    read_sequence(*steps, fields, node);
  } else if (const JsonValue* count = value.find("choose")) {
    read_choice(value, *count, fields, node);
  } else if (const JsonValue* mix = value.find("mix")) {
    fields.object(value, "a mix", {"mix", "p"});
    read_mix(*mix, fields, node);
  } else if (const JsonValue* reference = value.find("ref")) {
    fields.object(value, "a reference", {"ref", "p"});
    node.kind = Node::Kind::kReference;
    read_name(*reference, fields, "the name of a definition", node);
  } else if (fields.object(value, "a node", keys_of_unknown_node(value)) &&
             std::ranges::all_of(value.members, [](const JsonMember& member) { return member.key == "p"; })) {
    fields.report(Message::kMissingKey, value.span,
                  {"a node", "one of the keys `apply`, `seq`, `choose`, `mix` and `ref`", ""});
  }
  return node;
}

}  // namespace galatea::policy
