// Calls of operators: `fn.resize(image, size=[224, 224])`. In: an operator and evaluated arguments. Out: a
// node, or a tuple of its outputs.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/array.h"
#include "dsl/dali_names.h"
#include "dsl/evaluator.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

std::string kind_words(const op::ArgSpec& spec) {
  switch (spec.kind) {
    case op::ArgKind::kBool:
      return "bool";
    case op::ArgKind::kInt:
      return "int";
    case op::ArgKind::kFloat:
      return "float";
    case op::ArgKind::kString:
      return "str";
    case op::ArgKind::kDType:
      return "dtype";
    case op::ArgKind::kInterp:
      return "interpolation";
    case op::ArgKind::kImageType:
      return "image type";
    case op::ArgKind::kLayout:
      return "layout";
    case op::ArgKind::kIntList:
      return "int list";
    case op::ArgKind::kFloatList:
      return "float list";
    case op::ArgKind::kStringList:
      return "str list";
    case op::ArgKind::kAny:
      return "value";
  }
  return "value";
}

// "fn.flip(image, *, horizontal: int, …)": the first arguments, and how many more there are.
std::string operator_signature(const op::Operator& op, const std::string& path) {
  constexpr size_t kShown = 6;
  size_t shown = 0, hidden = 0;
  std::string out = "fn." + path + "(";
  bool first = true;
  for (const op::InputSpec& input : op.inputs) {
    out += (first ? "" : ", ") + input.name + (input.optional ? "=None" : "");
    first = false;
  }
  if (!op.args.empty()) out += first ? "*" : ", *";
  for (const op::ArgSpec& arg : op.args) {
    if (!arg.refused.empty() || arg.no_effect) continue;
    if (!arg.required && shown >= kShown) {
      ++hidden;
      continue;
    }
    ++shown;
    out += ", " + arg.name + ": " + kind_words(arg) + (arg.required ? "" : " = …");
  }
  if (hidden > 0) out += fmt::format(", … and {} more", hidden);
  return out + ")";
}

std::string source_text(const SourceMap& sources, Span span) {
  constexpr size_t kLongest = 48;
  const SourceFile* file = sources.file(span.file);
  if (file == nullptr || span.end <= span.begin || span.end - span.begin > kLongest) return {};
  std::string text = file->text().substr(span.begin, span.end - span.begin);
  return text.find_first_of("\n#") == std::string::npos ? text : "";
}

// What should stand for "float32", float or "linear" where a type or a filter is wanted; "" if that is no
// such name.
std::string written_as_type(const Value& value) {
  std::string name = value.is(ValueKind::kString) ? value.text() : "";
  if (value.is(ValueKind::kBuiltin) && value.as<BuiltinObject>().is_type)
    name = value.as<BuiltinObject>().name;
  if (name.empty()) return {};
  if (name == "float") return "types.FLOAT";
  if (const Suggestion* known = find_suggestion(Place::kType, "", name)) return std::string(known->write);
  for (int i = 0; i < kNumDTypes; ++i) {
    std::string_view known = types_name(static_cast<DType>(i));
    if (snake_case(name) == snake_case(known)) return "types." + std::string(known);
  }
  return {};
}

// The edit for a value given by position: its argument's name.
std::string by_name_help(const op::Operator& op, const Value& value, const std::string& text) {
  if (const Suggestion* known = find_suggestion(Place::kArgument, op.name, "*")) {
    const std::string_view name = known->write.substr(0, known->write.find('='));
    const op::ArgSpec* spec = op.find_arg(name);
    const bool fits =
        spec != nullptr && spec->kind == op::ArgKind::kFloat && value.is_number() && !text.empty();
    return fits ? fmt::format("write `{}={}`", name, text) : help_of(*known, "");
  }
  const op::ArgSpec* first = nullptr;
  for (const op::ArgSpec& arg : op.args) {
    if (!arg.refused.empty() || arg.no_effect) continue;
    if (first == nullptr || (arg.required && !first->required)) first = &arg;
  }
  if (first == nullptr) return "remove it";
  std::string type = first->kind == op::ArgKind::kDType ? written_as_type(value) : "";
  std::string written = !type.empty() ? type : text.empty() ? "…" : text;
  return fmt::format("arguments are given by name: write `{}={}`", first->name, written);
}

