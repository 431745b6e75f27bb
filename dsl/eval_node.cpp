// What the text does with data nodes: arithmetic, constants, indexing, stacking, methods. In: values. Out:
// nodes of the operators of the language.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/attr.h"
#include "compiler/op/devices.h"
#include "compiler/op/schema.h"
#include "dsl/array.h"
#include "dsl/bundles.h"
#include "dsl/evaluator.h"
#include "dsl/pixel.h"
#include "dsl/suggest.h"

namespace galatea::dsl {

std::vector<CallSite> Evaluator::call_chain() const {
  std::vector<CallSite> chain;
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (call->span.valid() && !in_library(call->span)) chain.push_back({call->span, call->function});
  }
  return chain;
}

std::string Evaluator::type_text(const Value& value) const {
  if (value.is_node() && graph_) return "a data node of type " + ir::to_text(type_of(value));
  if (value.is_number() || value.is(ValueKind::kString)) {
    bool long_text = value.is(ValueKind::kString) && value.text().size() > 40;
    std::string shown = long_text ? "" : repr(value);
    if (!long_text && shown.size() < 40) return "`" + shown + "`";
  }
  return describe_kind(value);
}

namespace {

// What a node takes in the graph, about.
size_t bytes_of(const op::GraphBuilder::NodeSpec& spec) {
  size_t bytes = sizeof(ir::Node) + sizeof(ir::Value) + spec.inputs.size() * sizeof(ir::ValueId) +
                 spec.name.size() + spec.calls.size() * sizeof(CallSite);
  for (const ir::Arg& arg : spec.args) {
    bytes += sizeof(ir::Arg) + arg.name.size();
    if (arg.is_value()) continue;
    const auto* text = std::get_if<std::string>(&arg.as_attr());
    bytes += text ? text->size() : static_cast<size_t>(ir::attr_length(arg.as_attr())) * sizeof(int64_t);
  }
  return bytes;
}

}  // namespace

// Where the inputs of a refused call come from, with their types.
void Evaluator::label_inputs(Diagnostic& diagnostic, const std::vector<ir::ValueId>& inputs) const {
  constexpr size_t kMost = 3;
  if (diagnostic.severity != Severity::kError || !diagnostic.labels.empty() || inputs.size() > kMost) return;
  for (const ir::ValueId input : std::set<ir::ValueId>(inputs.begin(), inputs.end())) {
    const ir::Node* maker = graph_->defining_node(input);
    if (maker == nullptr || !maker->span.valid() || maker->span == diagnostic.span) continue;
    diagnostic.labels.push_back({maker->span, "this is of type " + ir::to_text(graph_->type(input))});
  }
}

void Evaluator::report_refused(Diagnostic diagnostic, Span span, const std::vector<ir::ValueId>& inputs,
                               const std::vector<ir::ValueId>& wanted) {
  for (const auto& [feed, has_frames] : feeds_of(wanted))
    diagnostic.notes.push_back("samples of the input `" + feed + "` differ in extents");
  if (!diagnostic.span.valid()) diagnostic.span = span;
  if (in_library(span)) add_label(diagnostic, span, "here in the library");
  label_inputs(diagnostic, inputs);
  report(std::move(diagnostic));
}

