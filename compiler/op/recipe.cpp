// RecipeBuilder: turns what a definition writes into a Lowering.
#include "compiler/op/recipe.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/attr.h"
#include "compiler/op/arguments.h"
#include "compiler/op/lifting.h"
#include "compiler/op/lineage.h"
#include "compiler/op/schema.h"

namespace galatea::op {

using kernel::SymbolKind;

namespace {

/// Numbers of the user's are known by node, argument and place; 0: a default, which is structure.
class Origin {
 public:
  Origin(ir::NodeId node, std::string_view argument, bool given)
      : name_(given ? std::hash<std::string_view>()(argument) * 31 + node : 0) {}
  uint64_t of(size_t element) const {
    return name_ == 0 ? 0 : (name_ + element + 1) * 0x9E3779B97F4A7C15U | 1;
  }

 private:
  uint64_t name_;
};

Expr constant_of(const ir::Attr& attr, const Origin& origin) {
  if (auto* number = std::get_if<double>(&attr))
    return kernel::user_constant(DType::kF64, cell_from_double(DType::kF64, *number), origin.of(0));
  return kernel::user_constant(DType::kI64, cell_from_int(DType::kI64, ir::attr_integer(attr)), origin.of(0));
}

/// The elements of a list as constants.
std::vector<Expr> constants_of(const ir::Attr& attr, const Origin& origin) {
  std::vector<Expr> out;
  if (auto* list = std::get_if<std::vector<double>>(&attr)) {
    for (double value : *list)
      out.push_back(
          kernel::user_constant(DType::kF64, cell_from_double(DType::kF64, value), origin.of(out.size())));
  } else if (auto* integers = std::get_if<std::vector<int64_t>>(&attr)) {
    for (int64_t value : *integers)
      out.push_back(
          kernel::user_constant(DType::kI64, cell_from_int(DType::kI64, value), origin.of(out.size())));
  } else {
    out.push_back(constant_of(attr, origin));
  }
  return out;
}

std::vector<Expr> axes_of(size_t rank) {
  std::vector<Expr> axes;
  for (size_t d = 0; d < rank; ++d) axes.push_back(kernel::axis(static_cast<int>(d)));
  return axes;
}

}  // namespace

RecipeBuilder::RecipeBuilder(const ir::Graph& graph, ir::NodeId node, Lineage* lineage)
    // Numbers of local scalars are unique in the whole graph, so that the plan can put lowerings side by
    // side.
    : graph_(graph), node_(node), lineage_(lineage), next_local_(static_cast<int64_t>(node) << 16) {
  const ir::Node& self = graph.node(node);
  GALATEA_CHECK(self.op != nullptr, "the node is removed");
  lifting_ = std::make_shared<Lifting>(graph, *self.op, self.inputs, self.args);
  for (size_t k = 0; k < self.inputs.size(); ++k) {
    const ir::Type& type = type_of(self.inputs[k]);
    std::vector<Expr> own;
    for (int d = 0; d < type.ndim; ++d) own.push_back(extent_of(self.inputs[k], d));
    lowering_.inputs.push_back({"in" + std::to_string(k), type.dtype, std::move(own), 0});
  }
  if (lifting_->lifts())
    for (const ir::ValueId output : self.outputs)
      frame_outputs_.push_back(lifting_->frame_of(graph.type(output)));
  lowering_.outputs.resize(self.outputs.size());
  for (LoweredOutput& output : lowering_.outputs) output.kind = LoweredOutput::Kind::kStage;
  for (const ir::Arg& argument : self.args) check_one_element(argument);
}

void RecipeBuilder::check_one_element(const ir::Arg& argument) {
  const ArgSpec* spec = graph_.node(node_).op->find_arg(argument.name);
  if (spec == nullptr || !argument.is_value() || takes_list(spec->kind)) return;
  const ir::Type& type = type_of(argument.as_value());
  if (type.static_volume() >= 0) return;
  Expr count = kernel::const_int(1);
  for (int d = 0; d < type.ndim; ++d) count = count * extent_of(argument.as_value(), d);
  check(kernel::equal(count, kernel::const_int(1)), argument.name + " is one number, and has {} elements",
        {count}, "give a number, or a tensor of one element", argument.name);
}

int RecipeBuilder::num_inputs() const { return lifting_->num_inputs(); }

const ir::Type& RecipeBuilder::type_of(ir::ValueId operand) const { return lifting_->type(graph_, operand); }

const ir::Type& RecipeBuilder::input_type(int k) const {
  GALATEA_CHECK(k >= 0 && k < num_inputs(), "no such input");
  return type_of(graph_.node(node_).inputs[static_cast<size_t>(k)]);
}

Layout RecipeBuilder::input_layout(int k) const {
  return assumed_layout(*graph_.node(node_).op, k, input_type(k));
}

const ir::Type& RecipeBuilder::output_type(int k) const {
  const auto& outputs = graph_.node(node_).outputs;
  GALATEA_CHECK(k >= 0 && k < static_cast<int>(outputs.size()), "no such output");
  return lifting_->lifts() ? frame_outputs_[static_cast<size_t>(k)]
                           : graph_.type(outputs[static_cast<size_t>(k)]);
}

namespace {
Arguments arguments(const ir::Graph& graph, ir::NodeId node) {
  return {*graph.node(node).op, graph.node(node).args};
}
}  // namespace

bool RecipeBuilder::given(std::string_view name) const { return arguments(graph_, node_).given(name); }
bool RecipeBuilder::is_per_sample(std::string_view name) const {
  return arguments(graph_, node_).is_per_sample(name);
}
const ir::Attr& RecipeBuilder::attr(std::string_view name) const {
  return arguments(graph_, node_).attr(name);
}
bool RecipeBuilder::flag(std::string_view name) const { return ir::attr_flag(attr(name)); }
int64_t RecipeBuilder::integer(std::string_view name) const { return ir::attr_integer(attr(name)); }
double RecipeBuilder::number(std::string_view name) const { return ir::attr_number(attr(name)); }
std::string RecipeBuilder::text(std::string_view name) const {
  return lifting_->frame_text(*graph_.node(node_).op, name, ir::attr_text(attr(name)));
}
std::vector<int64_t> RecipeBuilder::integers(std::string_view name) const {
  return ir::attr_integers(attr(name));
}
std::vector<double> RecipeBuilder::numbers(std::string_view name) const {
  return ir::attr_numbers(attr(name));
}

Expr RecipeBuilder::extent_of(ir::ValueId operand, int dim) const {
  const ir::Type& type = type_of(operand);
  GALATEA_CHECK(dim >= 0 && dim < type.ndim, "no such dimension");
  int64_t known = type.extents[static_cast<size_t>(dim)];
  if (known >= 0) return kernel::extent_constant(known);
  return kernel::symbol(SymbolKind::kExtent, DType::kI64, operand, dim);
}

Expr RecipeBuilder::extent(int input, int dim) const {
  GALATEA_CHECK(input >= 0 && input < num_inputs(), "no such input");
  return extent_of(graph_.node(node_).inputs[static_cast<size_t>(input)], dim);
}

std::vector<Expr> RecipeBuilder::extents(int input) const {
  std::vector<Expr> out;
  for (int d = 0; d < input_type(input).ndim; ++d) out.push_back(extent(input, d));
  return out;
}

const NativeOutput* RecipeBuilder::scaled_input(int input) const {
  const ir::ValueId value = graph_.node(node_).inputs[static_cast<size_t>(input)];
  const ir::Node* made = graph_.defining_node(value);
  if (!made || !made->find_arg(kScaledForArg)) return nullptr;
  if (!scaled_input_)
    scaled_input_ = std::make_shared<Lowering>(lower_node(graph_, graph_.value(value).node, lineage_));
  return maker_of(*scaled_input_);
}

Expr RecipeBuilder::full_extent(int input, int dim) const {
  const NativeOutput* made = scaled_input(input);
  const ScaleOffer::Axis* axis = made ? made->scale->along(dim) : nullptr;
  return axis ? axis->extent : extent(input, dim);
}

Expr RecipeBuilder::scaled(int input, int dim, const Expr& position) const {
  const NativeOutput* made = scaled_input(input);
  const ScaleOffer::Axis* axis = made ? made->scale->along(dim) : nullptr;
  if (!axis) return position;
  const ir::ValueId value = graph_.node(node_).inputs[static_cast<size_t>(input)];
  auto f64 = [](const Expr& e) { return kernel::convert(e, DType::kF64); };
  const Expr scale = f64(scale_of(graph_.value(value).node)) *
                     kernel::const_float(1.0 / static_cast<double>(made->scale->whole), DType::kF64);
  return (position + f64(axis->origin)) * scale - f64(axis->first);
}

const ScaleOffer::Axis* ScaleOffer::along(int dim) const {
  const auto found =
      std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.dim == dim; });
  return found == axes.end() ? nullptr : &*found;
}

