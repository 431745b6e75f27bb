#include "compiler/passes/map_devices.h"

#include <algorithm>

#include "compiler/op/schema.h"
#include "compiler/passes/graph_edits.h"

namespace galatea::passes {

using namespace ir;

namespace {

bool is_transfer(const Node& node) {
  return node.op && (node.op->name == op::kToGpu || node.op->name == op::kToCpu);
}

/// Where the text puts a node; empty: it does not say.
std::string place_of(const Graph& graph, const Node& node, bool stated) {
  const std::string given = op::hidden_text(node.args, op::kDeviceArg);
  if (!stated) return given;
  const bool gpu = std::any_of(node.outputs.begin(), node.outputs.end(),
                               [&](ValueId output) { return graph.type(output).device == Device::kGpu; });
  if (!gpu) return "cpu";
  // What a host feeds, or a decoder makes, lies in its memory first.
  return given == "mixed" || node.op->source || node.op->kind == op::OperatorKind::kNative ? "mixed" : "gpu";
}

void take_out_transfers(Graph& graph) {
  Replacements replacements(graph);
  std::vector<NodeId> transfers;
  for (const Block& block : graph.blocks)
    for (NodeId id : block.nodes)
      if (is_transfer(graph.node(id))) {
        const ValueId moved = graph.node(id).outputs[0], from = graph.node(id).inputs[0];
        replacements.add(moved, from);
        if (graph.value(from).variable.empty()) graph.values[from].variable = graph.value(moved).variable;
        transfers.push_back(id);
      }
  if (transfers.empty()) return;
  replacements.apply(graph);
  for (NodeId id : transfers) graph.remove_node(id);
}

}  // namespace

bool names_gpu(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.type.device == Device::kGpu; });
}

op::DeviceMapping map_devices(Graph& graph, bool has_gpu) {
  op::DeviceMapping out;
  out.stated = names_gpu(graph);
  for (ValueId result : graph.block(graph.exit_block()).terminator.results)
    out.outputs_on_gpu.push_back(has_gpu && graph.type(result).device == Device::kGpu);
  for (Node& node : graph.nodes) {
    if (!node.op) continue;
    std::string place = has_gpu ? place_of(graph, node, out.stated) : "";
    std::erase_if(node.args, [](const Arg& arg) { return arg.name == op::kDeviceArg; });
    if (!place.empty()) node.args.push_back({std::string(op::kPlacedArg), Attr(std::move(place)), {}});
  }
  take_out_transfers(graph);
  for (Value& value : graph.values) value.type.device = Device::kCpu;
  return out;
}

}  // namespace galatea::passes