// The first argument of the call whose callee ends at `at`, if it is a name: what `x` stands for in a
// suggestion.
std::string first_argument(const SourceMap& sources, Span callee) {
  const SourceFile* file = sources.file(callee.file);
  if (file == nullptr) return {};
  std::string_view rest =
      std::string_view(file->text()).substr(std::min<size_t>(callee.end, file->text().size()));
  if (!rest.starts_with('(')) return {};
  const size_t end = rest.find_first_of(",()[]{}=+-*/\n", 1);
  if (end == std::string_view::npos || (rest[end] != ',' && rest[end] != ')')) return {};
  std::string_view name = rest.substr(1, end - 1);
  const bool is_name = !name.empty() && name.find_first_of(" \t\"'#:<>&|") == std::string_view::npos &&
                       (name[0] < '0' || name[0] > '9');
  return is_name ? std::string(name) : "";
}

/// Objects and iterables of the host program. (Functions have an error of their own.)
bool is_host_code(const Value& value) {
  return !value.is_number() && !value.is(ValueKind::kString) && !value.is(ValueKind::kDType) &&
         !value.is(ValueKind::kEnum) && !value.is(ValueKind::kList) && !value.is(ValueKind::kTuple) &&
         !value.is_node();
}

// "crop_mirror_normalize" as a class: "CropMirrorNormalize".
std::string class_name(const std::string& name) {
  std::string out;
  bool start = true;
  for (char c : name) {
    if (c != '_') out += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    start = c == '_';
  }
  return out;
}

}  // namespace

Value Evaluator::find_operator(ModuleObject& names, const std::string& name, Span span) {
  std::string path = names.prefix + name;
  bool objects = names.lookup == ModuleObject::Lookup::kOperatorObjects;
  bool is_class = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
  if (objects && is_class)
    path = operator_of_class(path);  // ops.CropMirrorNormalize is fn.crop_mirror_normalize
  std::string_view today = renamed_operator(path);
  if (!today.empty() && registry_.find(today)) {
    note(Message::kRenamedOperator, span, {"fn." + path, "fn." + std::string(today)});
    path = today;
  }
  const op::Operator* op = registry_.find(path);
  if (op && !op->internal && (is_class || !objects)) {
    auto* object = arena.make<OperatorObject>();
    object->op = op;
    object->path = path;
    object->expects_init = objects;
    return Value(objects ? ValueKind::kOperatorObject : ValueKind::kOperator, object);
  }
  if (op && !op->internal) {
    std::string shown = class_name(name);
    Diagnostic diagnostic = diagnose(Message::kUnknownOperator, span, {"ops." + names.prefix + name});
    diagnostic.help =
        "the class is called `ops." + names.prefix + shown + "`; its function is `fn." + path + "`";
    return report(std::move(diagnostic));
  }
  std::vector<std::string> candidates = registry_.public_names();
  auto is_inside = [&](std::string_view candidate) { return candidate.starts_with(path + "."); };
  bool is_namespace = std::any_of(candidates.begin(), candidates.end(), is_inside) || is_dali_namespace(path);
  if (is_namespace) {
    auto* module = arena.make<ModuleObject>();
    module->name = names.name + "." + name;
    module->lookup = names.lookup;
    module->prefix = path + ".";
    return Value(ValueKind::kModule, module);
  }
  if (is_dali_operator(path)) {
    Diagnostic later = diagnose(Message::kOperatorNotYet, span, {"fn." + path});
    if (path.ends_with("python_function") || path == "numba_function")
      later.help = "no Python runs while data is read: write it with operators and arithmetic";
    return report(std::move(later));
  }
  Diagnostic diagnostic = diagnose(Message::kUnknownOperator, span, {"fn." + path});
  diagnostic.help = operator_help(path, name, span, candidates);
  return report(std::move(diagnostic));
}