bool NativeOutput::has_window_along(int dim) const {
  return std::any_of(window.begin(), window.end(),
                     [&](const WindowScalar& scalar) { return scalar.dim == dim; });
}

Expr scale_of(ir::NodeId maker) {
  return kernel::symbol(SymbolKind::kLocal, DType::kI64, (static_cast<int64_t>(maker) << 16) + 0xffff);
}

Expr RecipeBuilder::scale(int64_t whole) const {
  return graph_.node(node_).find_arg(kScaledForArg) ? scale_of(node_) : kernel::const_int(whole);
}

const NativeOutput* maker_of(const Lowering& lowering) {
  if (lowering.outputs.size() != 1 || lowering.outputs[0].kind != LoweredOutput::Kind::kNative)
    return nullptr;
  return &lowering.natives.at(static_cast<size_t>(lowering.outputs[0].native));
}

Expr RecipeBuilder::element(int input, int64_t flat_index) const {
  const ir::Type& type = input_type(input);
  int64_t volume = type.static_volume();
  GALATEA_CHECK(volume >= 0 && flat_index >= 0 && flat_index < volume,
                "an element of a small input of known extents");
  return kernel::symbol(SymbolKind::kElement, type.dtype,
                        graph_.node(node_).inputs[static_cast<size_t>(input)], flat_index);
}

