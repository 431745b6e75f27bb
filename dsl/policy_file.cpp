// `galatea.internal.read_policy(x)`: a policy document as values of the language. In: the path of a JSON
// file, beside the user's file, or a dict that says the same. Out: structs and lists, references to
// definitions filled in; what they mean is written in stdlib_ops/auto_aug/policy.dali-dsl.
#include <cmath>
#include <filesystem>
#include <optional>

#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "policy/messages.h"
#include "policy/operation.h"
#include "policy/reader.h"
#include "policy/writer.h"

namespace galatea::dsl {
namespace fs = std::filesystem;
namespace {

using policy::Node;

constexpr const char* kLoadHelp =
    "write `policy.load(\"any.json\")` in the pipeline, once, for all of its samples";

class ToValues {
 public:
  ToValues(Evaluator& evaluator, const policy::Document& document, Span span)
      : ev_(evaluator), document_(document), span_(span) {}

  Value document(std::vector<Value> functions, std::vector<Value> parameters) {
    std::vector<Value> rows;
    for (size_t i = 0; i < document_.augmentations.size(); ++i)
      rows.push_back(row(document_.augmentations[i], functions[i], parameters[i]));
    return ev_.make_struct({{"name", text(document_.name)},
                            {"bins", Value::of(document_.bins)},
                            {"data", text(data())},
                            {"extras", extras(document_.extras)},
                            {"rows", list(std::move(rows))},
                            {"policy", node(document_.policy)}});
  }

  /// `function`, `parameter`: from imports; none: of the library, by name.
  Value row(const policy::Augmentation& entry, const Value& function, const Value& parameter) {
    Value range = Value::none(), values = Value::none();
    if (entry.range) range = list({Value::of(entry.range->first), Value::of(entry.range->second)});
    if (!entry.values.empty() || entry.quantize != policy::Quantize::kNone) {
      std::vector<Value> each;
      for (int64_t bin = 0; bin < document_.bins; ++bin)
        each.push_back(Value::of(policy::magnitude_of_bin(entry, bin, document_.bins)));
      values = list(std::move(each));
    }
    auto bound = [](const std::optional<double>& value) { return value ? Value::of(*value) : Value::none(); };
    return ev_.make_struct({{"name", text(entry.name)},
                            {"op", function.is(ValueKind::kNone) ? text(entry.op) : function},
                            {"param", parameter.is(ValueKind::kNone) ? text(entry.param) : parameter},
                            {"has_magnitude", Value::of(entry.has_magnitude())},
                            {"range", range},
                            {"values", values},
                            {"quantize", text(policy::word_of(entry.quantize))},
                            {"negate", Value::of(entry.negate)},
                            {"low", bound(entry.clamp_low)},
                            {"high", bound(entry.clamp_high)},
                            {"extras", extras(entry.extras)}});
  }

  Value node(const Node& from) {
    switch (from.kind) {
      case Node::Kind::kApply:
        return apply(from.name, from.probability, from.magnitude, from.extras);
      case Node::Kind::kReference:
        return sequence({node(*document_.definition(from.name))}, from.probability);
      case Node::Kind::kSequence: {
        std::vector<Value> steps;
        for (const Node& child : from.children) steps.push_back(node(child));
        return sequence(std::move(steps), from.probability);
      }
      case Node::Kind::kMix:
        return ev_.make_struct({{"kind", text("mix")},
                                {"p", Value::of(from.probability)},
                                {"chains", Value::of(from.chains)},
                                {"alpha", Value::of(from.alpha)},
                                {"chain", node(from.children[0])}});
      case Node::Kind::kChoose:
        return choice(from);
    }
    return Value::poison();
  }

 private:
  const char* data() const {
    constexpr const char* kKinds[] = {"any", "pictures", "sound"};
    return kKinds[static_cast<size_t>(policy::data_of(document_))];
  }

