#include "policy/check_policy.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "policy/operation.h"

namespace galatea::policy {
namespace {

using NodeKind = Node::Kind;
using MagKind = Magnitude::Kind;

/// A pipeline unrolls the whole expression.
constexpr size_t kMostSteps = 10'000;

class Check {
 public:
  Check(const Document& document, const UnreadParts& unread, Fields& fields)
      : document_(document), unread_(unread), fields_(fields) {
    for (const Augmentation& entry : document.augmentations) names_.push_back(entry.name);
    for (const auto& [name, node] : document.definitions) definitions_.push_back(name);
  }

  void run_readable() {
    for (const Augmentation& entry : document_.augmentations) check_readable(entry);
    for (const auto& [name, node] : document_.definitions) check_readable(node);
    check_readable(document_.policy);
    check_extras();
    cycles();
  }

  void run() {
    for (const Augmentation& entry : document_.augmentations) check_augmentation(entry);
    check_data();
    for (const auto& [name, node] : document_.definitions) check_node(node);
    check_node(document_.policy);
    check_extras();
    if (cycles() || fields_.has_errors()) return;
    if (size_of(document_.policy) > kMostSteps)
      fields_.report(Message::kTooLarge, document_.policy.span,
                     {fmt::format("with its definitions filled in it has more than {} steps", kMostSteps)});
    for (const Augmentation& entry : document_.augmentations)
      if (!used_.contains(entry.name))
        fields_.report(
            Message::kNoEffect, entry.span,
            {fmt::format("nothing applies the augmentation `{}`", entry.name), "take it out, or use it"});
    for (size_t i = 0; i < document_.definitions.size(); ++i)
      if (!referenced_.contains(definitions_[i]))
        fields_.report(Message::kNoEffect, document_.definitions[i].second.span,
                       {fmt::format("nothing refers to the definition `{}`", definitions_[i]),
                        "take it out, or use it"});
  }

 private:
  bool has_imports() const { return unread_.imports || !document_.imports.empty(); }

  /// Of a form that is wrong: what could be read.
  void check_readable(const Augmentation& entry) {
    const Operation* operation = entry.op.empty() ? nullptr : check_operation(entry);
    const ParameterFunction* function = entry.param.empty() ? nullptr : check_function(entry);
    if (operation && function) check_parameter(entry, *operation, *function);
    if (!unread_.bins) check_number_of_values(entry);
    check_clamp(entry);
  }

  void check_readable(const Node& node) {
    if (node.kind == NodeKind::kApply && node.name_span.valid() && !unread_.augmentations)
      check_augmentation_name(node.name, node.name_span);
    if (node.kind == NodeKind::kApply) check_bin(node.magnitude, node.span);
    if (node.kind == NodeKind::kChoose) check_bin(node.each.magnitude, node.span);
    if (node.kind == NodeKind::kReference && node.name_span.valid() && !unread_.definitions)
      check_definition_name(node);
    if (node.kind == NodeKind::kChoose) {
      const std::vector<PoolItem> pool = expanded_pool(document_, node);
      const auto is_read = [](const PoolItem& item) { return !item.name.empty() || !item.node.empty(); };
      for (const PoolItem& item : pool)
        if (!item.name.empty() && !unread_.augmentations) check_augmentation_name(item.name, item.span);
      const bool is_whole = !pool.empty() && std::all_of(pool.begin(), pool.end(), is_read);
      if (is_whole) check_weight_names(node, pool);
      if (is_whole && !(node.from_all && unread_.augmentations)) check_weights(node, pool);
    }
    for (const Node& child : node.children) check_readable(child);
    for (const PoolItem& item : node.pool)
      for (const Node& child : item.node) check_readable(child);
  }