Expr RecipeBuilder::arg(std::string_view name, DType type) const {
  Arguments args = arguments(graph_, node_);
  if (args.is_per_sample(name)) {
    ir::ValueId value = args.find(name)->as_value();
    return kernel::saturate(kernel::symbol(SymbolKind::kElement, graph_.type(value).dtype, value, 0), type);
  }
  const ir::Attr& value = args.attr(name);
  GALATEA_CHECK(!ir::is_none(value), std::string(name) + " is not given and has no default");
  return kernel::saturate(constant_of(value, Origin(node_, name, args.given(name))), type);
}

int RecipeBuilder::arg_length(std::string_view name) const {
  Arguments args = arguments(graph_, node_);
  if (!args.is_per_sample(name)) return ir::attr_length(args.attr(name));
  const ir::Type& type = type_of(args.find(name)->as_value());
  int64_t volume = type.static_volume();
  GALATEA_CHECK(volume >= 0, std::string(name) + " has no known length");
  return static_cast<int>(volume);
}

std::vector<Expr> RecipeBuilder::arg_list(std::string_view name, int n, DType type) const {
  Arguments args = arguments(graph_, node_);
  std::vector<Expr> list;
  if (args.is_per_sample(name)) {
    ir::ValueId value = args.find(name)->as_value();
    for (int i = 0; i < arg_length(name); ++i)
      list.push_back(kernel::symbol(SymbolKind::kElement, graph_.type(value).dtype, value, i));
  } else {
    GALATEA_CHECK(!ir::is_none(args.attr(name)), std::string(name) + " is not given and has no default");
    list = constants_of(args.attr(name), Origin(node_, name, args.given(name)));
  }
  GALATEA_CHECK(static_cast<int>(list.size()) == n || list.size() == 1,
                std::string(name) + " has neither 1 nor n elements");
  while (static_cast<int>(list.size()) < n) list.push_back(list.front());
  list.resize(static_cast<size_t>(n));
  for (Expr& element : list) element = kernel::saturate(element, type);
  return list;
}

Expr RecipeBuilder::random_u32(const Expr& number) const {
  GALATEA_CHECK(graph_.node(node_).op->random, "only random operators draw");
  Expr key = kernel::symbol(SymbolKind::kNodeKey, DType::kU64, node_);
  int64_t source = lineage_ ? lineage_->counting_source(node_) : counting_source(graph_, node_);
  Expr sample = kernel::symbol(SymbolKind::kSampleIndex, DType::kU64, source);
  const Expr element = kernel::convert(number, DType::kI64);
  Expr block = kernel::convert(kernel::binary(ScalarOp::kShr, element, kernel::const_int(2)), DType::kU64);
  if (kernel::is_const(element))
    return kernel::philox_word(key, block, sample, static_cast<int>(kernel::const_value(element) & 3));
  Expr word = element & kernel::const_int(3);
  Expr drawn = kernel::philox_word(key, block, sample, 3);
  for (int w = 2; w >= 0; --w)
    drawn = kernel::select(kernel::equal(word, kernel::const_int(w)),
                           kernel::philox_word(key, block, sample, w), drawn);
  return drawn;
}