// What was meant by an operator that does not exist: the edit for a name of another library, a name like it,
// or the same name in a namespace.
std::string Evaluator::operator_help(const std::string& path, const std::string& name, Span span,
                                     const std::vector<std::string>& candidates) const {
  if (const Suggestion* known = find_suggestion(Place::kOperator, "", path))
    return help_of(*known, first_argument(sources_, span));
  if (registry_.find(snake_case(path)) != nullptr) return "did you mean `fn." + snake_case(path) + "`?";
  for (const std::string& candidate : candidates) {
    if (candidate.ends_with("." + snake_case(name))) return "did you mean `fn." + candidate + "`?";
  }
  if (std::string near = did_you_mean(path, candidates, "fn."); !near.empty()) return near;
  // A slip in the name, without its namespace: fn.coinflip.
  std::vector<std::string> last_names;
  for (const std::string& candidate : candidates)
    last_names.push_back(candidate.substr(candidate.rfind('.') + 1));
  const auto near = closest_match(name, last_names);
  if (!near) return "`galatea ops` lists the operators";
  const auto at = std::find(last_names.begin(), last_names.end(), *near) - last_names.begin();
  return "did you mean `fn." + candidates[static_cast<size_t>(at)] + "`?";
}

uint64_t Evaluator::random_key(const std::string& callee, const CallArguments& arguments,
                               uint32_t set) const {
  uint64_t key = mix_key(frame_->call->path, callee);
  std::string_view last =
      std::string_view(callee).substr(callee.rfind('.') == std::string::npos ? 0 : callee.rfind('.') + 1);
  // Called under another name: its ordinal counts calls of that name.
  if (arguments.callee_text != last) key = mix_key(key, arguments.callee_text);
  key = mix_key(key, arguments.ordinal);
  for (uint32_t index : frame_->call->unroll) key = mix_key(key, index);
  return set > 0 ? mix_key(key, set) : key;
}

// An operator where no pipeline is built: in a file, or in a function that was called from one.
Value Evaluator::fail_outside(const OperatorObject& callee, const CallArguments& arguments) {
  if (std::any_of(arguments.positional.begin(), arguments.positional.end(),
                  [this](const Value& value) { return has_poison(value); }))
    return Value::poison();
  Diagnostic diagnostic = diagnose(Message::kOutsidePipeline, arguments.span, {"`fn." + callee.path + "`"});
  if (!calls_.empty()) {
    const std::string& outermost = calls_.size() > 1 ? calls_[1].function : frame_->call->name;
    diagnostic.help = "write `@pipeline_def(batch_size=8)` above `def " + outermost +
                      "`, and remove the call: the host builds and runs pipelines";
  }
  return report(std::move(diagnostic));
}

Value Evaluator::call_operator(const OperatorObject& callee, CallArguments& arguments) {
  if (callee.expects_init) {
    // ops.Resize(size=…): keeps the arguments for the call that follows.
    if (!arguments.positional.empty())
      return fail(Message::kBadArgument, arguments.spans[0],
                  {callee.path, "keyword arguments; the inputs come with the next call"});
    auto* ready = arena.make<OperatorObject>();
    ready->op = callee.op;
    ready->path = callee.path;
    for (const CallArguments::Keyword& keyword : arguments.keywords) {
      ready->arguments.emplace_back(keyword.name, keyword.value);
      ready->argument_spans.push_back(keyword.span);
    }
    return Value(ValueKind::kOperatorObject, ready);
  }
  for (size_t i = 0; i < callee.arguments.size(); ++i) {
    const auto& [name, value] = callee.arguments[i];
    bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                             [&](const auto& keyword) { return keyword.name == name; });
    if (!given)
      arguments.keywords.push_back({name, value, callee.argument_spans[i], callee.argument_spans[i]});
  }
  if (!graph_) return fail_outside(callee, arguments);
  if (callee.op->typed_by_host) return call_source(*callee.op, callee.path, arguments);
  // Several input sets: fn.slice([image, mask], …) is applied to each.
  size_t sets = 0;
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    const Value& value = arguments.positional[i];
    if (!value.is(ValueKind::kList) || !has_node(value)) continue;
    if (sets && sets != value.elements().size())
      return fail(Message::kInputSets, arguments.spans[i],
                  {std::to_string(sets), std::to_string(value.elements().size())});
    sets = value.elements().size();
  }
  if (sets == 0) return call_operator_once(*callee.op, callee.path, arguments, 0);
  std::vector<Value> results;
  for (uint32_t set = 0; set < sets; ++set) {
    CallArguments one = arguments;
    for (Value& value : one.positional) {
      if (value.is(ValueKind::kList) && has_node(value)) value = value.elements()[set];
    }
    results.push_back(call_operator_once(*callee.op, callee.path, one, set));
  }
  return make_list(std::move(results), arguments.span);
}