  Value text(std::string_view words) { return ev_.make_string(std::string(words)); }
  Value list(std::vector<Value> elements) { return ev_.make_list(std::move(elements), span_); }

  Value sequence(std::vector<Value> steps, double probability) {
    return ev_.make_struct(
        {{"kind", text("seq")}, {"p", Value::of(probability)}, {"steps", list(std::move(steps))}});
  }

  Value apply(const std::string& name, double probability, const policy::Magnitude& magnitude,
              const std::vector<policy::Extra>& own) {
    const policy::Augmentation* entry = document_.find(name);
    return ev_.make_struct(
        {{"kind", text("apply")},
         {"p", Value::of(probability)},
         {"index", Value::of(static_cast<int64_t>(entry - document_.augmentations.data()))},
         {"mag", this->magnitude(magnitude)},
         {"extras", extras(own)}});
  }

  Value choice(const Node& from) {
    const std::vector<policy::PoolItem> pool = policy::expanded_pool(document_, from);
    std::vector<Value> items, weights;
    bool all_names = from.each.probability == 1;
    for (const policy::PoolItem& item : pool) {
      all_names = all_names && !item.name.empty();
      items.push_back(item.name.empty() ? node(item.node[0])
                                        : apply(item.name, from.each.probability, from.each.magnitude, {}));
    }
    for (double weight : policy::normalized_weights(document_, from)) weights.push_back(Value::of(weight));
    return ev_.make_struct({{"kind", text("choose")},
                            {"p", Value::of(from.probability)},
                            {"least", Value::of(from.least)},
                            {"most", Value::of(from.most)},
                            {"items", list(std::move(items))},
                            {"all_names", Value::of(all_names)},
                            {"mag", magnitude(from.each.magnitude)},
                            {"weights", from.weights.given() ? list(std::move(weights)) : Value::none()},
                            {"replace", Value::of(from.replace)}});
  }

  Value magnitude(const policy::Magnitude& from) {
    constexpr const char* kKinds[] = {"none", "bin", "uniform_bin", "level", "uniform_level", "value"};
    return ev_.make_struct(
        {{"kind", text(kKinds[static_cast<size_t>(from.kind)])},
         {"bin", Value::of(from.bin)},
         {"last_bin", Value::of(from.last_bin)},
         {"level", Value::of(from.level)},
         {"last_level", Value::of(from.last_level)},
         {"max", Value::of(from.max)},
         {"std", Value::of(from.deviation)},
         {"clip",
          from.clip ? list({Value::of(from.clip->first), Value::of(from.clip->second)}) : Value::none()},
         {"value", Value::of(from.value)}});
  }

  Value extras(const std::vector<policy::Extra>& from) {
    Value dict = ev_.make_dict(span_);
    for (const policy::Extra& extra : from) {
      const Value key = text(extra.name);
      dict.dict().set(ev_.key_of(key), key, json(extra.value));
    }
    return dict;
  }

  Value json(const policy::JsonValue& from) {
    using Kind = policy::JsonValue::Kind;
    switch (from.kind) {
      case Kind::kBool:
        return Value::of(from.boolean);
      case Kind::kInteger:
        return Value::of(from.integer);
      case Kind::kNumber:
        return Value::of(from.number);
      case Kind::kString:
        return text(from.text);
      case Kind::kArray: {
        std::vector<Value> items;
        for (const policy::JsonValue& item : from.items) items.push_back(json(item));
        return list(std::move(items));
      }
      case Kind::kNull:
      case Kind::kObject:
        break;
    }
    return Value::none();
  }