Value Evaluator::add_node(op::GraphBuilder::NodeSpec spec) {
  if (!graph_has_room(spec.span)) return Value::poison();
  spec.calls = call_chain();
  arena.count(bytes_of(spec));
  const op::Operator& op = *spec.op;
  Span span = spec.span;
  const bool of_library = in_library(span);
  // A policy of the library states its own numbers; the user's calls follow the pipeline where they can.
  if (!of_library && op::find_preset(op, compat_) != nullptr &&
      std::ranges::find(spec.args, op::kCompatArg, &ir::Arg::name) == spec.args.end())
    spec.args.push_back({std::string(op::kCompatArg), ir::Attr(std::string(op::name_of(compat_))), span});
  // What fails when data flows points at the user's call.
  if (of_library) {
    spec.span = user_span(span);
    std::erase_if(spec.calls, [&](const CallSite& call) { return call.span == spec.span; });
    for (ir::Arg& arg : spec.args) arg.span = user_span(arg.span);
  }
  // Sources stand in the entry, so that they advance for every sample.
  ir::BlockId here = builder_->insertion_block();
  if (op.source && here != 0) {
    builder_->set_insertion_block(0);
    note(Message::kSourceHoisted, span, {"fn." + op.name});
  }
  const op::GraphBuilder::NodeSpec call = spec;
  Result<ir::NodeId> added = builder_->add_node(std::move(spec));
  builder_->set_insertion_block(here);
  const std::vector<ir::ValueId> wanted = builder_->wanted_extents();
  if (!wanted.empty() && wait_for_extents(wanted, !added, span)) return Value(ValueKind::kUnknown);
  if (!added) {
    for (const Diagnostic& diagnostic : added.error().diagnostics)
      report_refused(diagnostic, span, call.inputs, wanted);
    return of_library ? Value::poison() : recover_refused(call, added.error());
  }
  if (pixel_ && pixel_->owns_block(graph_->node(*added).block) && !adopt_node(*added, span))
    return Value::poison();
  const std::vector<ir::ValueId>& outputs = graph_->node(*added).outputs;
  if (op.gives_dictionary) {
    const std::vector<Port> ports = op::output_ports(*graph_, graph_->node(*added));
    Value by_name = make_dict(span);
    for (size_t k = 0; k < outputs.size(); ++k) {
      Value key = make_string(ports[k].name);
      by_name.dict().set(key_of(key), key, Value::of_node(outputs[k]));
    }
    return by_name;
  }
  if (outputs.size() == 1) return Value::of_node(outputs[0]);
  if (outputs.empty()) return Value::none();
  std::vector<Value> values;
  for (ir::ValueId output : outputs) values.push_back(Value::of_node(output));
  return make_tuple(std::move(values));
}

Value Evaluator::node_operator(const std::string& name, const std::vector<Value>& operands, Span span,
                               std::vector<ir::Arg> args) {
  const op::Operator* op = registry_.find(name);
  if (!op) return fail(Message::kMissingOperator, span, {name});
  if (std::ranges::any_of(operands, is_bundle)) {
    std::vector<Value> pictures;
    std::ranges::transform(operands, std::back_inserter(pictures), picture_of);
    return Bundles(*this).carry(
        node_operator(name, pictures, span, std::move(args)), operands,
        {name.starts_with("arith.") ? "arithmetic" : "`" + op::display_name(*op) + "`", span});
  }
  op::GraphBuilder::NodeSpec spec;
  spec.op = op;
  spec.span = span;
  for (const Value& operand : operands) {
    Value node = operand.is_node() ? operand : constant_node(operand, span);
    if (!node.is_node()) return Value::poison();
    spec.inputs.push_back(node.node);
  }
  spec.args = std::move(args);
  return add_node(std::move(spec));
}

// ---- constants ----

namespace {

// Numbers of a static value in row-major order, and its shape; false if it is not a box of numbers.
bool flatten(const Value& given, size_t axis, std::vector<int64_t>& shape, std::vector<Value>& out) {
  const Value value = plain(given);
  if (value.is_number()) {
    if (axis != shape.size()) return false;
    out.push_back(value);
    return out.size() <= 1'000'000;
  }
  if (!value.is_sequence() || axis > 16) return false;
  auto size = static_cast<int64_t>(value.elements().size());
  if (out.empty() && axis == shape.size()) shape.push_back(size);
  if (axis >= shape.size() || shape[axis] != size) return false;
  return std::all_of(value.elements().begin(), value.elements().end(),
                     [&](const Value& v) { return flatten(v, axis + 1, shape, out); });
}

}  // namespace

