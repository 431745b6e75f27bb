// Where kernels run if the text does not say: the cheapest choice of all.
//
// Comes in: a table of a graph whose text names no GPU. Goes out: a device for each node. Outputs stay on the
// CPU, as the text has it.
//
// Designs considered: (a) everything that can run on the GPU does (an index for a label would go up and
// down), (b) kernel by kernel, moved while that helps (no kernel of a chain is worth moving alone), (c) the
// least cost over all choices: a kernel costs its work on either device, a tensor between two kernels costs
// its way where they are apart, what the host has to know, or to read, costs a wait. (c) was chosen: with two
// devices it is a minimum cut, which is exact and takes no time for graphs of a few hundred kernels.
//
// A condition that the GPU computes costs a wait as well, unless all of both arms is there: then nobody waits
// for it (device_branches.h). Whether the arms can be recorded is known for certain when their instructions
// are; who finds out that a branch has to wait after all asks again, and says so.
//
// Extents that only data tell count as those of a photograph. The figures are of a processor's core and of a
// card on a PCIe bus, a factor either way; what they decide is which of two very different times is less.
#pragma once

#include "compiler/plan/device_branches.h"
#include "compiler/plan/form_kernels.h"

namespace galatea::plan {

struct CostFigures {
  double host_element = 1.0;    ///< ns: an operation on an element on the CPU, vectors included
  double gpu_element = 0.01;    ///< ns: the same on the GPU
  double gpu_call = 300;        ///< ns: a sample's part of a launch and of its upload
  double byte_over_bus = 0.06;  ///< ns: about 16 GB/s
  double transfer = 300;        ///< ns: a sample's part of a copy
  double wait = 40000;          ///< ns: a sample's part of a wait inside of a batch
};

/// How branches on conditions of the GPU are made.
struct BranchCosts {
  SelectorForm selectors = SelectorForm::kAuto;
  WaitingBranches waiting;  ///< which are known to wait
};

Placement place_by_cost(const ValueTable& table, const op::DeviceMapping& mapping, bool fuse,
                        const CostFigures& figures, const BranchCosts& branches);

}  // namespace galatea::plan