Expr RecipeBuilder::random_unit(const Expr& element) const {
  Expr bits = kernel::binary(ScalarOp::kShr, random_u32(element), kernel::const_int(8, DType::kU32));
  return kernel::convert(bits, DType::kF32) * kernel::const_float(0x1p-24);
}

Expr RecipeBuilder::random_below(const Expr& element, const Expr& n) const {
  Expr product = kernel::convert(random_u32(element), DType::kU64) * kernel::convert(n, DType::kU64);
  return kernel::convert(kernel::binary(ScalarOp::kShr, product, kernel::const_int(32, DType::kU64)),
                         DType::kI64);
}

void RecipeBuilder::check(const Expr& condition, std::string_view message, std::vector<Expr> values,
                          std::string_view help, std::string_view arg) {
  GALATEA_CHECK(condition.type() == DType::kBool, "a check needs a condition");
  if (kernel::is_const(condition) && kernel::const_value(condition) != 0) return;  // known to hold
  lowering_.checks.push_back(
      {condition, std::string(message), std::move(values), std::string(help), std::string(arg)});
}

void RecipeBuilder::check_at_hand(const Expr& condition, std::string_view message, std::vector<Expr> values,
                                  std::string_view help, std::string_view arg) {
  const size_t before = lowering_.checks.size();
  check(condition, message, std::move(values), help, arg);
  for (size_t k = before; k < lowering_.checks.size(); ++k) lowering_.checks[k].if_at_hand = true;
}

Expr RecipeBuilder::load(int input, std::span<const Expr> indices, kernel::Border border, Cell fill) const {
  const kernel::KernelInput& source = lowering_.inputs.at(static_cast<size_t>(input));
  GALATEA_CHECK(indices.size() == source.extents.size(), "one index per dimension");
  return kernel::load({kernel::LoadTarget::Kind::kInput, input}, source.type, kernel::Operands(indices),
                      border, fill);
}

Expr RecipeBuilder::load(StageRef stage, std::span<const Expr> indices, kernel::Border border,
                         Cell fill) const {
  const kernel::Stage& target = lowering_.stages.at(static_cast<size_t>(stage.index));
  GALATEA_CHECK(static_cast<int>(indices.size()) == target.rank(), "one index per dimension");
  return kernel::load({kernel::LoadTarget::Kind::kStage, stage.index}, target.type, kernel::Operands(indices),
                      border, fill);
}

namespace {

StageRef append(Lowering& lowering, kernel::Stage stage, const ir::Node& node) {
  for (const Expr& extent : stage.extents)
    GALATEA_CHECK(extent.type() == DType::kI64, stage.name + ": extents are i64");
  stage.span = node.span;
  lowering.stages.push_back(std::move(stage));
  return {static_cast<int>(lowering.stages.size()) - 1};
}

/// What every stage with an accumulator begins with.
kernel::Stage begin(kernel::StageForm form, const auto& described) {
  kernel::Stage stage;
  stage.name = described.name;
  stage.form = form;
  stage.type = described.type;
  stage.extents = described.extents;
  stage.accumulator = described.accumulator;
  return stage;
}

void finish(kernel::Stage& stage, const auto& described) {
  if (described.finish) stage.finish = described.finish(kernel::accumulator(described.accumulator));
  GALATEA_CHECK(!stage.finish || stage.finish.type() == stage.type,
                stage.name + ": finish must give the stage's type");
}

/// The body of a stage that runs over more than its own axes.
Expr inner_body(kernel::Stage& stage, size_t outer_rank, const auto& described) {
  stage.reduce_extents = described.reduce_extents;
  std::vector<Expr> inner;
  for (size_t d = 0; d < stage.reduce_extents.size(); ++d)
    inner.push_back(kernel::reduce_axis(static_cast<int>(d)));
  return described.body(axes_of(outer_rank), inner);
}

}  // namespace

