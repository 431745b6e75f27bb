// TypeContext, Registry and the look-up of arguments.
#include "compiler/op/operator.h"

#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/messages/messages.h"
#include "compiler/op/arguments.h"
#include "compiler/op/lifting.h"
#include "compiler/op/places.h"
#include "compiler/op/schema.h"

namespace galatea::op {

const ir::Arg* Arguments::find(std::string_view name) const {
  for (const ir::Arg& arg : args_)
    if (arg.name == name) return &arg;
  GALATEA_CHECK(is_hidden_arg(name) || op_.find_arg(name),
                op_.name + " declares no argument " + std::string(name));
  return nullptr;
}

bool Arguments::given(std::string_view name) const {
  const ir::Arg* arg = find(name);
  return arg && (arg->is_value() || !ir::is_none(arg->as_attr()));
}

bool Arguments::is_per_sample(std::string_view name) const {
  const ir::Arg* arg = find(name);
  return arg && arg->is_value();
}

const ir::Attr& Arguments::attr(std::string_view name) const {
  const ir::Arg* arg = find(name);
  if (arg) {
    GALATEA_CHECK(!arg->is_value(), op_.name + ": " + std::string(name) + " is per sample here");
    if (!ir::is_none(arg->as_attr())) return arg->as_attr();
  }
  const ArgSpec* spec = op_.find_arg(name);
  GALATEA_CHECK(spec, op_.name + " declares no argument " + std::string(name));
  return spec->default_value;
}

Layout assumed_layout(const Operator& op, int k, const ir::Type& type) {
  if (!type.layout.empty() || op.inputs.empty()) return type.layout;
  const Port& input = op.inputs[std::min(static_cast<size_t>(k), op.inputs.size() - 1)];
  for (const std::string& layout : input.layouts)
    if (static_cast<int>(layout.size()) == type.ndim) return Layout(layout);
  return {};
}

std::vector<Port> output_ports(const ir::Graph& graph, const ir::Node& node) {
  if (!node.op->outputs_of) return node.op->outputs;
  GraphBuilder::NodeSpec spec;
  spec.op = node.op;
  spec.inputs = node.inputs;
  spec.args = node.args;
  spec.span = node.span;
  const Lifting lifting(graph, *node.op, spec.inputs, spec.args);
  auto ports = node.op->outputs_of(TypeContext(graph, *node.op, spec, lifting));
  GALATEA_CHECK(ports.has_value(), node.op->name + " has no ports for a node that was checked");
  return std::move(*ports);
}

std::vector<ir::Type> types_of(const std::vector<Port>& ports) {
  std::vector<ir::Type> types;
  for (const Port& port : ports) {
    GALATEA_CHECK(port.is_concrete(), "a port that stands for no type: " + to_text(port));
    types.push_back({port.dtype(), port.rank(), port.layout(), ir::Device::kCpu, port.numbers()});
  }
  return types;
}

int TypeContext::num_inputs() const { return lifting_.num_inputs(); }

const ir::Type& TypeContext::input(int k) const {
  GALATEA_CHECK(k >= 0 && k < num_inputs(), op_.name + ": no such input");
  return lifting_.type(graph_, spec_.inputs[static_cast<size_t>(k)]);
}

Layout TypeContext::input_layout(int k) const { return assumed_layout(op_, k, input(k)); }
bool TypeContext::given(std::string_view name) const { return Arguments(op_, spec_.args).given(name); }
bool TypeContext::is_per_sample(std::string_view name) const {
  return Arguments(op_, spec_.args).is_per_sample(name);
}

const ir::Type& TypeContext::arg_type(std::string_view name) const {
  const ir::Arg* arg = Arguments(op_, spec_.args).find(name);
  GALATEA_CHECK(arg && arg->is_value(), op_.name + ": " + std::string(name) + " is not per sample");
  return lifting_.type(graph_, arg->as_value());
}

const ir::Attr& TypeContext::attr(std::string_view name) const {
  return Arguments(op_, spec_.args).attr(name);
}
bool TypeContext::flag(std::string_view name) const { return ir::attr_flag(attr(name)); }
int64_t TypeContext::integer(std::string_view name) const { return ir::attr_integer(attr(name)); }
double TypeContext::number(std::string_view name) const { return ir::attr_number(attr(name)); }
std::string TypeContext::text(std::string_view name) const {
  return lifting_.frame_text(op_, name, ir::attr_text(attr(name)));
}

DType TypeContext::dtype(std::string_view name, DType fallback) const {
  const ir::Attr& value = attr(name);
  if (ir::is_none(value)) return fallback;
  auto* found = std::get_if<DType>(&value);
  GALATEA_CHECK(found, op_.name + ": " + std::string(name) + " is not an element type");
  return *found;
}

std::vector<int64_t> TypeContext::integers(std::string_view name) const {
  return ir::attr_integers(attr(name));
}
std::vector<double> TypeContext::numbers(std::string_view name) const { return ir::attr_numbers(attr(name)); }

std::vector<std::string> TypeContext::texts(std::string_view name) const {
  const auto* list = std::get_if<std::vector<std::string>>(&attr(name));
  return list ? *list : std::vector<std::string>();
}

std::vector<DType> TypeContext::dtypes(std::string_view name) const {
  std::vector<DType> out;
  if (const auto* list = std::get_if<ir::AttrList>(&attr(name)))
    for (const ir::Attr& item : list->items) out.push_back(std::get<DType>(item));
  return out;
}

void TypeContext::want_extents(std::string_view arg) const {
  const ir::Arg* found = Arguments(op_, spec_.args).find(arg);
  if (wanted_ != nullptr && found && found->is_value()) wanted_->push_back(found->as_value());
}

void TypeContext::want_extents(int input) const {
  if (wanted_ != nullptr) wanted_->push_back(spec_.inputs.at(static_cast<size_t>(input)));
}

std::unexpected<Error> TypeContext::error(std::string_view message, std::string_view help,
                                          std::string_view arg) const {
  Span span = spec_.span;
  if (!arg.empty())
    if (const ir::Arg* found = Arguments(op_, spec_.args).find(arg); found && found->span.valid())
      span = found->span;
  // Some rules begin with their own name already.
  if (message.starts_with(op_.name + ": ")) message.remove_prefix(op_.name.size() + 2);
  return compiler::user_error(compiler::Message::kOperatorRefuses, span, display_name(op_), message, help);
}

Result<ir::ValueId> Expansion::add(std::string_view op, std::vector<ir::ValueId> inputs,
                                   std::vector<ir::Arg> args) const {
  GraphBuilder::NodeSpec spec;
  spec.op = registry.find(op);
  GALATEA_CHECK(spec.op != nullptr, "there is no operator " + std::string(op));
  spec.inputs = std::move(inputs);
  spec.args = std::move(args);
  spec.span = call.span;
  spec.calls = call.calls;
  if (spec.op->random) {
    spec.key = call.key;
    spec.has_own_seed = call.has_own_seed;
  }
  // Hosts ask for a reader by the name that the call gave it.
  if (spec.op->source) spec.name = call.name;
  GALATEA_ASSIGN(const ir::NodeId node, builder.add_node(std::move(spec)));
  return builder.graph().node(node).outputs.front();
}

bool sees_batch(const ir::Node& node) { return node.op->sees_batch && node.op->sees_batch(node); }

Places places_of(const ir::Node& node) {
  return node.op->places_of ? node.op->places_of(node) : node.op->places;
}

std::vector<ArgSpec> all_arguments(const Operator& op) {
  std::vector<ArgSpec> arguments = op.args;
  if (op.random && op.find_arg("seed") == nullptr)
    arguments.push_back({.name = "seed",
                         .kind = ArgKind::kInt,
                         .default_value = int64_t{-1},
                         .documentation = "Other draws for other seeds; -1: from the pipeline's seed."});
  return arguments;
}

const ArgSpec* Operator::find_arg(std::string_view arg_name) const {
  for (const ArgSpec& arg : args)
    if (arg.name == arg_name) return &arg;
  return nullptr;
}

void Registry::add(Operator op) {
  GALATEA_CHECK(!find(op.name), "operator " + op.name + " is registered twice");
  for (const std::string& alias : op.aliases)
    GALATEA_CHECK(!find(alias), "operator " + alias + " is registered twice");
  for (ArgSpec& arg : op.args) {
    auto converted = convert_attr(arg.default_value, arg.kind);
    GALATEA_CHECK(converted, op.name + ": the default of " + arg.name + " does not have its kind");
    arg.default_value = std::move(*converted);
  }
  GALATEA_CHECK((op.places == Places::kMoved) == (op.define_places != nullptr),
                op.name + ": an operator that moves places, and no other, says how");
  std::optional<Operator> places;
  if (op.define_places) places = places_operator(op);
  operators_.push_back(std::make_unique<Operator>(std::move(op)));
  if (places) operators_.push_back(std::make_unique<Operator>(std::move(*places)));
}

const Operator* Registry::find(std::string_view name) const {
  for (const auto& op : operators_) {
    if (op->name == name) return op.get();
    if (std::find(op->aliases.begin(), op->aliases.end(), name) != op->aliases.end()) return op.get();
  }
  return nullptr;
}

void Registry::add(TextOperator op) {
  GALATEA_CHECK(!find(op.name) && !find_text(op.name), "operator '" + op.name + "' is registered twice");
  texts_.push_back(std::make_unique<TextOperator>(std::move(op)));
}

const TextOperator* Registry::find_text(std::string_view name) const {
  for (const auto& op : texts_)
    if (op->name == name) return op.get();
  return nullptr;
}

bool Registry::has_namespace(std::string_view path) const {
  const auto holds = [&](std::string_view name) {
    return name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.';
  };
  return std::ranges::any_of(operators_, [&](const auto& op) { return !op->internal && holds(op->name); }) ||
         std::ranges::any_of(texts_, [&](const auto& op) { return holds(op->name); });
}

std::vector<std::string> Registry::public_names() const {
  std::vector<std::string> names;
  for (const auto& op : operators_)
    if (!op->internal) names.push_back(op->name);
  for (const auto& op : texts_) names.push_back(op->name);
  return names;
}

}  // namespace galatea::op