  const Operation* check_operation(const Augmentation& entry) {
    const Operation* operation = find_operation(entry.op);
    if (operation == nullptr && !has_imports()) {
      std::string help = did_you_mean(entry.op, operation_names());
      if (help.empty())
        help = "`galatea policy list` has all of them; operations of your own come from `imports`";
      fields_.report(Message::kUnknownName, entry.op_span.valid() ? entry.op_span : entry.span,
                     {"operation", entry.op, help});
    }
    return operation;
  }

  const ParameterFunction* check_function(const Augmentation& entry) {
    const ParameterFunction* function = find_parameter_function(entry.param);
    if (function == nullptr && !has_imports()) {
      std::vector<std::string> known;
      for (const ParameterFunction& each : parameter_functions()) known.emplace_back(each.name);
      std::string help = did_you_mean(entry.param, known);
      fields_.report(Message::kUnknownName, entry.param_span.valid() ? entry.param_span : entry.span,
                     {"parameter function", entry.param, help.empty() ? "there are " + listed(known) : help});
    }
    return function;
  }

  void check_augmentation(const Augmentation& entry) {
    const Operation* operation = check_operation(entry);
    const ParameterFunction* function = check_function(entry);
    if (operation && function) check_parameter(entry, *operation, *function);
    check_number_of_values(entry);
    check_clamp(entry);
    if (entry.range)
      for (const double t : {0.0, 1.0}) check_shift(entry, magnitude_at(entry, t), entry.span);
    for (const double value : entry.values) check_shift(entry, value, entry.span);
    if (entry.op == "solarize_add" && entry.negate)
      fields_.report(
          Message::kMagnitude, entry.span,
          {fmt::format("`{}` only adds: its magnitude has no sign", entry.name), "take `negate` out"});
    if (entry.negate && !entry.has_magnitude())
      fields_.report(Message::kNoEffect, entry.span,
                     {fmt::format("`{}` has no magnitude that `negate` could change the sign of", entry.name),
                      "give a `range`, or take `negate` out"});
  }

  void check_number_of_values(const Augmentation& entry) {
    if (!entry.values.empty() && static_cast<int64_t>(entry.values.size()) != document_.bins)
      fields_.report(Message::kMagnitude, entry.span,
                     {fmt::format("`{}` has {} values, and there are {} bins", entry.name,
                                  entry.values.size(), document_.bins),
                      "give one value for each bin"});
  }

  void check_clamp(const Augmentation& entry) {
    if (entry.clamp_low && entry.clamp_high && *entry.clamp_low > *entry.clamp_high)
      fields_.report(Message::kOutOfRange, entry.span,
                     {"a clamp", "from its least to its greatest",
                      fmt::format("[{}, {}]", *entry.clamp_low, *entry.clamp_high)});
  }

  void check_bin(const Magnitude& magnitude, Span span) {
    const bool by_bin = magnitude.kind == MagKind::kBin || magnitude.kind == MagKind::kUniformBin;
    if (by_bin && !unread_.bins && magnitude.last_bin >= document_.bins)
      fields_.report(
          Message::kOutOfRange, magnitude.span.valid() ? magnitude.span : span,
          {"a bin", fmt::format("from 0 to {}", document_.bins - 1), std::to_string(magnitude.last_bin)});
  }

  /// A sample is a picture or a sound.
  void check_data() {
    const DataKind data = data_of(document_);
    for (const Augmentation& entry : document_.augmentations) {
      const Operation* operation = find_operation(entry.op);
      if (operation == nullptr || operation->data == DataKind::kAny || operation->data == data) continue;
      const char* const words[] = {"", "pictures", "sound"};
      return fields_.report(
          Message::kMixedData, entry.span,
          {entry.op, words[static_cast<size_t>(operation->data)], words[static_cast<size_t>(data)]});
    }
  }

  /// What `solarize_add` adds is a byte.
  void check_shift(const Augmentation& entry, double magnitude, Span span) {
    if (entry.op != "solarize_add" || has_imports()) return;
    if (entry.clamp_low) magnitude = std::max(magnitude, *entry.clamp_low);
    if (entry.clamp_high) magnitude = std::min(magnitude, *entry.clamp_high);
    if (magnitude > -1 && magnitude < 256) return;
    fields_.report(
        Message::kOutOfRange, span,
        {fmt::format("what `{}` adds to a byte", entry.name), "from 0 to 255", number_text(magnitude)});
  }

