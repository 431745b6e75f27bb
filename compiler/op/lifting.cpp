// Which axes a call is lifted over, and types of frames: see lifting.h.
#include "compiler/op/lifting.h"

#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

/// The argument that says where an output's axes stand.
constexpr std::string_view kOutputLayout = "output_layout";

/// A letter that names nothing: how fn.per_frame marks the other axes of data without a layout.
constexpr char kUnnamed = '*';

bool is_accepted(const Port& input, const ir::Type& type) {
  if (input.layouts.empty()) return true;
  return std::ranges::any_of(input.layouts, [&](const std::string& layout) {
    return type.layout.empty() ? static_cast<int>(layout.size()) == type.ndim : type.layout == Layout(layout);
  });
}

/// Data without a layout and with an axis more than pictures, or volumes, are frames of them.
Layout layout_of(const Port& input, const ir::Type& type) {
  const auto first_of = [&](int ndim) {
    const auto has_rank = [&](const std::string& layout) { return std::ssize(layout) == ndim; };
    const auto found = std::ranges::find_if(input.layouts, has_rank);
    return found == input.layouts.end() ? std::string() : *found;
  };
  if (!type.layout.empty() || type.ndim < 4) return type.layout;
  const std::string whole = first_of(type.ndim), frame = first_of(type.ndim - 1);
  if (frame.empty() || (!whole.empty() && input.volumes_first) || works_on(input, kFrameAxis)) return {};
  return Layout(kFrameAxis + frame);
}

/// The type without some of its dimensions; names of none but unnamed axes are no layout.
ir::Type without(const ir::Type& type, const std::vector<int>& kept) {
  ir::Type frame{.dtype = type.dtype, .ndim = static_cast<int>(kept.size()), .device = type.device};
  std::string letters;
  for (const int d : kept) {
    frame.extents.push_back(type.extents[static_cast<size_t>(d)]);
    letters += type.layout[d];
  }
  if (letters.find_first_not_of(kUnnamed) != std::string::npos) frame.layout = Layout(letters);
  return frame;
}

int occurrence_in(const Layout& layout, int dim) {
  int before = 0;
  for (int d = 0; d < dim; ++d) before += layout[d] == layout[dim] ? 1 : 0;
  return before;
}

}  // namespace

bool works_on(const Port& input, char letter) {
  if (input.axes.starts_with('^')) return input.axes.find(letter, 1) == std::string::npos;
  if (!input.axes.empty()) return input.axes.find(letter) != std::string::npos;
  return input.layouts.empty() || std::ranges::any_of(input.layouts, [&](const std::string& layout) {
           return layout.find(letter) != std::string::npos;
         });
}

int num_own_inputs(const std::vector<ir::ValueId>& inputs, const std::vector<ir::Arg>& args) {
  const auto count = static_cast<int>(inputs.size());
  for (const ir::Arg& arg : args)
    if (arg.name == kPerFrameArg && !arg.is_value())
      if (const auto* number = std::get_if<int64_t>(&arg.as_attr()))
        return count - static_cast<int>(std::clamp<int64_t>(*number, 0, count));
  return count;
}

Lifting::Lifting(const ir::Graph& graph, const Operator& op, const std::vector<ir::ValueId>& inputs,
                 const std::vector<ir::Arg>& args)
    : num_inputs_(num_own_inputs(inputs, args)) {
  if (op.inputs.empty()) return;
  bool has_frames = false;
  const auto add_inputs = [&](bool extents_only) {
    for (size_t k = 0; k < static_cast<size_t>(num_inputs_); ++k) {
      const Port& port = op.inputs[std::min(k, op.inputs.size() - 1)];
      has_frames |=
          !works_on(port, kFrameAxis) && layout_of(port, graph.type(inputs[k])).find(kFrameAxis) >= 0;
      if (port.extents_only == extents_only) add_input(graph, port, inputs[k], static_cast<int>(k));
    }
  };
  add_inputs(false);
  int next = num_inputs_;
  for (const ir::Arg& arg : args)
    if (has_frames && arg.is_value() && graph.type(arg.as_value()).layout.find(kFrameAxis) == 0)
      add_argument(graph, arg, next++);
  add_inputs(true);  // along the axes that there are by then
  for (const ir::Arg& arg : args)
    if (arg.name == kOutputLayout && !arg.is_value())  // what is no text, the schema refuses
      if (const auto* text = std::get_if<std::string>(&arg.as_attr())) asked_ = *text;
}