Value Evaluator::call_operator_once(const op::Operator& op, const std::string& path, CallArguments& arguments,
                                    uint32_t set) {
  ir::GraphBuilder::NodeSpec spec;
  spec.op = &op;
  spec.span = arguments.span;
  auto is_poisoned = [this](const Value& value) { return has_poison(value); };
  const bool poisoned = std::any_of(arguments.positional.begin(), arguments.positional.end(), is_poisoned);
  size_t inputs = arguments.positional.size();
  while (inputs > 0 && arguments.positional[inputs - 1].is(ValueKind::kNone)) --inputs;
  if (static_cast<int>(inputs) > op.max_inputs) {
    auto first_extra = static_cast<size_t>(op.max_inputs);
    Diagnostic diagnostic =
        diagnose(Message::kTooManyInputs, arguments.spans[first_extra],
                 {"fn." + path, fmt::format("{} input{}", op.max_inputs, op.max_inputs == 1 ? "" : "s"),
                  std::to_string(inputs)});
    diagnostic.help = by_name_help(op, arguments.positional[first_extra],
                                   source_text(sources_, arguments.spans[first_extra]));
    diagnostic.notes.push_back("the signature is " + operator_signature(op, path));
    return report(std::move(diagnostic));
  }
  uint64_t key = op.random ? random_key(op.name, arguments, set) : 0;
  // What is wrong with the arguments does not depend on the inputs: it is said although they failed.
  if (!add_operator_arguments(op, arguments, spec, key) || poisoned) return Value::poison();
  for (size_t i = 0; i < inputs; ++i) {
    const Value& value = arguments.positional[i];
    if (value.is(ValueKind::kString) || value.is(ValueKind::kDict) || value.is(ValueKind::kNone) ||
        value.is(ValueKind::kTuple)) {
      if (!value.is(ValueKind::kTuple) || has_node(value)) {
        Diagnostic diagnostic = diagnose(Message::kInputKind, arguments.spans[i],
                                         {std::to_string(i + 1), "fn." + path, describe_kind(value)});
        if (value.is(ValueKind::kTuple))
          diagnostic.help =
              "an operator with several outputs gives a tuple: unpack it, as in `image, label = …`";
        return report(std::move(diagnostic));
      }
    }
    Value node = value.is_node() ? value : constant_node(value, arguments.spans[i]);
    if (!node.is_node()) return Value::poison();
    if (op.random && value.is_number()) {
      Diagnostic warning = diagnose(Message::kNumberAsShape, arguments.spans[i], {"fn." + path});
      warning.help = by_name_help(op, value, source_text(sources_, arguments.spans[i]));
      report(std::move(warning));
    }
    spec.inputs.push_back(node.node);
  }
  if (op.random && !spec.has_own_seed) spec.key = key;
  // The type of what a host feeds may still be open.
  if (op.typed_by_host && !complete_input_type(spec)) return Value(ValueKind::kUnknown);
  return add_node(std::move(spec));
}

// DALI code seeds two draws alike to use one draw twice, as for an image and its mask.
void Evaluator::note_same_seed(const op::Operator& op, int64_t seed, Span span) {
  auto [first, is_new] = seeds_.try_emplace({op.name, seed}, span);
  if (is_new) return;
  Diagnostic diagnostic = diagnose(Message::kSameSeed, span, {op.name, std::to_string(seed)});
  if (first->second != span) diagnostic.labels.push_back({first->second, "the first one"});
  report(std::move(diagnostic));
}