  void check_parameter(const Augmentation& entry, const Operation& operation,
                       const ParameterFunction& function) {
    if (operation.parameter == ParameterKind::kNothing) {
      if (entry.has_magnitude())
        fields_.report(Message::kMagnitude, entry.span,
                       {fmt::format("`{}` takes no magnitude", entry.op), "take `range` and `values` out"});
      return;
    }
    if (operation.parameter == function.gives) return;
    std::vector<std::string> fitting;
    for (const ParameterFunction& each : parameter_functions())
      if (each.gives == operation.parameter) fitting.emplace_back(each.name);
    fields_.report(
        Message::kMagnitude, entry.span,
        {fmt::format("`{}` does not take what the parameter function `{}` gives", entry.op, entry.param),
         fmt::format(
             "write \"param\": \"{}\"{}", fitting.front(),
             fitting.size() > 1 ? " (or " + listed({fitting.begin() + 1, fitting.end()}) + ")" : "")});
  }

  const Augmentation* check_augmentation_name(const std::string& name, Span span) {
    const Augmentation* entry = document_.find(name);
    if (entry == nullptr) {
      std::string help = did_you_mean(name, names_);
      if (help.empty())
        help = find_operation(name) ? fmt::format("add \"{}\" to `augmentations`", name)
                                    : "the augmentations of this policy are " + listed(names_);
      fields_.report(Message::kUnknownName, span, {"augmentation", name, help});
    }
    return entry;
  }

  void check_definition_name(const Node& node) {
    if (document_.definition(node.name)) return;
    std::string help = did_you_mean(node.name, definitions_);
    if (help.empty())
      help = definitions_.empty() ? "add it to `definitions`" : "the definitions are " + listed(definitions_);
    fields_.report(Message::kUnknownName, node.name_span, {"definition", node.name, help});
  }

  void check_weight_names(const Node& node, const std::vector<PoolItem>& pool) {
    for (const auto& [name, weight] : node.weights.by_name) {
      if (std::any_of(pool.begin(), pool.end(), [&n = name](const PoolItem& item) { return item.name == n; }))
        continue;
      std::vector<std::string> known;
      for (const PoolItem& item : pool)
        if (!item.name.empty()) known.push_back(item.name);
      fields_.report(Message::kUnknownName, node.weights.span, {"choice", name, did_you_mean(name, known)});
    }
  }

  void check_use(const std::string& name, const Magnitude& magnitude, Span span, Span name_span) {
    const Augmentation* entry = check_augmentation_name(name, name_span.valid() ? name_span : span);
    if (entry == nullptr) return;
    used_.insert(name);
    const Operation* operation = find_operation(entry->op);
    const bool wants = operation ? operation->parameter != ParameterKind::kNothing : entry->has_magnitude();
    const Span place = magnitude.span.valid() ? magnitude.span : span;
    check_bin(magnitude, span);
    if (magnitude.kind == MagKind::kNone) {
      if (wants)
        fields_.report(Message::kMagnitude, span,
                       {fmt::format("`{}` needs a magnitude", name),
                        entry->has_magnitude() ? "write a bin, or \"mag\": {\"bin\": …}"
                                               : "write \"mag\": {\"value\": …}, or give it a `range`"});
      return;
    }
    if (!entry->has_magnitude() && magnitude.kind != MagKind::kValue) {
      if (wants)
        fields_.report(Message::kMagnitude, place,
                       {fmt::format("`{}` has neither `range` nor `values` for this magnitude", name),
                        "give it a `range`, or write {\"value\": …}"});
      else if (!in_each_)
        fields_.report(Message::kNoEffect, place,
                       {fmt::format("`{}` takes no magnitude", name), "write null in its place"});
      return;
    }
    if (magnitude.kind == MagKind::kValue) check_shift(*entry, magnitude.value, place);
    const bool by_level = magnitude.kind == MagKind::kLevel || magnitude.kind == MagKind::kUniformLevel;
    if (by_level && !entry->values.empty())
      fields_.report(Message::kMagnitude, place,
                     {fmt::format("`{}` lists its `values`, and nothing lies between them", name),
                      "use bins here, or give it a `range`"});
  }

