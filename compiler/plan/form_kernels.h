// What becomes one kernel.
//
// Comes in: a value table. Goes out: groups of nodes, each run as one kernel at the place of its last node.
//
// Designs considered: (a) one kernel a node (simple, a pass over memory each), (b) maximal subgraphs with
// several outputs (what leaves early must be stored anyway, and the whole waits for its last input), (c) one
// output, and every producer that only this kernel reads, through however many of its nodes. (c) was chosen:
// such a kernel can always run at its root's place and nothing is computed twice because of it; whether the
// kernel computes something twice is the schedule's choice.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/placement.h"
#include "compiler/values/value_table.h"

namespace galatea::plan {

struct KernelGroup {
  std::vector<ir::NodeId> nodes;  ///< in order; the last one's outputs are the group's
  ir::BlockId block = 0;
  bool on_gpu = false;
  std::vector<bool> ends_in_batch;  ///< of each of its outputs: the batch is all that wants it, behind merges
  std::string why;                  ///< for explain: what joined, what did not, and why
};

/// Index of the group of each node (-1: no kernel), and the groups. Groups that were absorbed are left empty.
struct KernelGroups {
  std::vector<int> of_node;
  std::vector<KernelGroup> groups;
};

KernelGroups form_kernels(const ValueTable& table, bool fuse, const Placement& placement = {});

/// What a kernel reads: a value of the graph, or a tensor of the program.
struct KernelSource {
  ir::ValueId value = ir::kNoId;
  std::shared_ptr<const runtime::ConstantTensor> constant;
};

/// A group as a kernel whose numbers have become parameters. On a GPU, elements of what lies in its memory
/// are read by the kernel; elsewhere they are numbers of the sample program.
struct BuiltKernel {
  kernel::Kernel kernel;
  std::vector<KernelSource> inputs;  ///< of each kernel input
  std::vector<ir::ValueId> outputs;  ///< value of each kernel output
  std::vector<Expr> params;          ///< scalars of the sample program
  /// In place of `kernel`, which has a name alone: a kernel of the user's own.
  std::shared_ptr<const op::TextCall> text;
};
BuiltKernel build_kernel(const ValueTable& table, const KernelGroup& group, const Residence& residence);
/// Drops parameters that no expression uses any more. Goes out: the numbers of those that are left, in order.
std::vector<size_t> drop_unused_params(kernel::Kernel& kernel);

}  // namespace galatea::plan