int Lifting::axis_of(char letter, int occurrence) const {
  for (size_t l = 0; l < axes_.size(); ++l)
    if (axes_[l].letter == letter && axes_[l].occurrence == occurrence) return static_cast<int>(l);
  return -1;
}

int Lifting::add_axis(const LiftedAxis& axis) {
  axes_.push_back(axis);
  for (LiftedOperand& other : operands_) other.dims.push_back(-1);
  return static_cast<int>(axes_.size()) - 1;
}

void Lifting::add_input(const ir::Graph& graph, const Port& spec, ir::ValueId value, int input) {
  ir::Type type = graph.type(value);
  type.layout = layout_of(spec, type);
  if (type.layout.empty()) return;
  LiftedOperand operand{.value = value, .input = input};
  for (int d = 0; d < type.ndim; ++d)
    if (type.layout[d] == kUnnamed || works_on(spec, type.layout[d])) operand.frame_dims.push_back(d);
  if (static_cast<int>(operand.frame_dims.size()) == type.ndim) return;
  operand.frame = without(type, operand.frame_dims);
  if (!is_accepted(spec, operand.frame)) return;  // an error that speaks of the layout as it is
  for (int d = 0; d < type.ndim; ++d) {
    if (std::ranges::find(operand.frame_dims, d) != operand.frame_dims.end()) continue;
    const LiftedAxis axis{type.layout[d], occurrence_in(type.layout, d)};
    int at = axis_of(axis.letter, axis.occurrence);
    if (at < 0 && spec.extents_only) continue;
    if (at < 0) at = add_axis(axis);
    operand.dims.resize(axes_.size(), -1);
    operand.dims[static_cast<size_t>(at)] = d;
  }
  operand.dims.resize(axes_.size(), -1);
  operands_.push_back(std::move(operand));
}

void Lifting::add_argument(const ir::Graph& graph, const ir::Arg& arg, int input) {
  const ir::Type& type = graph.type(arg.as_value());
  LiftedOperand operand{.value = arg.as_value(), .input = input, .argument = arg.name};
  for (int d = 1; d < type.ndim; ++d) operand.frame_dims.push_back(d);
  operand.frame = without(type, operand.frame_dims);
  int at = axis_of(kFrameAxis, 0);
  if (at < 0) at = add_axis({kFrameAxis, 0});
  operand.dims.assign(axes_.size(), -1);
  operand.dims[static_cast<size_t>(at)] = 0;
  operands_.push_back(std::move(operand));
}

const LiftedOperand* Lifting::of_input(int input) const {
  for (const LiftedOperand& operand : operands_)
    if (operand.input == input) return &operand;
  return nullptr;
}

const LiftedOperand* Lifting::of_value(ir::ValueId value) const {
  for (const LiftedOperand& operand : operands_)
    if (operand.value == value) return &operand;
  return nullptr;
}

const ir::Type& Lifting::type(const ir::Graph& graph, ir::ValueId value) const {
  const LiftedOperand* operand = of_value(value);
  return operand != nullptr ? operand->frame : graph.type(value);
}

std::vector<int> Lifting::axes_named_in(std::string_view layout) const {
  std::vector<int> named;
  size_t found = 0;
  for (size_t d = 0; d < layout.size(); ++d) {
    const auto before = static_cast<int>(std::ranges::count(layout.substr(0, d), layout[d]));
    named.push_back(axis_of(layout[d], before));
    found += named.back() >= 0 ? 1 : 0;
  }
  return found == axes_.size() ? named : std::vector<int>();
}