Value Evaluator::constant_node(const Value& value, Span span, std::optional<DType> dtype, std::string layout,
                               std::vector<int64_t> shape, const std::string& device) {
  if (value.is_poison()) return Value::poison();
  if (!graph_) return fail(Message::kOutsidePipeline, span, {"a constant"});
  std::vector<int64_t> extents;
  std::vector<Value> numbers;
  if (value.is(ValueKind::kArray)) {
    const auto& array = value.as<ArrayObject>();
    extents = array.shape;
    numbers = array.elements;
    // Its own type. Arrays of 64 bits are narrowed as in DALI; scalars of 64-bit integers are not.
    const DType own = array.dtype;
    if (!dtype)
      dtype = own == DType::kF64                       ? DType::kF32
              : own == DType::kI64 && !extents.empty() ? DType::kI32
              : own == DType::kU64 && !extents.empty() ? DType::kU32
                                                       : own;
  } else if (!flatten(value, 0, extents, numbers)) {
    Diagnostic diagnostic = diagnose(Message::kNotConstant, span, {type_text(value)});
    if (value.is(ValueKind::kBuiltin))
      diagnostic.help = "a method is called with brackets: `" + value.as<BuiltinObject>().name + "()`";
    if (value.is(ValueKind::kString))
      diagnostic.help =
          "data holds numbers: compare a label with the number of its class, as in `label[0] == 3`";
    return report(std::move(diagnostic));
  }
  auto any = [&](ValueKind kind) {
    return std::any_of(numbers.begin(), numbers.end(), [&](const Value& v) { return v.is(kind); });
  };
  bool floats = any(ValueKind::kFloat);
  DType type = dtype.value_or(floats || numbers.empty() ? DType::kF32
                              : any(ValueKind::kInt)    ? DType::kI32
                                                        : DType::kBool);
  if (!is_float(type)) {
    for (const Value& number : numbers) {
      bool whole = number.is_integral() ||
                   (number.number == std::floor(number.number) && std::fabs(number.number) < 9e18);
      int64_t exact = !whole                 ? 0
                      : number.is_integral() ? number.as_int()
                                             : static_cast<int64_t>(number.number);
      bool fits = type == DType::kU64 ? exact >= 0 : exact >= min_int(type) && exact <= max_int(type);
      if (!whole || !fits)
        return fail(Message::kConstantRange, span, {repr(number), std::string(types_name(type))});
    }
  }
  // `np.full` and its like: one number for the whole shape.
  const bool uniform =
      numbers.size() > 64 && std::all_of(numbers.begin(), numbers.end(), [&](const Value& v) {
        return std::bit_cast<uint64_t>(v.as_double()) == std::bit_cast<uint64_t>(numbers[0].as_double()) &&
               v.is_integral() == numbers[0].is_integral() &&
               (!v.is_integral() || v.as_int() == numbers[0].as_int());
      });
  if (uniform) numbers.resize(1);
  const op::Operator* op = registry_.find("constant");
  if (!op) return fail(Message::kMissingOperator, span, {"constant"});
  op::GraphBuilder::NodeSpec spec;
  spec.op = op;
  spec.span = span;
  if (floats) {
    std::vector<double> list;
    for (const Value& number : numbers) list.push_back(number.as_double());
    spec.args.push_back({"value", ir::Attr(std::move(list)), span});
  } else {
    std::vector<int64_t> list;
    for (const Value& number : numbers) list.push_back(number.as_int());
    spec.args.push_back({"value", ir::Attr(std::move(list)), span});
  }
  spec.args.push_back({"dtype", ir::Attr(type), span});
  spec.args.push_back({"shape", ir::Attr(shape.empty() ? extents : shape), span});
  if (!layout.empty()) spec.args.push_back({"layout", ir::Attr(layout), span});
  if (!device.empty()) spec.args.push_back({std::string(op::kDeviceArg), ir::Attr(device), span});
  return add_node(std::move(spec));
}