  Evaluator& ev_;
  const policy::Document& document_;
  Span span_;
};

/// The value as JSON; none: it has parts that JSON does not have, or does not end.
std::optional<policy::JsonValue> json_of(const Value& from, size_t depth = 0) {
  using Kind = policy::JsonValue::Kind;
  policy::JsonValue made;
  if (depth > policy::JsonLimits{}.depth) return std::nullopt;
  switch (from.kind) {
    case ValueKind::kNone:
      return made;
    case ValueKind::kBool:
      made.kind = Kind::kBool;
      made.boolean = from.boolean;
      return made;
    case ValueKind::kInt:
      made.kind = Kind::kInteger;
      made.integer = from.integer;
      made.number = static_cast<double>(from.integer);
      return made;
    case ValueKind::kFloat:
      made.kind = Kind::kNumber;
      made.number = from.number;
      return std::isfinite(from.number) ? std::optional(made) : std::nullopt;
    case ValueKind::kString:
      made.kind = Kind::kString;
      made.text = from.text();
      return made;
    case ValueKind::kList:
    case ValueKind::kTuple:
      made.kind = Kind::kArray;
      for (const Value& element : from.elements()) {
        auto item = json_of(element, depth + 1);
        if (!item) return std::nullopt;
        made.items.push_back(std::move(*item));
      }
      return made;
    case ValueKind::kDict:
      made.kind = Kind::kObject;
      for (const auto& [key, value] : from.dict().entries) {
        auto item = json_of(value, depth + 1);
        if (!item || !key.is(ValueKind::kString)) return std::nullopt;
        made.members.push_back({key.text(), {}, std::move(*item)});
      }
      return made;
    default:
      return std::nullopt;
  }
}

/// What a file begins with needs not be said in a dict.
policy::JsonValue with_format(policy::JsonValue document) {
  if (document.find("format") != nullptr || document.find("version") != nullptr) return document;
  policy::JsonValue format, version;
  format.kind = policy::JsonValue::Kind::kString;
  format.text = "augment-policy";
  version.kind = policy::JsonValue::Kind::kInteger;
  version.integer = 1;
  version.number = 1;
  document.members.insert(document.members.begin(), {{"format", {}, format}, {"version", {}, version}});
  return document;
}

}  // namespace

std::unique_ptr<ir::Graph> Evaluator::stage_with(PipelineObject& pipeline, const PolicyText& policy,
                                                 bool probing) {
  const size_t work = work_;
  standing_policy_ = &policy;
  probing_policy_ = probing;
  policy_loaded_at_ = {};
  const size_t errors = sink_.num_errors();
  std::unique_ptr<ir::Graph> graph = stage(pipeline);
  standing_policy_ = nullptr;
  probing_policy_ = false;
  // The bound is for one policy.
  work_ = work;
  if (graph && !policy_loaded_at_.valid() && sink_.num_errors() == errors)
    fail(Message::kPoliciesNeedOneLoad, pipeline.span, {"`" + pipeline.name + "` loads none", kLoadHelp});
  return graph;
}

Value Evaluator::policy_result(const Value& image, Span span) {
  if (!probing_policy_ || !is_data(image)) return image;
  // Something that differs from what comes in, of its type; it is never computed.
  constexpr int kAxesOfImages = 3;
  if (image.is_node() && type_of(image).ndim < kAxesOfImages)
    return node_operator("preemphasis_filter", {image}, span, {});
  return node_operator("flip", {image}, span, {{"horizontal", ir::Attr(int64_t{1}), span}});
}

/// Whether the host's policy may stand for what this call reads; reports it if not.
bool Evaluator::may_stand_here(Span load) {
  if (!graph_) {
    fail(Message::kPoliciesNeedOneLoad, load, {"this one stands outside of the pipeline", kLoadHelp});
    return false;
  }
  if (regions_.conditional(region_)) {
    Diagnostic diagnostic =
        diagnose(Message::kPoliciesNeedOneLoad, load,
                 {"this one is reached by some samples only", "load it before the branch, and use it there"});
    add_label(diagnostic, regions_.cause(region_), "the branch");
    report(std::move(diagnostic));
    return false;
  }
  if (!policy_loaded_at_.valid()) return true;
  const bool again = policy_loaded_at_ == load;
  Diagnostic diagnostic = diagnose(
      Message::kPoliciesNeedOneLoad, load,
      {again ? "this one is called several times" : "this one is the second", "load one policy, once"});
  if (!again) add_label(diagnostic, policy_loaded_at_, "the first");
  report(std::move(diagnostic));
  return false;
}

Value Evaluator::read_policy(const Value& from, Span span) {
  const SourceFile* asking = sources_.file(span.file);
  const std::string asking_name = asking ? asking->name() : main_folder_ + "/pipeline";
  std::string file = asking_name;
  policy::ReadResult read;
  if (from.is(ValueKind::kDict)) {
    std::optional<policy::JsonValue> tree = json_of(from);
    if (!tree)
      return fail(Message::kAugmentValue, span,
                  {"document", "dicts, lists, strings, numbers, bools and None, as in the JSON file",
                   "made of something else", ""});
    // As text, so that a mistake has a place.
    const std::string text = policy::to_json(with_format(std::move(*tree)));
    read = policy::read_policy(sources_.add(asking_name + " (policy)", text), sources_);
  } else if (!options_.policies.empty()) {
    if (!may_stand_here(span)) return Value::poison();
    policy_loaded_at_ = span;
    file = standing_policy_->file;
    read = standing_policy_->text ? policy::read_policy(sources_.add(file, *standing_policy_->text), sources_)
                                  : policy::read_policy_file(file, sources_);
  } else {
    file = (fs::path(asking_name).parent_path() / from.text()).lexically_normal().string();
    if (!inside_root(file)) return fail(Message::kOutsideRoot, span, {file, root_});
    const auto unsaved = options_.texts.find(file);
    read = policy::read_policy_file(file, sources_,
                                    unsaved == options_.texts.end() ? nullptr : &unsaved->second);
  }
  for (Diagnostic& diagnostic : read.diagnostics) {
    if (diagnostic.span.valid())
      diagnostic.labels.push_back({span, "read here"});
    else
      diagnostic.span = span;
    report(std::move(diagnostic));
  }
  if (!read.document) return Value::poison();
  const policy::Document& document = *read.document;
  std::vector<ModuleObject*> modules;
  for (const policy::Import& import : document.imports) {
    const std::string imported = (fs::path(file).parent_path() / import.path).lexically_normal().string();
    // The host that names a document means what lies beside it, too.
    const std::string beside = options_.policies.empty() ? root_ : fs::path(file).parent_path().string();
    if (!inside_root(imported) && !inside(imported, beside.empty() ? "." : beside))
      return fail(Message::kOutsideRoot, import.span, {imported, root_});
    ModuleObject* module = load_file(imported, import.span, std::nullopt);
    if (!module || module->broken) return Value::poison();
    modules.push_back(module);
  }
  // A name that an import defines goes before the library's; none: the library's.
  auto find = [&](const std::string& name, bool known, Span place, const char* what) {
    for (ModuleObject* module : modules) {
      const auto found = module->frame->env.find(name);
      if (found != module->frame->env.end()) return found->second.value;
    }
    if (known) return Value::none();
    std::vector<std::string> names;
    for (ModuleObject* module : modules)
      for (const auto& [defined, binding] : module->frame->env) names.push_back(defined);
    std::sort(names.begin(), names.end());
    return report(policy::diagnose(policy::Message::kUnknownName, place,
                                   {what, name, policy::did_you_mean(name, names)}));
  };
  std::vector<Value> functions, parameters;
  bool all_found = true;
  for (const policy::Augmentation& entry : document.augmentations) {
    functions.push_back(find(entry.op, policy::find_operation(entry.op) != nullptr, entry.span, "operation"));
    parameters.push_back(find(entry.param, policy::find_parameter_function(entry.param) != nullptr,
                              entry.span, "parameter function"));
    all_found &= !functions.back().is_poison() && !parameters.back().is_poison();
  }
  if (!all_found) return Value::poison();
  return ToValues(*this, document, span).document(std::move(functions), std::move(parameters));
}

}  // namespace galatea::dsl
