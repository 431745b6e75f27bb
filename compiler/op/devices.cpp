// See devices.h.
#include "compiler/op/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/attr.h"
#include "compiler/messages/messages.h"
#include "compiler/op/lifting.h"
#include "compiler/op/schema.h"

namespace galatea::op {
namespace {

using compiler::Message;
using compiler::user_error;
using NodeSpec = GraphBuilder::NodeSpec;

bool on_gpu(const ir::Graph& graph, ir::ValueId value) {
  return graph.type(value).device == ir::Device::kGpu;
}

/// A number or an array of the text lies wherever it is needed.
bool is_constant(const ir::Graph& graph, ir::ValueId value) {
  const ir::Node* node = graph.defining_node(value);
  return node && node->op->name == "constant" && hidden_text(node->args, kDeviceArg).empty();
}

bool takes_from_anywhere(const Operator& op, size_t k) {
  return !op.inputs.empty() && op.inputs[std::min(k, op.inputs.size() - 1)].any_device;
}

bool is_taken_from_gpu(const Operator& op, const ir::Arg& arg) {
  const ArgSpec* spec = op.find_arg(arg.name);
  return spec && spec->any_device;
}

std::string name_of_input(const Operator& op, size_t k) {
  if (op.inputs.empty()) return fmt::format("input {}", k);
  return fmt::format("input {} ({})", k, op.inputs[std::min(k, op.inputs.size() - 1)].name);
}

/// "write `image.cpu()`".
std::string move_it(const ir::Graph& graph, ir::ValueId value, std::string_view method) {
  const std::string& variable = graph.value(value).variable;
  return fmt::format("move it: `{}.{}()`", variable.empty() ? "…" : variable, method);
}

std::string help_for_device(const Operator& op, const std::string& given) {
  const bool is_mixed =
      std::find(op.devices.begin(), op.devices.end(), std::string("mixed")) != op.devices.end();
  if (is_mixed) return "write `device=\"mixed\"`: the bytes lie on the CPU, the image on the GPU";
  if (given == "mixed") return "`mixed` is for decoders; write `device=\"gpu\"`, or leave it out";
  return "leave `device=` out; `.gpu()` moves the result";
}

std::unexpected<Error> wrong_place(const ir::Graph& graph, const NodeSpec& spec, size_t k, bool runs_on_gpu) {
  return user_error(Message::kInputOnDevice, spec.span, display_name(*spec.op), runs_on_gpu ? "GPU" : "CPU",
                    name_of_input(*spec.op, k), runs_on_gpu ? "CPU" : "GPU",
                    move_it(graph, spec.inputs[k], runs_on_gpu ? "gpu" : "cpu"));
}

}  // namespace

std::string hidden_text(const std::vector<ir::Arg>& args, std::string_view name) {
  const auto found =
      std::find_if(args.begin(), args.end(), [&](const ir::Arg& arg) { return arg.name == name; });
  if (found == args.end() || found->is_value()) return {};
  const auto* text = std::get_if<std::string>(&found->as_attr());
  return text ? *text : std::string();
}

Result<ir::Device> device_of_results(const ir::Graph& graph, const NodeSpec& spec) {
  const Operator& op = *spec.op;
  for (const ir::Arg& arg : spec.args)
    if (arg.is_value() && on_gpu(graph, arg.as_value()) && !is_taken_from_gpu(op, arg))
      return user_error(Message::kArgumentOnGpu, arg.span.valid() ? arg.span : spec.span, display_name(op),
                        arg.name, move_it(graph, arg.as_value(), "cpu"));
  const std::string given = hidden_text(spec.args, kDeviceArg);
  // Arguments per frame, which stand behind the inputs, are arguments.
  const auto own_inputs = static_cast<size_t>(num_own_inputs(spec.inputs, spec.args));
  const bool has_gpu_input =
      std::any_of(spec.inputs.begin(), spec.inputs.begin() + static_cast<std::ptrdiff_t>(own_inputs),
                  [&](ir::ValueId input) { return on_gpu(graph, input); });
  const bool by_input = given.empty() && has_gpu_input && !op.cpu_outputs;
  const std::string device = !given.empty() ? given : by_input ? "gpu" : "cpu";
  const bool known = std::find(op.devices.begin(), op.devices.end(), device) != op.devices.end();
  if (!known && !given.empty())
    return user_error(Message::kNoSuchDevice, spec.span, display_name(op), given, help_for_device(op, given));
  const bool runs_on_gpu = device == "gpu" && known;
  for (size_t k = 0; k < own_inputs; ++k) {
    const bool there = on_gpu(graph, spec.inputs[k]);
    if (there == runs_on_gpu) continue;
    if (there ? op.cpu_outputs : takes_from_anywhere(op, k) || is_constant(graph, spec.inputs[k])) continue;
    return wrong_place(graph, spec, k, runs_on_gpu);
  }
  return device == "cpu" ? ir::Device::kCpu : ir::Device::kGpu;
}

}  // namespace galatea::op
