// Calls of operators that failed, or of which not all is known: what they give all the same, so that all that
// follows is checked. In: a call without the arguments that are missing. Out: data nodes of its types, or poison.
#include <algorithm>
#include <charconv>

#include "compiler/op/recovery.h"
#include "compiler/op/schema.h"
#include "dsl/evaluator.h"
#include "dsl/operator_text.h"
#include "dsl/pixel.h"

namespace galatea::dsl {

Value Evaluator::recover(op::GraphBuilder::NodeSpec call, std::vector<std::string> missing) {
  // What the library makes of arguments of its own is no matter of the text; an element has no types to keep.
  if (pixel_ || in_library(call.span) || call.op->gives_dictionary) return Value::poison();
  has_unknown_calls_ = true;
  const auto make_value = [&](DType dtype, int ndim) {
    ir::Type type;
    type.dtype = dtype;
    type.ndim = ndim;
    type.extents.assign(static_cast<size_t>(ndim), -1);
    return graph_->node(op::add_unknown(*graph_, block_, {type}, {}, call.span)).outputs[0];
  };
  op::RecoveredCall recovered = op::recover_call(*graph_, call, std::move(missing), make_value);
  for (Diagnostic& diagnostic : recovered.errors)
    report_refused(std::move(diagnostic), call.span, call.inputs, {});
  if (!recovered.types || recovered.types->empty()) return Value::poison();
  std::vector<ir::ValueId> operands = call.inputs;
  for (const ir::Arg& arg : call.args)
    if (arg.is_value()) operands.push_back(arg.as_value());
  const ir::NodeId node = op::add_unknown(*graph_, block_, *recovered.types, std::move(operands), call.span);
  std::vector<Value> values;
  for (const ir::ValueId output : graph_->node(node).outputs) values.push_back(Value::of_node(output));
  return values.size() == 1 ? values[0] : make_tuple(std::move(values));
}

Value Evaluator::recover_refused(op::GraphBuilder::NodeSpec call, const Error& error) {
  const ir::Arg* wrong = error.kind == ErrorKind::kUser && !error.diagnostics.empty()
                             ? op::argument_of_error(call, error.diagnostics[0])
                             : nullptr;
  if (wrong == nullptr) {
    if (error.kind != ErrorKind::kUser || call.op->internal) return Value::poison();
    // A call without data gives the same error for any types of data, and may ask another machine each time.
    if (call.inputs.empty()) return report_wrong_kinds(std::move(call));
    std::vector<ir::ValueId> unknown(call.inputs.size(), ir::kNoId);
    return check_beside_poison(std::move(call), std::move(unknown), {});
  }
  const std::string name = wrong->name;
  std::erase_if(call.args, [&](const ir::Arg& arg) { return arg.name == name; });
  return recover(std::move(call), {name});
}

namespace {

/// The texts in quotes of a sentence.
std::vector<std::string> quoted_texts(std::string_view sentence) {
  std::vector<std::string> texts;
  for (size_t at = 0; (at = sentence.find('"', at)) != std::string_view::npos;) {
    const size_t end = sentence.find('"', at + 1);
    if (end == std::string_view::npos) break;
    texts.emplace_back(sentence.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

bool reads_as_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// What stands for `text`, which was given in quotes, where the help asks for another kind; empty: unknown.
std::string without_quotes(const std::string& text, std::string_view message, std::string_view help) {
  const bool wants_number = help.starts_with("write a number") || help.starts_with("write numbers") ||
                            message.contains("must be a positive integer") ||
                            message.contains("must be an integer");
  if (wants_number) return reads_as_number(text) ? text : "";
  if (message.contains("must be a type such as") || message.contains("must be an element type")) {
    const auto near = closest_match(text, {"uint8", "uint16", "int8", "int16", "int32", "int64", "float32",
                                           "float64", "float16", "bool"});
    const std::string type = type_named(text);
    return type.empty() && near ? type_named(*near) : type;
  }
  if (message.contains("must be an interpolation type")) {
    const std::string type = type_named(text);
    if (type.starts_with("types.INTERP_")) return type;
    const auto near =
        closest_match(text, {"linear", "cubic", "lanczos", "gaussian", "triangular", "nearest"});
    return near ? type_named(*near) : "";
  }
  if (!help.contains("=True or ")) return {};
  if (text == "True" || text == "true") return "True";
  return text == "False" || text == "false" ? "False" : "";
}

}  // namespace

// Where a text is refused and the message or the help lists those that are taken, the one that was meant; where
// something else than a text is taken, what stands in the quotes.
void Evaluator::suggest_value(Diagnostic& diagnostic) const {
  const std::string given = source_text(sources_, diagnostic.span);
  if (given.size() < 3 || given.front() != given.back() || (given[0] != '"' && given[0] != '\'')) return;
  const std::string text = given.substr(1, given.size() - 2);
  if (const std::string bare = without_quotes(text, diagnostic.message, diagnostic.help); !bare.empty()) {
    diagnostic.help = (bare == text ? "take the quotes away: `" : "write `") + bare + "`";
    diagnostic.edits.push_back({diagnostic.span, bare, true});
    return;
  }
  const std::string message = diagnostic.message.substr(0, diagnostic.message.find(", but is"));
  const auto meant = closest_match(text, quoted_texts(diagnostic.help.empty() ? message : diagnostic.help));
  if (!meant) return;
  diagnostic.help =
      "did you mean `\"" + *meant + "\"`?" + (diagnostic.help.empty() ? "" : " " + diagnostic.help);
  diagnostic.edits.push_back({diagnostic.span, "\"" + *meant + "\"", false});
}

namespace {

// Types that data has, the commonest first: what is wrong with all of them does not depend on the input.
std::vector<ir::Type> types_of_data() {
  std::vector<ir::Type> types;
  const auto add = [&](DType dtype, const char* layout, int ndim) {
    ir::Type& type = types.emplace_back();
    type.dtype = dtype;
    type.ndim = ndim;
    type.layout = layout;
    type.extents.assign(static_cast<size_t>(ndim), -1);
  };
  for (const DType dtype : {DType::kU8, DType::kF32, DType::kI32, DType::kI16, DType::kI8, DType::kU16,
                            DType::kF16, DType::kI64, DType::kU32, DType::kF64, DType::kU64, DType::kBool}) {
    add(dtype, "HWC", 3);
    add(dtype, "", 1);
    add(dtype, "", 2);
    add(dtype, "FHWC", 4);
    add(dtype, "CHW", 3);
    add(dtype, "", 0);
    add(dtype, "DHWC", 4);
    add(dtype, "", 4);
  }
  return types;
}

bool is_same_error(const Diagnostic& a, const Diagnostic& b) {
  return a.span == b.span && a.message == b.message;
}

}  // namespace

// Of a call whose inputs failed, what its arguments tell alone: their kinds, and the errors that they have with
// every type of data that the operator takes.
Value Evaluator::check_beside_poison(op::GraphBuilder::NodeSpec call, std::vector<ir::ValueId> inputs,
                                     std::vector<std::string> missing) {
  const size_t errors = sink_.num_errors();
  call.inputs.clear();
  report_wrong_kinds(call);
  if (sink_.num_errors() > errors || pixel_ || in_library(call.span) || call.op->typed_by_host ||
      call.args.empty() || ++checked_beside_poison_ > kMostBesidePoison)
    return Value::poison();
  if (unknown_data_.empty())
    for (const ir::Type& type : types_of_data())
      unknown_data_.push_back(graph_->node(op::add_unknown(*graph_, 0, {type}, {}, {})).outputs[0]);
  has_unknown_calls_ = true;
  const auto make_value = [&](DType, int) { return unknown_data_[0]; };
  std::optional<std::vector<Diagnostic>> found;
  // Inputs behind the first are often rows of numbers: anchors and shapes of windows, boxes of a picture.
  std::vector<std::pair<ir::ValueId, ir::ValueId>> possible;
  for (const ir::ValueId data : unknown_data_) possible.emplace_back(data, data);
  const auto row = std::ranges::find_if(unknown_data_, [&](ir::ValueId data) {
    return graph_->type(data).dtype == DType::kF32 && graph_->type(data).ndim == 1;
  });
  if (std::ranges::count(inputs, ir::kNoId) > 1)
    for (const ir::ValueId data : unknown_data_) possible.emplace_back(data, *row);
  if (inputs.empty()) possible.resize(1);  // all of them are the same call
  for (const auto& [data, rest] : possible) {
    op::GraphBuilder::NodeSpec asked = call;
    for (const ir::ValueId input : inputs)
      asked.inputs.push_back(input != ir::kNoId ? input : asked.inputs.empty() ? data : rest);
    op::RecoveredCall recovered = op::recover_call(*graph_, asked, missing, make_value);
    if (recovered.errors.empty() && recovered.types) return Value::poison();
    if (recovered.errors.empty()) continue;
    const auto is_elsewhere = [&](const Diagnostic& error) {
      return std::ranges::none_of(recovered.errors,
                                  [&](const Diagnostic& other) { return is_same_error(error, other); });
    };
    if (found)
      std::erase_if(*found, is_elsewhere);
    else
      found = std::move(recovered.errors);
    if (found->empty()) return Value::poison();
  }
  if (!found) return Value::poison();
  for (Diagnostic& diagnostic : *found) {
    diagnostic.notes.clear();  // of types that the text does not have
    diagnostic.labels.clear();
    report_refused(std::move(diagnostic), call.span, {}, {});
  }
  return Value::poison();
}

// The kinds of arguments alone.
Value Evaluator::report_wrong_kinds(op::GraphBuilder::NodeSpec call) {
  for (ir::Arg& arg : call.args) {
    const op::ArgSpec* spec = call.op->find_arg(arg.name);
    if (!spec || arg.is_value()) continue;
    if (Status checked = op::check_static_argument(*call.op, *spec, arg, arg.span); !checked)
      report_refused(checked.error().diagnostics[0], call.span, {}, {});
  }
  return Value::poison();
}

}  // namespace galatea::dsl