StageRef RecipeBuilder::map(std::string name, DType type, std::vector<Expr> extents, const Body& body) {
  kernel::Stage stage;
  stage.name = std::move(name);
  stage.form = kernel::StageForm::kMap;
  stage.type = type;
  stage.body = body(axes_of(extents.size()));
  stage.extents = std::move(extents);
  GALATEA_CHECK(stage.body.type() == type, stage.name + ": the body must have the stage's type");
  return append(lowering_, std::move(stage), graph_.node(node_));
}

StageRef RecipeBuilder::band(const Band& band) {
  kernel::Stage stage = begin(kernel::StageForm::kBand, band);
  stage.band_axis = band.axis;
  stage.taps = band.taps;
  std::vector<Expr> axes = axes_of(band.extents.size());
  Expr position = axes.at(static_cast<size_t>(band.axis));
  stage.first = band.first(position);
  GALATEA_CHECK(stage.first.type() == DType::kI64 && stage.taps.type() == DType::kI64,
                band.name + ": first and taps are i64");
  stage.weight = band.weight(position, kernel::tap());
  stage.source = band.source(axes, stage.first + kernel::tap());
  GALATEA_CHECK(stage.source->kind == kernel::ExprKind::kLoad, band.name + ": the source is a load");
  finish(stage, band);
  return append(lowering_, std::move(stage), graph_.node(node_));
}

StageRef RecipeBuilder::reduce(const Reduce& reduce) {
  kernel::Stage stage = begin(kernel::StageForm::kReduce, reduce);
  stage.combiner = reduce.combiner;
  stage.body = inner_body(stage, reduce.extents.size(), reduce);
  finish(stage, reduce);
  return append(lowering_, std::move(stage), graph_.node(node_));
}

StageRef RecipeBuilder::histogram(const Histogram& histogram) {
  kernel::Stage stage = begin(kernel::StageForm::kHistogram, histogram);
  stage.extents.push_back(histogram.bins);
  stage.body = inner_body(stage, histogram.extents.size(), histogram);
  finish(stage, histogram);
  return append(lowering_, std::move(stage), graph_.node(node_));
}

StageRef RecipeBuilder::scan(const Scan& scan) {
  kernel::Stage stage = begin(kernel::StageForm::kScan, scan);
  stage.scan_axis = scan.axis;
  stage.combiner = scan.combiner;
  stage.body = scan.body(axes_of(scan.extents.size()));
  finish(stage, scan);
  return append(lowering_, std::move(stage), graph_.node(node_));
}

int RecipeBuilder::constant_input(std::string name, std::shared_ptr<const runtime::ConstantTensor> tensor) {
  std::vector<Expr> extents;
  for (int64_t extent : tensor->extents()) extents.push_back(kernel::const_int(extent));
  lowering_.inputs.push_back(
      {std::move(name), tensor->type(), std::move(extents), static_cast<int>(tensor->extents().size())});
  lowering_.constants.push_back(std::move(tensor));
  return static_cast<int>(lowering_.inputs.size()) - 1;
}

std::vector<Expr> RecipeBuilder::native_scalars(std::string function, std::vector<int> inputs,
                                                std::vector<Expr> scalars, std::string config,
                                                std::vector<DType> result_types,
                                                std::vector<std::pair<int64_t, int64_t>> ranges,
                                                std::string extents_along) {
  GALATEA_CHECK(extents_along.empty() || extents_along.size() == result_types.size(),
                function + ": an axis, or '-', for each result");
  NativeScalars call{.function = std::move(function),
                     .inputs = std::move(inputs),
                     .scalars = std::move(scalars),
                     .config = std::move(config),
                     .locals = {},
                     .order = lowering_.checks.size(),
                     .ranges = std::move(ranges),
                     .extents_along = std::move(extents_along),
                     .over_batch = {}};
  std::vector<Expr> results;
  for (DType type : result_types) {
    call.locals.push_back(next_local_);
    results.push_back(kernel::symbol(SymbolKind::kLocal, type, next_local_++));
  }
  lowering_.native_scalars.push_back(std::move(call));
  return results;
}