Value Evaluator::stack_nodes(const std::vector<Value>& elements, Span span) {
  std::optional<DType> common;
  for (const Value& given : elements) {
    const Value element = plain(given);
    if (element.is_poison()) return Value::poison();
    if (!element.is_node() && !element.is_number())
      return fail(Message::kStackKinds, span, {describe_kind(element)});
    DType own = element.is_node()               ? type_of(element).dtype
                : element.is(ValueKind::kFloat) ? DType::kF32
                : element.is(ValueKind::kInt)   ? DType::kI32
                                                : DType::kBool;
    common = common ? promote(*common, own) : own;
  }
  std::vector<Value> nodes;
  for (const Value& given : elements) {
    const Value element = plain(given);
    Value node = element;
    if (!element.is_node()) {
      node = constant_node(element, span, *common);
    } else if (type_of(element).dtype != *common) {
      node = node_operator("cast", {element}, span, {{"dtype", ir::Attr(*common), span}});
    }
    nodes.push_back(node);
  }
  return node_operator("stack", nodes, span);
}

// ---- indexing ----

namespace {

// ":, :"
std::string colons(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += i > 0 ? ", :" : ":";
  return out;
}

}  // namespace

Value Evaluator::node_index(const Value& base, const Expression& index, Span span) {
  std::vector<const Expression*> selectors;
  if (index.kind == ExpressionKind::kTuple && !index.operands.empty()) {
    for (const ExpressionPtr& operand : index.operands) selectors.push_back(operand.get());
  } else {
    selectors.push_back(&index);
  }
  std::vector<std::string> kinds, names;
  std::vector<ir::Arg> args;
  int axes = 0;
  auto add = [&](std::string_view part, size_t k, const Value& value, Span at) {
    std::string name = fmt::format("{}_{}", part, k);
    if (value.is_node())
      args.push_back({name, value.node, at});
    else
      args.push_back({name, ir::Attr(value.as_int()), at});
  };
  auto good = [&](const Value& value, const Expression& e) {
    if (value.is_poison()) return false;
    if (value.is_integral() && !value.is(ValueKind::kBool)) return true;
    bool scalar = value.is_node() && type_of(value).ndim == 0 && !is_float(type_of(value).dtype);
    if (scalar) return true;
    Diagnostic diagnostic = diagnose(Message::kNodeIndexKind, e.span, {type_text(value)});
    if (value.is(ValueKind::kEllipsis)) {
      const int left = type_of(base).ndim - static_cast<int>(selectors.size()) + 1;
      if (left > 0)
        diagnostic.help = "write a colon for each axis that it stands for: `" + colons(left) + "`";
    } else if (value.is_node() && type_of(value).dtype == DType::kBool) {
      diagnostic.help = "multiply by the mask, as in `x * (x > 3)`: all samples keep their extents";
    }
    report(std::move(diagnostic));
    return false;
  };
  for (size_t k = 0; k < selectors.size(); ++k) {
    const Expression& e = *selectors[k];
    if (e.kind == ExpressionKind::kSlice) {
      kinds.emplace_back("slice");
      ++axes;
      constexpr std::string_view kParts[] = {"lo", "hi", "step"};
      for (size_t i = 0; i < 3; ++i) {
        if (!e.operands[i]) continue;
        Value part = eval(*e.operands[i]);
        if (!alive()) return Value::poison();
        part = plain(part);
        if (part.is(ValueKind::kNone)) continue;
        if (!good(part, *e.operands[i])) return Value::poison();
        if (i == 2 && part.is_integral() && part.as_int() == 0)
          return fail(Message::kZeroStep, e.operands[i]->span);
        add(kParts[i], k, part, e.operands[i]->span);
      }
      continue;
    }
    Value selector = plain(eval(e));
    if (!alive()) return Value::poison();
    if (selector.is(ValueKind::kNewAxis)) {
      kinds.emplace_back("newaxis");
      names.resize(kinds.size());
      names.back() = selector.as<NewAxisObject>().name;
      continue;
    }
    if (selector.is(ValueKind::kNone)) {  // a whole axis, as in DALI
      note(Message::kNoEffect, e.span,
           {"`None`",
            "it takes the whole axis, as in DALI; `dali.newaxis` or `fn.expand_dims` makes a new one"});
      kinds.emplace_back("slice");
      ++axes;
      continue;
    }
    if (!good(selector, e)) return Value::poison();
    kinds.emplace_back("int");
    ++axes;
    add("at", k, selector, e.span);
  }
  if (axes > type_of(base).ndim)
    return fail(Message::kTooManySelectors, span, {std::to_string(axes), ir::to_text(type_of(base))});
  args.insert(args.begin(), {"kinds", ir::Attr(kinds), span});
  if (!names.empty()) {
    names.resize(kinds.size());
    args.push_back({"names", ir::Attr(names), span});
  }
  return node_operator("index", {base}, span, std::move(args));
}