bool Evaluator::add_operator_arguments(const op::Operator& op, CallArguments& arguments,
                                       ir::GraphBuilder::NodeSpec& spec, uint64_t key) {
  bool good = true;
  for (CallArguments::Keyword& keyword : arguments.keywords) {
    const op::ArgSpec* schema = op.find_arg(keyword.name);
    const std::string_view* today = schema && schema->refused.empty() && !schema->no_effect
                                        ? nullptr
                                        : renamed_argument(op.name, keyword.name);
    if (today && today->empty()) {
      note(Message::kNoEffect, keyword.name_span,
           {"`" + keyword.name + "`", "DALI does not use it any more"});
      continue;
    }
    bool both = today && std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                                     [&](const auto& other) { return other.name == *today; });
    if (today && !both && op.find_arg(*today)) {
      note(Message::kRenamedArgument, keyword.name_span,
           {"fn." + op.name, keyword.name, std::string(*today)});
      keyword.name = *today;
      schema = op.find_arg(keyword.name);
    }
    if (!schema || (keyword.name == "seed" && op.random)) {
      good = add_common_argument(op, keyword, spec, key) && good;
      if (!schema) continue;
    }
    if (keyword.value.is(ValueKind::kNone)) continue;
    if (keyword.value.is(ValueKind::kUnknown)) {
      // A path that `check` does not know: any will do, no data is read.
      if (schema->kind == op::ArgKind::kString || schema->kind == op::ArgKind::kStringList) {
        spec.args.push_back({keyword.name, ir::Attr(std::string("?")), keyword.span});
      } else {
        good = false;
      }
      continue;
    }
    if (has_poison(keyword.value)) {
      good = false;
    } else if (!schema->refused.empty() && is_host_code(keyword.value)) {
      fail_refused_argument(op, *schema, keyword.span);
      good = false;
    } else {
      good = add_argument(op, *schema, keyword, spec) && good;
    }
  }
  for (const op::ArgSpec& schema : op.args) {
    if (!schema.required) continue;
    bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(), [&](const auto& keyword) {
      return keyword.name == schema.name && !keyword.value.is(ValueKind::kNone);
    });
    if (given) continue;
    Diagnostic diagnostic =
        diagnose(Message::kMissingOperatorArgument, arguments.span, {"fn." + op.name, schema.name});
    if (!schema.documentation.empty()) diagnostic.notes.push_back(schema.name + ": " + schema.documentation);
    diagnostic.notes.push_back("the signature is " + operator_signature(op, op.name));
    report(std::move(diagnostic));
    good = false;
  }
  return good;
}