Expr RecipeBuilder::over_frames(OverFrames::Kind kind, const Expr& of_frame) {
  if (!lifting_->lifts()) return of_frame;
  const DType type = of_frame.type();
  lowering_.over_frames.push_back({kind, of_frame, next_local_});
  return kernel::symbol(SymbolKind::kLocal, type, next_local_++);
}

Expr RecipeBuilder::largest_of_frames(const Expr& number) {
  return over_frames(OverFrames::Kind::kLargest, number);
}

Expr RecipeBuilder::holds_for_most_frames(const Expr& condition) {
  return over_frames(OverFrames::Kind::kMost, condition);
}

std::vector<Expr> RecipeBuilder::over_batch(std::vector<runtime::BatchOp> ops, std::vector<Expr> numbers) {
  GALATEA_CHECK(sees_batch(node()), node().op->name + " does not say that it sees the batch");
  GALATEA_CHECK(ops.size() == numbers.size() && !ops.empty(), "one operation for each number");
  for (const Expr& number : numbers) GALATEA_CHECK(number.type() == DType::kI64, "numbers that meet are i64");
  const std::vector<DType> types(numbers.size(), DType::kI64);
  std::vector<Expr> results = native_scalars({}, {}, std::move(numbers), {}, types);
  lowering_.native_scalars.back().over_batch = std::move(ops);
  return results;
}

namespace {

LoweredOutput& claim(Lowering& lowering, int k, LoweredOutput::Kind kind) {
  LoweredOutput& output = lowering.outputs.at(static_cast<size_t>(k));
  bool unset = output.stage < 0 && output.input < 0 && output.native < 0 && output.elements.empty() &&
               !output.constant;
  GALATEA_CHECK(unset, "an output is defined twice");
  output.kind = kind;
  return output;
}

}  // namespace

void RecipeBuilder::output_stage(int k, StageRef stage, std::vector<int> axis_of) {
  const kernel::Stage& source = lowering_.stages.at(static_cast<size_t>(stage.index));
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kStage);
  if (axis_of.empty())
    for (int d = 0; d < source.rank(); ++d) axis_of.push_back(d);
  for (int axis : axis_of) output.extents.push_back(source.extents.at(static_cast<size_t>(axis)));
  GALATEA_CHECK(static_cast<int>(axis_of.size()) == output_type(k).ndim,
                source.name + ": rank of the output");
  GALATEA_CHECK(source.type == output_type(k).dtype, source.name + ": type of the output");
  output.stage = stage.index;
  output.axis_of = std::move(axis_of);
}

void RecipeBuilder::output_view(int k, int input, std::vector<Expr> extents, std::vector<int> input_dim,
                                std::vector<Expr> start, std::vector<Expr> step) {
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kView);
  GALATEA_CHECK(static_cast<int>(extents.size()) == output_type(k).ndim &&
                    extents.size() == input_dim.size() && extents.size() == step.size() &&
                    static_cast<int>(start.size()) == input_type(input).ndim,
                "the ranks of a view");
  output.input = input;
  output.extents = std::move(extents);
  output.input_dim = std::move(input_dim);
  output.start = std::move(start);
  output.step = std::move(step);
}

void RecipeBuilder::output_reshape(int k, int input, std::vector<Expr> extents) {
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kView);
  GALATEA_CHECK(static_cast<int>(extents.size()) == output_type(k).ndim, "the rank of a reshape");
  output.input = input;
  output.reshape = true;
  output.extents = std::move(extents);
}

void RecipeBuilder::output_scalars(int k, std::vector<Expr> elements) {
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kScalars);
  const ir::Type& type = output_type(k);
  GALATEA_CHECK(type.static_volume() == static_cast<int64_t>(elements.size()), "one expression per element");
  for (const Expr& element : elements)
    GALATEA_CHECK(element.type() == type.dtype, "elements have the output's type");
  for (int64_t extent : type.extents) output.extents.push_back(kernel::const_int(extent));
  output.elements = std::move(elements);
}