// ---- methods ----

// `.gpu()` and `.cpu()`; where it lies already, nothing happens.
Value Evaluator::move_node(const Value& node, ir::Device to, Span span) {
  if (type_of(node).device == to) return node;
  const bool gpu = to == ir::Device::kGpu;
  std::vector<ir::Arg> args;
  if (gpu) args.push_back({std::string(op::kDeviceArg), ir::Attr(std::string("gpu")), span});
  return node_operator(std::string(gpu ? op::kToGpu : op::kToCpu), {node}, span, std::move(args));
}

// One note, and none beside errors: what does not run needs no word about where.
void Evaluator::note_device(Span span, const std::string& what) {
  const HostOptions& host = options_.host;
  if (!device_note_ && host.device == "auto" && !host.gpu_is_here) device_note_.emplace(span, what);
}

namespace {

Value method_shape(Evaluator& evaluator, CallArguments& arguments) {
  std::vector<ir::Arg> args;
  for (size_t i = 0; i < arguments.positional.size() || i < 1; ++i) {
    if (i >= arguments.positional.size()) break;
    arguments.keywords.push_back(
        {i == 0 ? "dtype" : "device", arguments.positional[i], arguments.spans[i], arguments.spans[i]});
  }
  for (const CallArguments::Keyword& keyword : arguments.keywords) {
    bool is_dtype = keyword.name == "dtype" && keyword.value.is(ValueKind::kDType);
    bool is_device = keyword.name == "device" && keyword.value.is(ValueKind::kString);
    if (is_dtype) {
      args.push_back({"dtype", ir::Attr(keyword.value.dtype), keyword.span});
    } else if (is_device) {
      if (keyword.value.text() != "cpu")
        evaluator.note_device(keyword.span, "`device=\"" + keyword.value.text() + "\"`");
      args.push_back({std::string(op::kDeviceArg), ir::Attr(keyword.value.text()), keyword.span});
    } else {
      return evaluator.fail(Message::kBadArgument, keyword.span, {"shape", "`dtype=` and `device=`"});
    }
  }
  return evaluator.node_operator("shapes", {arguments.self}, arguments.span, std::move(args));
}

Value method_gpu(Evaluator& evaluator, CallArguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty())
    return evaluator.fail(Message::kBadArgument, arguments.span, {arguments.name, "no arguments"});
  evaluator.note_device(arguments.span, "`.gpu()`");
  return evaluator.move_node(arguments.self, ir::Device::kGpu, arguments.span);
}

Value method_property(Evaluator& evaluator, CallArguments& arguments) {
  const bool by_name =
      arguments.positional.empty() && arguments.keywords.size() == 1 && arguments.keywords[0].name == "key";
  const bool by_place = arguments.positional.size() == 1 && arguments.keywords.empty();
  if (!by_name && !by_place)
    return evaluator.fail(Message::kBadArgument, arguments.span, {"property", "one key"});
  const Value& key = by_name ? arguments.keywords[0].value : arguments.positional[0];
  const Span span = by_name ? arguments.keywords[0].span : arguments.spans[0];
  if (key.is_poison()) return Value::poison();
  if (!key.is(ValueKind::kString))
    return evaluator.fail(Message::kBadArgument, span,
                          {"property", "a text, as in `x.property(\"layout\")`"});
  return evaluator.node_operator("get_property", {arguments.self}, arguments.span,
                                 {{"key", ir::Attr(key.text()), span}});
}

Value method_source_info(Evaluator& evaluator, CallArguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty())
    return evaluator.fail(Message::kBadArgument, arguments.span, {arguments.name, "no arguments"});
  return evaluator.node_operator("get_property", {arguments.self}, arguments.span,
                                 {{"key", ir::Attr(std::string("source_info")), arguments.span}});
}