ir::Type Lifting::lifted(ir::Type frame, const ir::Graph& graph) const {
  if (frame.extents.empty()) frame.extents.assign(static_cast<size_t>(frame.ndim), -1);
  if (axes_.empty()) return frame;
  const LiftedOperand& first = operands_.front();
  const bool has_all = std::ranges::find(first.dims, -1) == first.dims.end();
  // For each dimension: its axis of the call, or -1 where it is the frame's next one.
  std::vector<int> places = axes_named_in(asked_);
  if (std::ssize(places) != frame.ndim + std::ssize(axes_)) {
    places.clear();
    if (has_all && frame.layout == first.frame.layout && frame.ndim == first.frame.ndim) {
      for (int d = 0; d < graph.type(first.value).ndim; ++d) {
        const auto at = std::ranges::find(first.dims, d);
        places.push_back(at == first.dims.end() ? -1 : static_cast<int>(at - first.dims.begin()));
      }
    } else {
      for (size_t l = 0; l < axes_.size(); ++l) places.push_back(static_cast<int>(l));
      places.resize(axes_.size() + static_cast<size_t>(frame.ndim), -1);
    }
  }
  const std::string named =
      frame.layout.empty() ? std::string(static_cast<size_t>(frame.ndim), kUnnamed) : frame.layout.str();
  ir::Type out{
      .dtype = frame.dtype, .ndim = frame.ndim + static_cast<int>(axes_.size()), .device = frame.device};
  std::string letters;
  size_t next = 0;
  for (const int l : places) {
    if (l < 0) {
      letters += named[next];
      out.extents.push_back(frame.extents[next++]);
      continue;
    }
    letters += axes_[static_cast<size_t>(l)].letter;
    int64_t extent = -1;
    for (const LiftedOperand& operand : operands_)
      if (const int d = operand.dims[static_cast<size_t>(l)]; d >= 0)
        extent = std::max(extent, graph.type(operand.value).extents[static_cast<size_t>(d)]);
    out.extents.push_back(extent);
  }
  out.layout = Layout(letters);
  return out;
}

std::string Lifting::frame_text(const Operator& op, std::string_view argument, std::string text) const {
  const ArgSpec* spec = op.find_arg(argument);
  if (!lifts() || spec == nullptr || spec->kind != ArgKind::kLayout) return text;
  const std::vector<int> named = axes_named_in(text);
  if (named.empty()) return text;
  std::string frame;
  for (size_t d = 0; d < text.size(); ++d)
    if (named[d] < 0) frame += text[d];
  return frame;
}

std::vector<int> Lifting::dims_in(const Layout& layout) const {
  std::vector<int> dims;
  for (const LiftedAxis& axis : axes_) {
    int at = -1;
    for (int d = 0; d < layout.size(); ++d)
      if (layout[d] == axis.letter && occurrence_in(layout, d) == axis.occurrence) at = d;
    GALATEA_CHECK(at >= 0, "an output of a lifted call lacks an axis");
    dims.push_back(at);
  }
  return dims;
}

ir::Type Lifting::frame_of(const ir::Type& output) const {
  if (axes_.empty()) return output;
  const std::vector<int> dims = dims_in(output.layout);
  std::vector<int> kept;
  for (int d = 0; d < output.ndim; ++d)
    if (std::ranges::find(dims, d) == dims.end()) kept.push_back(d);
  return without(output, kept);
}

void remove_frame_inputs(GraphBuilder::NodeSpec& spec) {
  spec.inputs.resize(static_cast<size_t>(num_own_inputs(spec.inputs, spec.args)));
  std::erase_if(spec.args, [](const ir::Arg& arg) { return arg.name == kPerFrameArg; });
}

void append_frame_inputs(GraphBuilder::NodeSpec& spec, const Lifting& lifting) {
  int64_t count = 0;
  for (const LiftedOperand& operand : lifting.operands()) {
    if (operand.argument.empty()) continue;
    spec.inputs.push_back(operand.value);
    ++count;
  }
  if (count > 0) spec.args.push_back({std::string(kPerFrameArg), ir::Attr(count), {}});
}

}  // namespace galatea::op