// Arguments of every operator.
bool Evaluator::add_common_argument(const op::Operator& op, const CallArguments::Keyword& keyword,
                                    ir::GraphBuilder::NodeSpec& spec, uint64_t key) {
  const Value& value = keyword.value;
  if (value.is(ValueKind::kNone))
    return keyword.name == "seed" || keyword.name == "name" || keyword.name == "device" ||
                   keyword.name == "preserve" || keyword.name == "bytes_per_sample_hint"
               ? true
               : (fail_unknown_argument(op, keyword), false);
  if (value.is_poison()) return false;
  if (keyword.name == "device") {
    bool known = value.is(ValueKind::kString) &&
                 (value.text() == "cpu" || value.text() == "gpu" || value.text() == "mixed");
    if (!known) {
      Diagnostic diagnostic = diagnose(Message::kBadDevice, keyword.span, {type_text(value)});
      const bool gpu = value.is(ValueKind::kString) && value.text().starts_with("cuda");
      diagnostic.help = gpu ? "write `device=\"gpu\"`; which GPU it is, the host decides"
                            : "leave it out: the pipeline then runs where its input is";
      report(std::move(diagnostic));
      return false;
    }
    if (value.text() != "cpu") note_device(keyword.span, "`device=\"" + value.text() + "\"`");
    return true;
  }
  if (keyword.name == "name") {
    if (!value.is(ValueKind::kString))
      return fail(Message::kArgumentKind, keyword.span, {"name", "a string", type_text(value)}), false;
    auto [named, fresh] = node_names_.try_emplace(value.text(), keyword.span);
    if (!fresh) {
      Diagnostic diagnostic = diagnose(Message::kNodeNameTaken, keyword.span, {value.text()});
      if (!(named->second == keyword.span)) diagnostic.labels.push_back({named->second, "the first one"});
      report(std::move(diagnostic));
      return false;
    }
    spec.name = value.text();
    return true;
  }
  if (keyword.name == "seed") {
    if (!value.is_integral())
      return fail(Message::kArgumentKind, keyword.span, {"seed", "an integer", type_text(value)}), false;
    if (!op.random)
      return note(Message::kNoEffect, keyword.span, {"`seed`", "fn." + op.name + " draws no random numbers"}),
             true;
    if (value.as_int() < 0) return true;
    note_same_seed(op, value.as_int(), keyword.span);
    spec.has_own_seed = true;
    spec.key = mix_key(static_cast<uint64_t>(value.as_int()), key);
    return true;
  }
  if (keyword.name == "preserve") {
    if (!value.is_integral())
      return fail(Message::kArgumentKind, keyword.span, {"preserve", "True or False", type_text(value)}),
             false;
    if (truth(value))
      note(Message::kNoEffect, keyword.span,
           {"`preserve`", "an operator whose outputs are not used does not run"});
    return true;
  }
  if (keyword.name == "bytes_per_sample_hint")
    return true;  // a hint for an allocator that galatea does not have
  return fail_unknown_argument(op, keyword), false;
}

Value Evaluator::fail_unknown_argument(const op::Operator& op, const CallArguments::Keyword& keyword) {
  std::vector<std::string> names = {"device", "name", "preserve", "bytes_per_sample_hint"};
  if (op.random) names.emplace_back("seed");
  for (const op::ArgSpec& schema : op.args) {
    if (schema.refused.empty()) names.push_back(schema.name);
  }
  Diagnostic diagnostic =
      diagnose(Message::kUnknownOperatorArgument, keyword.name_span, {"fn." + op.name, keyword.name});
  if (const Suggestion* known = find_suggestion(Place::kArgument, op.name, keyword.name))
    diagnostic.help = help_of(*known, "");
  else
    diagnostic.help = did_you_mean(keyword.name, names);
  diagnostic.notes.push_back("the signature is " + operator_signature(op, op.name));
  return report(std::move(diagnostic));
}

bool Evaluator::add_argument(const op::Operator& op, const op::ArgSpec& schema,
                             const CallArguments::Keyword& keyword, ir::GraphBuilder::NodeSpec& spec) {
  const Value& value = keyword.value;
  if (!has_node(value)) {
    const bool wants_type = schema.kind == op::ArgKind::kDType || schema.kind == op::ArgKind::kInterp ||
                            schema.kind == op::ArgKind::kImageType;
    if (std::string type = wants_type ? written_as_type(value) : ""; !type.empty()) {
      Diagnostic diagnostic = diagnose(Message::kArgumentKind, keyword.span,
                                       {keyword.name, "a name of `types`", type_text(value)});
      diagnostic.help = "write `" + keyword.name + "=" + type + "`";
      report(std::move(diagnostic));
      return false;
    }
    auto attr = to_attr(value, keyword.span, keyword.name);
    if (!attr) return false;
    spec.args.push_back({keyword.name, std::move(*attr), keyword.span});
    return true;
  }
  if (!schema.per_sample) {
    Diagnostic diagnostic = diagnose(Message::kStaticArgument, keyword.span, {keyword.name, "fn." + op.name});
    if (value.is_node()) diagnostic.span_text = type_text(value);
    if (value.is_node() && graph_->defining_node(value.node))
      diagnostic.labels.push_back(
          {graph_->defining_node(value.node)->span, "the value is computed per sample here"});
    std::string others;
    for (const op::ArgSpec& arg : op.args) {
      if (arg.per_sample) others += (others.empty() ? "`" : ", `") + arg.name + "`";
    }
    if (!others.empty()) diagnostic.notes.push_back("arguments that may be data nodes: " + others);
    report(std::move(diagnostic));
    return false;
  }
  Value node = value;
  if (value.is_sequence()) {
    bool nested = std::any_of(value.elements().begin(), value.elements().end(),
                              [](const Value& v) { return v.is_sequence(); });
    if (nested) {
      std::vector<Value> rows;
      for (const Value& row : value.elements())
        rows.push_back(row.is_sequence() ? stack_nodes(row.elements(), keyword.span) : row);
      node = stack_nodes(rows, keyword.span);
    } else {
      node = stack_nodes(value.elements(), keyword.span);
    }
  }
  if (!node.is_node()) {
    if (!node.is_poison())
      fail(Message::kArgumentKind, keyword.span,
           {keyword.name, "a value or a data node", describe_kind(value)});
    return false;
  }
  spec.args.push_back({keyword.name, node.node, keyword.span});
  return true;
}