  void check_node(const Node& node) {
    if (node.probability == 0)
      fields_.report(Message::kNoEffect, node.span, {"a probability of 0: this never runs", "take it out"});
    switch (node.kind) {
      case NodeKind::kApply:
        check_use(node.name, node.magnitude, node.span, node.name_span);
        break;
      case NodeKind::kReference:
        referenced_.insert(node.name);
        check_definition_name(node);
        break;
      case NodeKind::kChoose:
        check_choice(node);
        break;
      case NodeKind::kSequence:
      case NodeKind::kMix:
        break;
    }
    for (const Node& child : node.children) check_node(child);
    for (const PoolItem& item : node.pool)
      for (const Node& child : item.node) check_node(child);
  }

  void check_choice(const Node& node) {
    const std::vector<PoolItem> pool = expanded_pool(document_, node);
    in_each_ = true;
    for (const PoolItem& item : pool)
      if (!item.name.empty()) check_use(item.name, node.each.magnitude, item.span, item.span);
    in_each_ = false;
    check_weight_names(node, pool);
    check_weights(node, pool);
  }

  void check_weights(const Node& node, const std::vector<PoolItem>& pool) {
    const Weights& weights = node.weights;
    if (!weights.by_place.empty() && weights.by_place.size() != pool.size())
      fields_.report(Message::kOutOfRange, weights.span,
                     {"the number of weights", fmt::format("that of what is chosen from, {}", pool.size()),
                      std::to_string(weights.by_place.size())});
    const std::vector<double> parts = normalized_weights(document_, node);
    const auto possible = std::count_if(parts.begin(), parts.end(), [](double part) { return part > 0; });
    if (weights.given() && !pool.empty() && possible == 0)
      fields_.report(Message::kOutOfRange, weights.span, {"the sum of the weights", "more than 0", "0"});
    else if (!node.replace && node.most > possible && !pool.empty())
      fields_.report(Message::kOutOfRange, node.span,
                     {"how many are chosen without replacement",
                      fmt::format("at most {}, which is all there is", possible), std::to_string(node.most)});
  }

  void check_extras() {
    if (has_imports()) return;  // operations of the user's take what they take
    auto accepts = [](const Augmentation& entry, const std::string& extra) {
      const Operation* operation = find_operation(entry.op);
      if (operation == nullptr) return true;
      return std::find(operation->extras.begin(), operation->extras.end(), extra) != operation->extras.end();
    };
    auto unused = [&](const Extra& extra, const std::string& by) {
      fields_.report(
          Message::kUnknownName, extra.span,
          {"argument", extra.name, fmt::format("{} takes an argument of this name; take it out", by)});
    };
    auto check_value = [&](const Extra& extra) {
      if (const std::string wanted = wanted_value(extra); !wanted.empty())
        fields_.report(Message::kWrongType, extra.span,
                       {"`" + extra.name + "`", wanted, describe(extra.value)});
      else if (extra.name == "interp_type")
        check_interpolations(extra);
    };
    for (const Extra& extra : document_.extras) check_value(extra);
    for (const Augmentation& entry : document_.augmentations)
      for (const Extra& extra : entry.extras) check_value(extra);
    for (const Extra& extra : document_.extras)
      if (std::none_of(document_.augmentations.begin(), document_.augmentations.end(),
                       [&](const Augmentation& entry) { return accepts(entry, extra.name); }))
        unused(extra, "no operation of this policy");
    for (const Augmentation& entry : document_.augmentations)
      for (const Extra& extra : entry.extras)
        if (!accepts(entry, extra.name)) unused(extra, fmt::format("nothing in `{}`", entry.op));
  }