namespace {

/// The offers' axes as dimensions of the output; mistakes in them are the operator's.
void name_axes(NativeOutput& native, const ir::Type& type) {
  const auto find = [&](char axis) {
    const int dim = type.layout.find(axis);
    GALATEA_CHECK(dim >= 0, fmt::format("{} offers something along '{}', which its output has not",
                                        native.function, axis));
    return dim;
  };
  GALATEA_CHECK(native.window.empty() || !native.allocates,
                native.function + ": what makes its output itself is given no window of it");
  for (WindowScalar& scalar : native.window) scalar.dim = find(scalar.axis);
  if (native.plane) find(native.plane->axis);
  if (!native.scale) return;
  for (ScaleOffer::Axis& axis : native.scale->axes) axis.dim = find(axis.axis);
  const std::vector<int64_t>& parts = native.scale->parts;
  GALATEA_CHECK(!parts.empty() && parts.front() > 0 && parts.back() < native.scale->whole &&
                    std::is_sorted(parts.begin(), parts.end()),
                native.function + ": the parts of a scale ascend from 1 or more to less than the whole");
}

}  // namespace

void RecipeBuilder::output_native(int k, NativeOutput native, std::vector<Expr> extents) {
  name_axes(native, output_type(k));
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kNative);
  output.native = static_cast<int>(lowering_.natives.size());
  output.extents = std::move(extents);
  lowering_.natives.push_back(std::move(native));
}

Expr RecipeBuilder::place_in_batch() const { return kernel::symbol(SymbolKind::kBatchSlot, DType::kI64, 0); }

void RecipeBuilder::output_total(int k, int input, runtime::BatchOp op) {
  GALATEA_CHECK(sees_batch(node()), node().op->name + " does not say that it sees the batch");
  output_native(k, {.inputs = {input}, .total = op}, extents(input));
}

void RecipeBuilder::output_of_place(int k, int input, const Expr& place) {
  GALATEA_CHECK(sees_batch(node()), node().op->name + " does not say that it sees the batch");
  GALATEA_CHECK(place.type() == DType::kI64, "a place is i64");
  // Extents that differ from sample to sample are those of another one's tensor.
  std::vector<Expr> known;
  for (int64_t extent : output_type(k).extents)
    known.push_back(extent >= 0 ? kernel::extent_constant(extent) : Expr());
  output_native(k, {.inputs = {input}, .scalars = {place}, .of_place = true}, std::move(known));
}

void RecipeBuilder::output_constant(int k, std::shared_ptr<const runtime::ConstantTensor> tensor) {
  LoweredOutput& output = claim(lowering_, k, LoweredOutput::Kind::kConstant);
  GALATEA_CHECK(tensor->type() == output_type(k).dtype &&
                    tensor->extents().size() == static_cast<size_t>(output_type(k).ndim),
                "type of a constant output");
  for (int64_t extent : tensor->extents()) output.extents.push_back(kernel::const_int(extent));
  output.constant = std::move(tensor);
}

void RecipeBuilder::output_text(TextCall call, std::vector<std::vector<Expr>> extents) {
  GALATEA_CHECK(lowering_.stages.empty() && lowering_.natives.empty(), "a text makes all outputs");
  for (size_t k = 0; k < extents.size(); ++k)
    claim(lowering_, static_cast<int>(k), LoweredOutput::Kind::kText).extents = std::move(extents[k]);
  lowering_.text = std::make_shared<const TextCall>(std::move(call));
}

Lowering RecipeBuilder::take() {
  for (const LoweredOutput& output : lowering_.outputs) {
    bool set = output.kind == LoweredOutput::Kind::kScalars || output.stage >= 0 || output.input >= 0 ||
               output.native >= 0 || output.constant || output.kind == LoweredOutput::Kind::kText;
    GALATEA_CHECK(set, graph_.node(node_).op->name + " leaves an output undefined");
  }
  if (lifting_->lifts()) return lift(graph_, graph_.node(node_), *lifting_, std::move(lowering_));
  return std::move(lowering_);
}

bool meets_batch(const Lowering& lowering) {
  return std::any_of(lowering.native_scalars.begin(), lowering.native_scalars.end(),
                     [](const NativeScalars& call) { return !call.over_batch.empty(); }) ||
         std::any_of(lowering.natives.begin(), lowering.natives.end(),
                     [](const NativeOutput& call) { return call.is_of_batch(); });
}

Lowering lower_node(const ir::Graph& graph, ir::NodeId node, Lineage* lineage) {
  const Operator* op = graph.node(node).op;
  GALATEA_CHECK(op && op->define, "the node has no definition");
  RecipeBuilder builder(graph, node, lineage);
  op->define(builder);
  return builder.take();
}

}  // namespace galatea::op