Value method_cpu(Evaluator& evaluator, CallArguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty())
    return evaluator.fail(Message::kBadArgument, arguments.span, {arguments.name, "no arguments"});
  return evaluator.move_node(arguments.self, ir::Device::kCpu, arguments.span);
}

// The type that a method of a constant gives it: `types.Constant(3).uint8()`.
std::optional<DType> constant_type(std::string_view method) {
  if (method == "float32") return DType::kF32;
  std::string name(method);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name == method ? std::nullopt : dtype_from_types_name(name);
}

Value method_constant_type(Evaluator& evaluator, CallArguments& arguments) {
  if (!arguments.positional.empty() || !arguments.keywords.empty())
    return evaluator.fail(Message::kBadArgument, arguments.span, {arguments.name, "no arguments"});
  return evaluator.node_operator("cast", {arguments.self}, arguments.span,
                                 {{"dtype", ir::Attr(*constant_type(arguments.name)), arguments.span}});
}

// What stands before the dot of `image.mean`, where it is short enough to repeat in a help.
std::string text_before_dot(const SourceMap& sources, Span whole, Span name) {
  constexpr size_t kLongest = 32;
  const SourceFile* file = sources.file(whole.file);
  if (file == nullptr || name.begin <= whole.begin + 1 || name.begin - whole.begin > kLongest) return {};
  std::string text = file->text().substr(whole.begin, name.begin - 1 - whole.begin);
  return text.find_first_of("\n#") == std::string::npos ? text : "";
}

}  // namespace

Value Evaluator::node_attribute(const Value& node, const std::string& name, Span span, Span name_span) {
  if (auto extent = pixel_attribute(node, name, span)) return *extent;
  if (name == "shape") return make_builtin("shape", method_shape, node);
  if (name == "gpu") return make_builtin("gpu", method_gpu, node);
  if (name == "cpu") return make_builtin("cpu", method_cpu, node);
  if (name == "property") return make_builtin("property", method_property, node);
  if (name == "source_info") return make_builtin("source_info", method_source_info, node);
  // types.Constant(3).uint8()
  const ir::Node* maker = constant_type(name) && graph_ ? graph_->defining_node(node.node) : nullptr;
  if (maker && maker->op && maker->op->name == "constant")
    return make_builtin(name, method_constant_type, node);
  if (name == "dtype" || name == "ndim" || name == "layout") {
    Diagnostic diagnostic = diagnose(Message::kNodeProperty, name_span, {name, type_text(node)});
    const ir::Type& type = type_of(node);
    const std::string known = name == "ndim"    ? std::to_string(type.ndim)
                              : name == "dtype" ? "types." + std::string(types_name(type.dtype))
                                                : "\"" + type.layout.str() + "\"";
    diagnostic.help = "it is known when the text is written: `" + known + "`";
    diagnostic.edits.push_back({span, known, false});
    if (name == "dtype") add_import_of(diagnostic, "types");
    return report(std::move(diagnostic));
  }
  Diagnostic diagnostic = diagnose(Message::kNoAttribute, name_span, {type_text(node), name});
  std::string base = text_before_dot(sources_, span, name_span);
  const op::Operator* op = registry_.find(name);
  const bool of_pixels = in_pixel_function_ > 0 || pixel_;
  const Suggestion* known = of_pixels ? nullptr : find_suggestion(Place::kNodeMember, "", name);
  if (known != nullptr)
    diagnostic.help = help_of(*known, base);
  else if (op && !op->internal)
    diagnostic.help = fmt::format("operators are functions: `fn.{}({}, …)`", name, base.empty() ? "x" : base);
  else if (of_pixels)
    diagnostic.help = did_you_mean(name, {"height", "width", "channels", "bilinear", "shape"});
  else
    diagnostic.help = did_you_mean(name, {"shape", "gpu", "cpu"});
  return report(std::move(diagnostic));
}

}  // namespace galatea::dsl
