// Types of what the host feeds: stated in the text, by the host, or left open until data comes. In: the call
// of a source that the host types. Out: its declared type, or the news that there is none yet.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"
#include "dsl/evaluator.h"

namespace galatea::dsl {
namespace {

/// The argument's value; nullptr where it was not given.
template <typename T>
const T* given(const op::GraphBuilder::NodeSpec& spec, std::string_view name) {
  for (const ir::Arg& arg : spec.args)
    if (arg.name == name && !arg.is_value()) return std::get_if<T>(&arg.as_attr());
  return nullptr;
}

// "input `x`", "inputs `x`, `y`".
std::string inputs_text(std::string_view word, const std::vector<std::string>& names) {
  return fmt::format("{}{} `{}`", word, names.size() == 1 ? "" : "s", fmt::join(names, "`, `"));
}

constexpr int64_t kMostOutputs = 1000;

CallArguments::Keyword* keyword_of(CallArguments& arguments, std::string_view name) {
  auto found = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                            [&](const CallArguments::Keyword& keyword) { return keyword.name == name; });
  return found == arguments.keywords.end() || found->value.is(ValueKind::kNone) ? nullptr : &*found;
}

}  // namespace

// A call of a source that the host types: one input, or with `num_outputs` a list of them.
Value Evaluator::call_source(const op::Operator& op, const std::string& path, CallArguments& arguments) {
  const size_t known = inputs_.size();
  // What stands there by position is a source.
  if (!arguments.positional.empty()) {
    if (arguments.positional[0].is_poison()) return Value::poison();
    arguments.keywords.push_back({"source", arguments.positional[0], arguments.spans[0], arguments.spans[0]});
    arguments.positional.clear();
    arguments.spans.clear();
  }
  const CallArguments::Keyword* count = keyword_of(arguments, "num_outputs");
  Value result = count ? call_sources(op, path, arguments, CallArguments::Keyword(*count))
                       : call_operator_once(op, path, arguments, 0);
  std::vector<std::string> late;
  for (size_t i = known; i < inputs_.size(); ++i) {
    if (!inputs_[i].type) late.push_back(inputs_[i].name);
  }
  if (!late.empty()) note(Message::kLateInput, arguments.span, {inputs_text("input", late)});
  return result;
}

// Each output is an input with a name of its own. Types are given for all, or in lists; DALI leaves open what
// a short list does not reach, and so do we.
Value Evaluator::call_sources(const op::Operator& op, const std::string& path, CallArguments& arguments,
                              const CallArguments::Keyword& count) {
  if (count.value.is_poison()) return Value::poison();
  const int64_t outputs = count.value.is_integral() ? count.value.as_int() : 0;
  if (outputs < 1 || outputs > kMostOutputs)
    return fail(Message::kArgumentKind, count.span,
                {"num_outputs", "a number from 1 to " + std::to_string(kMostOutputs), repr(count.value)});
  if (const CallArguments::Keyword* name = keyword_of(arguments, "name"))
    return fail(Message::kNamedOutputs, name->name_span, {"fn." + path});
  for (const char* listed : {"dtype", "ndim", "layout"}) {
    const CallArguments::Keyword* types = keyword_of(arguments, listed);
    if (!types || !types->value.is_sequence()) continue;
    const size_t given = types->value.elements().size();
    if (given > static_cast<size_t>(outputs))
      return fail(Message::kOutputsListed, types->span,
                  {listed, std::to_string(given), std::to_string(outputs)});
  }
  std::erase_if(arguments.keywords, [](const auto& keyword) { return keyword.name == "num_outputs"; });
  std::vector<Value> results;
  std::vector<std::string> names;
  size_t number = 0;
  for (size_t i = 0; i < static_cast<size_t>(outputs); ++i, ++number) {
    CallArguments one = arguments;
    for (const char* listed : {"dtype", "ndim", "layout"}) {
      CallArguments::Keyword* types = keyword_of(one, listed);
      if (!types || !types->value.is_sequence()) continue;
      const std::vector<Value>& elements = types->value.elements();
      types->value = i < elements.size() ? elements[i] : Value::none();
    }
    while (node_names_.contains("input_" + std::to_string(number))) ++number;
    names.push_back("input_" + std::to_string(number));
    one.keywords.push_back({"name", make_string(names.back()), count.span, count.name_span});
    const size_t errors = sink_.num_errors();
    results.push_back(call_operator_once(op, path, one, static_cast<uint32_t>(i)));
    // A mistake of one call is one of all of them.
    if (sink_.num_errors() > errors) return Value::poison();
  }
  note(Message::kInputsOfCall, arguments.span, {"fn." + path, inputs_text("the input", names)});
  return make_list(std::move(results), arguments.span);
}

/// Notes what the host has to feed; `type`: if the operator says it.
void Evaluator::add_input(op::GraphBuilder::NodeSpec& spec, const std::optional<InputType>& type) {
  // The host feeds each input by its name: a second one without a name gets a number.
  auto taken = [this](const std::string& name) {
    return node_names_.contains(name) ||
           std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) { return input.name == name; });
  };
  for (int number = 1; spec.name.empty() && taken("input"); ++number) {
    const std::string candidate = "input_" + std::to_string(number);
    if (!taken(candidate)) spec.name = candidate;
  }
  const std::string name = spec.name.empty() ? "input" : spec.name;
  node_names_.emplace(name, spec.span);
  inputs_.push_back({name, spec.span, type, type.has_value()});
}

