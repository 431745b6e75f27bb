// See placement.h.
#include "compiler/plan/placement.h"

#include <algorithm>

#include "compiler/op/devices.h"
#include "compiler/op/schema.h"
#include "compiler/plan/form_kernels.h"

namespace galatea::plan {
namespace {

/// Whether the node's work can be a kernel of a GPU.
bool can_run_there(const ir::Node& node) {
  if (!node.op || node.op->source) return false;
  const auto& devices = node.op->devices;
  return node.op->kind == op::OperatorKind::kKernel &&
         std::find(devices.begin(), devices.end(), std::string("gpu")) != devices.end();
}

/// Whether any of the values that may come to `value` is meant for the GPU.
class MeantForGpu {
 public:
  MeantForGpu(const ir::Graph& graph, const std::vector<bool>& nodes)
      : graph_(graph), nodes_(nodes), known_(graph.values.size(), -1) {}

  bool operator()(ir::ValueId value) {
    int8_t& known = known_[value];
    if (known >= 0) return known != 0;
    bool found = false;
    if (graph_.value(value).node != ir::kNoId) {
      const ir::NodeId id = graph_.value(value).node;
      found = nodes_[id] || op::hidden_text(graph_.node(id).args, op::kPlacedArg) == "mixed";
    } else {
      const ir::Block& block = graph_.block(graph_.value(value).block);
      for (ir::ValueId operand : block.merges[graph_.value(value).index].operands)
        found = (*this)(operand) || found;
    }
    known_[value] = found ? 1 : 0;
    return found;
  }

 private:
  const ir::Graph& graph_;
  const std::vector<bool>& nodes_;
  std::vector<int8_t> known_;
};

}  // namespace

Placement place_as_stated(const ir::Graph& graph, const op::DeviceMapping& mapping) {
  Placement out;
  out.outputs_on_gpu = mapping.outputs_on_gpu;
  out.nodes.assign(graph.nodes.size(), false);
  // In this order whatever lies above a node has its place.
  MeantForGpu meant(graph, out.nodes);
  for (ir::BlockId block : graph.topological_order())
    for (ir::NodeId id : graph.block(block).nodes) {
      const ir::Node& node = graph.node(id);
      const std::string place = op::hidden_text(node.args, op::kPlacedArg);
      if (!place.empty() || !can_run_there(node)) {
        out.nodes[id] = place == "gpu" && can_run_there(node);
        continue;
      }
      out.nodes[id] = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](ir::ValueId input) { return meant(input); });
    }
  out.why = "devices are as the text says\n";
  return out;
}

Placement place_all(const ir::Graph& graph, const op::DeviceMapping& mapping) {
  Placement out;
  out.outputs_on_gpu = mapping.outputs_on_gpu;
  out.nodes.assign(graph.nodes.size(), false);
  for (const ir::Block& block : graph.blocks)
    for (ir::NodeId id : block.nodes) {
      const ir::Node& node = graph.node(id);
      out.nodes[id] = can_run_there(node) && op::hidden_text(node.args, op::kPlacedArg) != "cpu";
    }
  return out;
}

namespace {

/// Whether the host may read the value's bytes, through views and merges too.
class HostReads {
 public:
  HostReads(const ir::Graph& graph, const ValueTable& table, const Placement& placement)
      : graph_(graph), reads_(graph.values.size()) {
    std::vector<ir::BlockId> order = graph.topological_order();
    for (ir::BlockId b : order)
      for (ir::ValueId result : graph.block(b).terminator.results) reads_[result] = true;
    for (size_t b = order.size(); b-- > 0;) {
      const ir::Block& block = graph.block(order[b]);
      for (size_t n = block.nodes.size(); n-- > 0;) look_at(block.nodes[n], table, placement);
      for (const ir::Merge& merge : block.merges)
        for (ir::ValueId operand : merge.operands) reads_[operand] = reads_[operand] || reads_[merge.result];
    }
  }
  bool operator()(ir::ValueId value) const { return reads_[value]; }

 private:
  void look_at(ir::NodeId id, const ValueTable& table, const Placement& placement) {
    const ir::Node& node = graph_.node(id);
    const auto& outputs = table.lowering(id).outputs;
    bool here = !placement.on_gpu(id);
    for (size_t k = 0; k < outputs.size(); ++k) {
      const bool view = outputs[k].kind == op::LoweredOutput::Kind::kView && !outputs[k].reshape;
      here = here || table.info(node.outputs[k]).scalar || outputs[k].reshape ||
             (view && reads_[node.outputs[k]]);
    }
    for (ir::ValueId input : node.inputs) reads_[input] = reads_[input] || here;
    for (const ir::Arg& arg : node.args)
      if (arg.is_value()) reads_[arg.as_value()] = true;
  }

  const ir::Graph& graph_;
  std::vector<bool> reads_;
};

}  // namespace

bool forget_regions_of_downloads(ir::Graph& graph, const ValueTable& table, const Placement& placement) {
  if (!placement.uses_gpu()) return false;
  const HostReads host_reads(graph, table, placement);
  bool changed = false;
  for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
    ir::Node& node = graph.nodes[id];
    if (!node.op || !placement.on_gpu(id)) continue;
    if (std::none_of(node.outputs.begin(), node.outputs.end(), host_reads)) continue;
    changed =
        std::erase_if(node.args, [](const ir::Arg& arg) { return arg.name == "region_from"; }) > 0 || changed;
  }
  return changed;
}

Residence::Residence(const ValueTable& table, const KernelGroups& groups) {
  const ir::Graph& graph = table.graph();
  values_.assign(graph.values.size(), false);
  for (ir::BlockId b : graph.topological_order()) {
    for (const ir::Merge& merge : graph.block(b).merges)
      values_[merge.result] =
          !table.info(merge.result).scalar && std::any_of(merge.operands.begin(), merge.operands.end(),
                                                          [&](ir::ValueId v) { return values_[v]; });
    for (ir::NodeId id : graph.block(b).nodes) {
      const op::Lowering& lowering = table.lowering(id);
      const int group = groups.of_node[id];
      for (size_t k = 0; k < lowering.outputs.size() && k < graph.node(id).outputs.size(); ++k) {
        const ir::ValueId value = graph.node(id).outputs[k];
        if (table.info(value).scalar) continue;
        const op::LoweredOutput& output = lowering.outputs[k];
        if (output.kind == op::LoweredOutput::Kind::kView && group < 0)
          values_[value] = values_[graph.node(id).inputs[static_cast<size_t>(output.input)]];
        else if (output.kind == op::LoweredOutput::Kind::kStage ||
                 output.kind == op::LoweredOutput::Kind::kText ||
                 output.kind == op::LoweredOutput::Kind::kView)
          values_[value] = group >= 0 && groups.groups[static_cast<size_t>(group)].on_gpu;
      }
    }
  }
}

}  // namespace galatea::plan