std::optional<ir::Attr> Evaluator::to_attr(const Value& given, Span span, const std::string& what) {
  const Value value = plain(given);
  switch (value.kind) {
    case ValueKind::kArray:
      return to_attr(make_list(value.as<ArrayObject>().elements), span, what);
    case ValueKind::kBool:
      return ir::Attr(value.boolean);
    case ValueKind::kInt:
      return ir::Attr(value.integer);
    case ValueKind::kFloat:
      return ir::Attr(value.number);
    case ValueKind::kString:
      return ir::Attr(value.text());
    case ValueKind::kDType:
      return ir::Attr(value.dtype);
    case ValueKind::kEnum:
      return ir::Attr(value.as<EnumObject>().value);
    case ValueKind::kList:
    case ValueKind::kTuple:
    case ValueKind::kRange: {
      auto elements = iterate(value, span, "");
      if (!elements) return std::nullopt;
      // A matrix is given as nested lists; its numbers in row-major order are what operators take.
      std::vector<Value> flat;
      for (const Value& element : *elements) {
        const std::vector<Value>* row = element.is_sequence()           ? &element.elements()
                                        : element.is(ValueKind::kArray) ? &element.as<ArrayObject>().elements
                                                                        : nullptr;
        if (row)
          std::transform(row->begin(), row->end(), std::back_inserter(flat), plain);
        else
          flat.push_back(element);
      }
      auto all = [&](auto test) { return std::all_of(flat.begin(), flat.end(), test); };
      if (all([](const Value& v) { return v.is_integral() || v.is(ValueKind::kEnum); })) {
        std::vector<int64_t> out;
        for (const Value& v : flat)
          out.push_back(v.is(ValueKind::kEnum) ? v.as<EnumObject>().value : v.as_int());
        return ir::Attr(std::move(out));
      }
      if (all([](const Value& v) { return v.is_number(); })) {
        std::vector<double> out;
        for (const Value& v : flat) out.push_back(v.as_double());
        return ir::Attr(std::move(out));
      }
      if (all([](const Value& v) { return v.is(ValueKind::kString); })) {
        std::vector<std::string> out;
        for (const Value& v : flat) out.push_back(v.text());
        return ir::Attr(std::move(out));
      }
      break;
    }
    default:
      break;
  }
  // Of a list, the element that does not fit says more.
  std::string kind_given = describe_kind(value);
  std::set<std::string> kinds;
  if (value.is_sequence()) {
    for (const Value& element : value.elements()) kinds.insert(describe_kind(element));
    kind_given += fmt::format(" of {}", fmt::join(kinds, " and "));
  }
  Diagnostic diagnostic =
      diagnose(Message::kArgumentKind, span,
               {what, "a number, a string, a type, or a list of numbers or of strings", kind_given});
  diagnostic.help = kinds.size() > 1 ? "give elements of one kind, as in `" + what + "=[1, 2]`"
                                     : "`galatea ops` shows what each argument takes";
  report(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace galatea::dsl