/// Fills in what the host says. False: nobody has said it; then what depends on the input stays unchecked.
bool Evaluator::complete_input_type(op::GraphBuilder::NodeSpec& spec) {
  add_input(spec, std::nullopt);
  const std::string name = inputs_.back().name;
  const auto* dtype = given<DType>(spec, "dtype");
  const auto* ndim = given<int64_t>(spec, "ndim");
  const auto* layout = given<std::string>(spec, "layout");
  if (layout && layout->empty()) layout = nullptr;
  const auto* shape = given<std::vector<int64_t>>(spec, "shape");
  std::optional<InputType>& known = inputs_.back().type;
  const auto found = options_.input_types.find(name);
  const bool is_told = found != options_.input_types.end();
  if (dtype && (ndim || layout || shape)) {
    const Layout axes = layout ? Layout(*layout) : Layout();
    const auto rank = ndim ? static_cast<int>(*ndim) : layout ? axes.size() : static_cast<int>(shape->size());
    known = InputType{*dtype, rank, axes, {}};
    inputs_.back().is_declared = true;
  } else {
    if (!is_told) return false;
    known = found->second;
  }
  const bool has_dtype = dtype, has_ndim = ndim, has_layout = layout;
  if (shape)
    known->extents = *shape;
  else if (is_told && !found->second.extents.empty())
    spec.args.push_back({"shape", ir::Attr(known->extents = found->second.extents), spec.span});
  if (inputs_.back().is_declared) return true;
  if (!has_dtype) spec.args.push_back({"dtype", ir::Attr(known->dtype), spec.span});
  if (!has_ndim) spec.args.push_back({"ndim", ir::Attr(int64_t{known->ndim}), spec.span});
  if (!has_layout && !has_ndim && !known->layout.empty()) {
    std::erase_if(spec.args, [](const ir::Arg& arg) { return arg.name == "layout"; });
    spec.args.push_back({"layout", ir::Attr(known->layout.str()), spec.span});
  }
  return true;
}

// Sources from which a value's extents may come; true: on the way there the first axis was said to count
// frames. What a native function makes has extents of its own.
void Evaluator::find_feeds(ir::ValueId value, bool has_frames, std::set<ir::ValueId>& seen,
                           std::map<std::string, bool>& feeds) const {
  if (!seen.insert(value).second) return;
  const ir::Node* node = graph_->defining_node(value);
  if (node == nullptr) {
    const ir::Value& merged = graph_->value(value);
    for (const ir::ValueId operand : graph_->block(merged.block).merges[merged.index].operands)
      find_feeds(operand, has_frames, seen, feeds);
    return;
  }
  has_frames = has_frames || graph_->type(value).layout.find(op::kFrameAxis) == 0;
  if (node->op->typed_by_host) feeds[node->name.empty() ? "input" : node->name] |= has_frames;
  if (node->op->source || node->op->kind == op::OperatorKind::kNative) return;
  for (const ir::ValueId input : node->inputs) find_feeds(input, has_frames, seen, feeds);
  for (const ir::Arg& arg : node->args)
    if (arg.is_value()) find_feeds(arg.as_value(), has_frames, seen, feeds);
}

std::map<std::string, bool> Evaluator::feeds_of(const std::vector<ir::ValueId>& values) const {
  std::set<ir::ValueId> seen;
  std::map<std::string, bool> feeds;
  for (const ir::ValueId value : values)
    if (graph_->type(value).static_volume() < 0) find_feeds(value, false, seen, feeds);
  return feeds;
}

// A type rule would know extents that its call does not have. Where the host feeds them, the first batch tells
// them: true, and what depends on the call is staged again with them. Of inputs that the text declares, only
// where the rule fails without: they are there so that the pipeline is compiled before it is fed.
bool Evaluator::wait_for_extents(const std::vector<ir::ValueId>& wanted, bool has_failed, Span span) {
  const std::map<std::string, bool> feeds = feeds_of(wanted);
  std::vector<std::string> waits;
  bool waits_at_all = false;
  for (LatePipeline::Input& input : inputs_) {
    const auto feed = feeds.find(input.name);
    if (feed == feeds.end() || !input.type || input.type->ndim == 0) continue;
    if (!input.type->extents.empty() || (input.is_declared && !has_failed)) continue;
    if (!input.wants_extents) waits.push_back(input.name);
    input.wants_extents = waits_at_all = true;
    input.counts_frames |= feed->second;
  }
  if (!waits.empty()) note(Message::kLateExtents, user_span(span), {inputs_text("input", waits)});
  return waits_at_all;
}

void Evaluator::fail_refused_argument(const op::Operator& op, const op::ArgSpec& schema, Span span) {
  report(op::refused_argument(op, schema, span));
}

}  // namespace galatea::dsl
