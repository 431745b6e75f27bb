// Where nodes run, and where their results lie.
//
// Comes in: a mapped graph (passes/map_devices.h) after the passes. Goes out: a device for each node. Where
// the text names GPUs it is followed; where it names none, place_by_cost() chooses.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/devices.h"
#include "compiler/values/value_table.h"

namespace galatea::plan {

using kernel::Expr;
using values::ValueInfo;
using values::ValueTable;

struct Placement {
  std::vector<bool> nodes;           ///< on the GPU; empty: no GPU is used
  std::vector<bool> outputs_on_gpu;  ///< of each output
  std::string why;                   ///< for explain; lines

  bool uses_gpu() const { return !nodes.empty(); }
  bool on_gpu(ir::NodeId node) const { return !nodes.empty() && nodes[node]; }
  bool output_on_gpu(size_t output) const { return !outputs_on_gpu.empty() && outputs_on_gpu[output]; }
};

/// As the remarks say. A node without one, which a pass has made, goes where its inputs are.
Placement place_as_stated(const ir::Graph& graph, const op::DeviceMapping& mapping);
/// Everything that could run on a GPU there, but for what the text keeps on the CPU.
Placement place_all(const ir::Graph& graph, const op::DeviceMapping& mapping);

/// A tensor of the GPU that the host reads is copied whole, so it is computed whole: takes the remarks of
/// regions away that say otherwise. True: the table has to be made anew.
bool forget_regions_of_downloads(ir::Graph& graph, const ValueTable& table, const Placement& placement);

struct KernelGroups;

/// Which values lie in the GPU's memory when a program runs: what its kernels make, and views and merges of
/// that. A merge may bring such values together with others.
class Residence {
 public:
  Residence() = default;
  Residence(const ValueTable& table, const KernelGroups& groups);
  bool on_gpu(ir::ValueId value) const { return value < values_.size() && values_[value]; }

 private:
  std::vector<bool> values_;  ///< empty: none
};

}  // namespace galatea::plan
