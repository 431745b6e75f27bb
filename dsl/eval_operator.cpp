// Calls of operators: `fn.resize(image, size=[224, 224])`. In: an operator and evaluated arguments. Out: a
// node, or a tuple of its outputs.
#include <algorithm>

#include <fmt/format.h>

#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/dali_names.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/suggest.h"

namespace galatea::dsl {
namespace {

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

// "decoders.image" as a class: "decoders.Image".
std::string class_path(const std::string& name) {
  const size_t begin = name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1;
  return name.substr(0, begin) + class_name(name.substr(begin));
}

/// Of DALI's operators that stay away for a reason: the reason, and what to do; else nothing.
std::string_view why_not_here(std::string_view path) {
  if (path.ends_with("python_function") || path == "numba_function")
    return "no Python runs while data is read: write it with operators and arithmetic";
  if (path == "optical_flow")
    return "it runs on engines of NVIDIA's GPUs alone: compute the flow beforehand, and read it with "
           "fn.readers.numpy";
  return {};
}

/// The operator of DALI, among those that are not here, that has a name like this in the same
/// namespace; "": none.
std::string absent_operator_like(const std::string& prefix, const std::string& name) {
  std::vector<std::string> beside;
  for (const std::string& path : dali_operator_names())
    if (path.starts_with(prefix) && path.find('.', prefix.size()) == std::string::npos)
      beside.push_back(path.substr(prefix.size()));
  const auto near = closest_match(name, beside);
  return near ? prefix + *near : "";
}

// "[2, 0, 1]" for `fn.transpose(image, 2, 0, 1)`: the numbers at the end of what is given by position.
std::optional<std::string> list_of_numbers(const SourceMap& sources, const CallArguments& arguments) {
  size_t begin = arguments.positional.size();
  while (begin > 0 && arguments.positional[begin - 1].is_number()) --begin;
  if (arguments.positional.size() - begin < 2) return std::nullopt;
  std::string out;
  for (size_t i = begin; i < arguments.positional.size(); ++i)
    out += (out.empty() ? "[" : ", ") + source_text(sources, arguments.spans[i]);
  return out + "]";
}

/// The values by position that `help` gives by name, "write `size=[224, 224]`", unless the call gives it already.
void add_edit_by_name(Diagnostic& diagnostic, const CallArguments& arguments, size_t first_extra) {
  const size_t begin = diagnostic.help.find("write `"), end = diagnostic.help.rfind('`');
  const size_t equal = diagnostic.help.find('=', begin);
  if (begin == std::string::npos || equal == std::string::npos || equal > end ||
      end + 1 < diagnostic.help.size())
    return;
  const size_t from = begin + std::string_view("write `").size();
  const std::string name = diagnostic.help.substr(from, equal - from);
  const bool is_given =
      std::ranges::find(arguments.keywords, name, &CallArguments::Keyword::name) != arguments.keywords.end();
  size_t first = arguments.positional.size();
  while (first > 0 && arguments.positional[first - 1].is_number()) --first;
  const bool is_list = arguments.positional.size() > first + 1 && diagnostic.help[equal + 1] == '[';
  if (!is_list) first = first_extra;
  if (is_given || first > first_extra || (!is_list && arguments.positional.size() > first_extra + 1)) return;
  diagnostic.edits.push_back({cover(arguments.spans[first], arguments.spans.back()),
                              diagnostic.help.substr(from, end - from), false});
}

/// The inputs of a call; kNoId: there is no data.
std::vector<ir::ValueId> known_inputs(const CallArguments& arguments, size_t count) {
  std::vector<ir::ValueId> inputs;
  for (size_t i = 0; i < count; ++i)
    inputs.push_back(arguments.positional[i].is_node() ? arguments.positional[i].node : ir::kNoId);
  return inputs;
}

/// `fn.resize(224, image)`: what is read stands before what is given by name. False: it is no such call.
bool advise_on_order(const SourceMap& sources, Diagnostic& diagnostic, const op::Operator& op,
                     const std::string& path, const CallArguments& arguments) {
  if (!arguments.positional[1].is_node() || !arguments.positional[0].is_number()) return false;
  const std::string named =
      by_name_help(op, arguments.positional[0], source_text(sources, arguments.spans[0]));
  const size_t begin = named.find("write `"), end = named.rfind('`');
  if (begin == std::string::npos) return false;
  const size_t from = begin + std::string_view("write `").size();
  const std::string right = source_text(sources, arguments.spans[1]) + ", " + named.substr(from, end - from);
  diagnostic.span = arguments.spans[0];
  diagnostic.help = "the data stands first: write `fn." + path + "(" + right + ")`";
  diagnostic.edits.push_back({cover(arguments.spans[0], arguments.spans[1]), right, false});
  return true;
}

}  // namespace

Value Evaluator::find_operator(ModuleObject& names, const std::string& name, Span span) {
  std::string path = names.prefix + name;
  bool objects = names.lookup == ModuleObject::Lookup::kOperatorObjects;
  bool is_class = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
  if (objects && is_class)
    path = operator_of_class(path);  // ops.CropMirrorNormalize is fn.crop_mirror_normalize
  const std::string shown = (objects ? "ops." : "fn.") + names.prefix + name;
  std::string_view today = renamed_operator(path);
  if (!today.empty() && registry_.find(today)) {
    note(Message::kRenamedOperator, span, {shown, "fn." + std::string(today)});
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
    Diagnostic diagnostic = diagnose(Message::kUnknownOperator, span, {shown});
    diagnostic.help = "the class is called `ops." + names.prefix + class_name(name) +
                      "`; its function is `fn." + path + "`";
    return report(std::move(diagnostic));
  }
  if (const op::TextOperator* text = registry_.find_text(path); text && !objects)
    return text_operator(*text, span);
  if (registry_.has_namespace(path) || is_dali_namespace(path)) {
    auto* module = arena.make<ModuleObject>();
    module->name = names.name + "." + name;
    module->lookup = names.lookup;
    module->prefix = path + ".";
    return Value(ValueKind::kModule, module);
  }
  if (is_dali_operator(path)) {
    Diagnostic later = diagnose(Message::kOperatorNotYet, span, {"fn." + path});
    if (const std::string_view why = why_not_here(path); !why.empty()) later.help = why;
    return report(std::move(later));
  }
  Diagnostic diagnostic = diagnose(Message::kUnknownOperator, span, {shown});
  std::string goes_on;  // the namespace that is meant, so that what its operators are given is checked
  if (const Suggestion* known = find_suggestion(Place::kOperator, "", path)) {
    diagnostic.help = help_of(*known, first_argument(sources_, span));
  } else if (const std::string line =
                 names.prefix == "galatea." ? where_in_library(*library_.at("galatea"), name) : "";
             !line.empty()) {
    diagnostic.help = line;  // `fn.galatea.reverb`, which the library defines in the language
  } else if (const auto meant = meant_operator(path, name)) {
    diagnostic.help =
        objects ? "did you mean `ops." + class_path(meant->name) + "`?" : help_of(*meant, path, "fn.");
    // Where `fn.reszie` stands, the last name alone is at the place.
    const std::string rest =
        meant->name.starts_with(names.prefix) ? meant->name.substr(names.prefix.size()) : "";
    if (!objects && registry_.find(meant->name) == nullptr && is_near(path, meant->name)) goes_on = rest;
    if (!objects && !rest.empty() && !rest.contains('.'))
      diagnostic.edits.push_back({span, rest, meant->looks_alike});
  } else if (const std::string other = absent_operator_like(names.prefix, name); !other.empty()) {
    const std::string_view why = why_not_here(other);
    diagnostic.help = "did you mean `fn." + other + "`? It is in DALI, but not in galatea yet" +
                      (why.empty() ? "" : "; " + std::string(why));
  } else {
    diagnostic.help = "`galatea ops` lists the operators";
  }
  report(std::move(diagnostic));
  return goes_on.empty() ? Value::poison() : find_operator(names, goes_on, span);
}

// What was meant by an operator that does not exist: the same name in a namespace or in other letters, a namespace
// or a name like it.
std::optional<Meant> Evaluator::find_meant_operator(const std::string& path, const std::string& name) const {
  if (const std::string_view today = renamed_operator(snake_case(path)); registry_.find(today) != nullptr)
    return Meant{std::string(today)};
  if (registry_.find(snake_case(path)) != nullptr) return Meant{snake_case(path)};
  const std::vector<std::string> candidates = registry_.public_names();
  for (const std::string& candidate : candidates)
    if (candidate.ends_with("." + snake_case(name))) return Meant{candidate};
  // A slip in a namespace: fn.reader.file.
  std::vector<std::string> namespaces, last_names;
  for (const std::string& candidate : candidates) {
    const size_t dot = candidate.rfind('.');
    if (dot != std::string::npos) namespaces.push_back(candidate.substr(0, dot));
    last_names.push_back(candidate.substr(dot + 1));
  }
  const std::string own = path.substr(0, path.rfind('.') == std::string::npos ? 0 : path.rfind('.'));
  std::erase(namespaces, own);  // the name behind it is what is wrong
  if (const auto meant = meant_by(path, namespaces)) return meant;
  if (const auto meant = meant_by(path, candidates)) return meant;
  if (const auto old = closest_match(path, old_operator_names()))
    if (const std::string_view today = renamed_operator(*old); registry_.find(today))
      return Meant{std::string(today)};
  // A slip in the name, without its namespace: fn.coinflip.
  const auto near = closest_match(name, last_names);
  if (!near) return std::nullopt;
  const auto at = std::ranges::find(last_names, *near) - last_names.begin();
  return Meant{candidates[static_cast<size_t>(at)]};
}

// The same, looked for once: thousands of equal mistakes cost no more than a few.
const std::optional<Meant>& Evaluator::meant_operator(const std::string& path, const std::string& name) {
  const auto [known, is_new] = meant_operators_.try_emplace(path);
  if (is_new) known->second = find_meant_operator(path, name);
  return known->second;
}

// The operator for a function of another library that is called with a data node there: `np.mean(image)`.
std::string Evaluator::operator_for_call(Span argument) const {
  const SourceFile* file = sources_.file(argument.file);
  if (!file || argument.begin == 0) return {};
  const std::string& text = file->text();
  size_t end = text.find_last_not_of(" \t(", argument.begin - 1);
  if (end == std::string::npos || text.find('(', end) >= argument.begin) return {};
  size_t begin = end + 1;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  while (begin > 0 && is_part(text[begin - 1])) --begin;
  const std::string name = text.substr(begin, end + 1 - begin),
                    subject = text.substr(argument.begin, argument.end - argument.begin);
  // `np.stack([a, b])`: operators take what is joined one by one.
  if (name == "stack" || name == "concatenate" || name == "concat") {
    const bool is_list = subject.starts_with('[') && subject.ends_with(']');
    return fmt::format("write `fn.{}({}, axis=0)`", name == "stack" ? "stack" : "cat",
                       is_list ? subject.substr(1, subject.size() - 2) : subject);
  }
  if (name == "where")
    return fmt::format("write `c = {}` and `c * a + (1 - c) * b`, which is a where c holds, and b elsewhere",
                       subject);
  if (const Suggestion* known = find_suggestion(Place::kOperator, "", name)) return help_of(*known, subject);
  for (const char* prefix : {"", "reductions."}) {
    const op::Operator* op = registry_.find(prefix + name);
    if (op && !op->internal) return fmt::format("write `fn.{}{}({}, …)`", prefix, name, subject);
  }
  return {};
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

// `fn.stack([a, b])` is `[fn.stack(a), fn.stack(b)]`, as in DALI.
void Evaluator::warn_joins_nothing(const OperatorObject& callee, const CallArguments& arguments) {
  const bool joins = callee.op->name == "stack" || callee.op->name == "cat";
  if (!joins || arguments.positional.size() != 1) return;
  Diagnostic warning = diagnose(Message::kJoinsNothing, arguments.spans[0], {"fn." + callee.path});
  const std::string list = source_text(sources_, arguments.spans[0]);
  warning.help = "write `fn." + callee.path + "(*" + list + ")`";
  if (list.starts_with('[') && list.ends_with(']')) {
    const std::string elements = list.substr(1, list.size() - 2);
    warning.help = "write `fn." + callee.path + "(" + elements + ")`";
    warning.edits.push_back({arguments.spans[0], elements, false});
  }
  report(std::move(warning));
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
      ready->argument_spans.emplace_back(keyword.span, keyword.name_span);
    }
    return Value(ValueKind::kOperatorObject, ready);
  }
  const bool converts = callee.op->name == "cast" || callee.op->name == "cast_like";
  if (in_element() && !converts)
    return fail(Message::kPixelOperator, arguments.span, {"`fn." + callee.path + "`"});
  for (size_t i = 0; i < callee.arguments.size(); ++i) {
    const auto& [name, value] = callee.arguments[i];
    bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                             [&](const auto& keyword) { return keyword.name == name; });
    if (!given)
      arguments.keywords.push_back(
          {name, value, callee.argument_spans[i].first, callee.argument_spans[i].second});
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
  warn_joins_nothing(callee, arguments);
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
  if (std::ranges::any_of(arguments.positional, is_bundle)) {
    const std::vector<Value> operands = arguments.positional;
    std::ranges::transform(operands, arguments.positional.begin(), picture_of);
    const Value made = call_operator_once(op, path, arguments, set);
    // An operator works on its first input; of others, it takes a matrix, a type.
    return is_bundle(operands[0])
               ? Bundles(*this).carry(made, operands, {"`fn." + path + "`", arguments.span})
               : made;
  }
  op::GraphBuilder::NodeSpec spec;
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
    diagnostic.help = by_name_help(
        op, arguments.positional[first_extra],
        list_of_numbers(sources_, arguments).value_or(source_text(sources_, arguments.spans[first_extra])));
    if (first_extra != 1 || inputs != 2 || !advise_on_order(sources_, diagnostic, op, path, arguments))
      add_edit_by_name(diagnostic, arguments, first_extra);
    diagnostic.notes.push_back("the signature is " + operator_signature(op, path));
    report(std::move(diagnostic));
    // What is wrong with the arguments is another mistake; what is missing may be what is too much.
    std::vector<std::string> missing;
    for (const op::ArgSpec& schema : op.args)
      if (schema.required && std::ranges::find(arguments.keywords, schema.name,
                                               &CallArguments::Keyword::name) == arguments.keywords.end())
        missing.push_back(schema.name);
    add_operator_arguments(op, arguments, spec, 0, missing);
    return check_beside_poison(std::move(spec), known_inputs(arguments, first_extra), std::move(missing));
  }
  uint64_t key = op.random ? random_key(op.name, arguments, set) : 0;
  // What is wrong with the arguments does not depend on the inputs: it is said although they failed.
  std::vector<std::string> missing;
  add_operator_arguments(op, arguments, spec, key, missing);
  if (poisoned)
    return check_beside_poison(std::move(spec), known_inputs(arguments, inputs), std::move(missing));
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
        report(std::move(diagnostic));
        return check_beside_poison(std::move(spec), known_inputs(arguments, inputs), std::move(missing));
      }
    }
    Value node = value.is_node() ? value : constant_node(value, arguments.spans[i]);
    if (!node.is_node()) return Value::poison();
    const bool only_shape = op.inputs[std::min(i, op.inputs.size() - 1)].name == "shape_like";
    if (only_shape && value.is_number()) {
      Diagnostic warning = diagnose(Message::kNumberAsShape, arguments.spans[i], {"fn." + path});
      warning.help = by_name_help(op, value, source_text(sources_, arguments.spans[i]));
      report(std::move(warning));
    }
    spec.inputs.push_back(node.node);
  }
  check_shares(op, arguments);
  if (!spec.inputs.empty()) {
    check_pixel_unit(op, arguments, graph_->type(spec.inputs[0]).dtype);
    check_scaled_unit(op, arguments, spec.inputs[0]);
    check_coefficients(op, arguments, graph_->type(spec.inputs[0]));
  }
  if (op.random && !spec.has_own_seed) spec.key = key;
  if (!missing.empty()) return recover(std::move(spec), std::move(missing));
  // The type of what a host feeds may still be open.
  if (!op.parts_of_feed.empty()) add_input(spec, InputType{DType::kU8, 1, {}, {}});
  if (op.typed_by_host && !complete_input_type(spec)) {
    report_wrong_kinds(std::move(spec));
    return Value(ValueKind::kUnknown);
  }
  return add_node(std::move(spec));
}

// DALI code seeds two draws alike to use one draw twice, as for an image and its mask.
void Evaluator::note_same_seed(const op::Operator& op, int64_t seed, Span span) {
  if (in_library(span)) return;
  auto [first, is_new] = seeds_.try_emplace({op.name, seed}, span);
  if (is_new) return;
  Diagnostic diagnostic = diagnose(Message::kSameSeed, span, {op.name, std::to_string(seed)});
  if (first->second != span) diagnostic.labels.push_back({first->second, "the first one"});
  report(std::move(diagnostic));
}

}  // namespace galatea::dsl