  /// One word, or several after "random:".
  void check_interpolations(const Extra& extra) {
    constexpr std::string_view kRandom = "random:";
    std::string_view words = extra.value.text;
    if (words.starts_with(kRandom)) words.remove_prefix(kRandom.size());
    for (bool last = extra.value.kind != JsonValue::Kind::kString; !last;) {
      const size_t comma = words.find(',');
      last = comma == std::string_view::npos;
      const std::string word(words.substr(0, comma));
      if (!last) words.remove_prefix(comma + 1);
      const std::vector<std::string>& known = interpolation_words();
      if (std::ranges::find(known, word) != known.end()) continue;
      const std::string nearest = did_you_mean(word, known);
      fields_.report(
          Message::kUnknownName, extra.span,
          {"interpolation", word,
           nearest.empty() ? "there are " + listed(known) + ", and several after `random:`" : nearest});
    }
  }

  /// Definitions that contain themselves are reported, each circle once.
  bool cycles() {
    bool found = false;
    std::map<std::string, int> state;  // 1: on the way, 2: done
    std::vector<std::string> path;
    auto visit = [&](auto&& self, const std::string& name, const Node& node) -> void {
      if (node.kind == NodeKind::kReference) {
        const Node* target = document_.definition(node.name);
        if (target == nullptr) return;
        if (state[node.name] == 1) {
          found = true;
          const auto begin = std::find(path.begin(), path.end(), node.name);
          std::string circle;
          for (auto at = begin; at != path.end(); ++at) circle += *at + " → ";
          fields_.report(Message::kCycle, node.span, {node.name, circle + node.name});
        } else if (state[node.name] == 0) {
          state[node.name] = 1;
          path.push_back(node.name);
          self(self, node.name, *target);
          path.pop_back();
          state[node.name] = 2;
        }
      }
      for (const Node& child : node.children) self(self, name, child);
      for (const PoolItem& item : node.pool)
        for (const Node& child : item.node) self(self, name, child);
    };
    for (const auto& [name, node] : document_.definitions) {
      Node start;
      start.kind = NodeKind::kReference;
      start.name = name;
      start.span = node.span;
      if (state[name] == 0) visit(visit, name, start);
    }
    return found;
  }

  /// Steps when all definitions are filled in, up to a little over the bound.
  size_t size_of(const Node& node) {
    size_t size = 1;
    if (node.kind == NodeKind::kReference) {
      const Node* target = document_.definition(node.name);
      if (target == nullptr) return 1;
      const auto known = sizes_.find(node.name);
      return known != sizes_.end() ? known->second : sizes_[node.name] = size_of(*target);
    }
    for (const Node& child : node.children) size += size_of(child);
    for (const PoolItem& item : node.pool) size += item.node.empty() ? 1 : size_of(item.node[0]);
    if (node.from_all) size += document_.augmentations.size();
    if (node.kind == NodeKind::kChoose) size *= static_cast<size_t>(std::max<int64_t>(node.most, 1));
    if (node.kind == NodeKind::kMix) size *= static_cast<size_t>(node.chains);
    return std::min(size, kMostSteps + 1);
  }

  const Document& document_;
  const UnreadParts unread_;
  Fields& fields_;
  std::vector<std::string> names_, definitions_;
  std::set<std::string> used_, referenced_;
  std::map<std::string, size_t> sizes_;
  bool in_each_ = false;
};

}  // namespace

void check_policy(const Document& document, Fields& fields) { Check(document, {}, fields).run(); }

void check_readable(const Document& document, const UnreadParts& unread, Fields& fields) {
  Check(document, unread, fields).run_readable();
}

}  // namespace galatea::policy
