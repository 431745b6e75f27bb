// From a graph after its passes to a plan: which node runs on which device, in which kernel, in which arms.
//
// Comes in: the graph, its table of values, what the text says of devices. Goes out: all that was decided of
// it before there is code; the program knows its device and its kernels.
#pragma once

#include <memory>
#include <vector>

#include "compiler/op/devices.h"
#include "compiler/plan/placement.h"
#include "compiler/program_kernels.h"
#include "compiler/values/shared_table.h"

namespace galatea {

struct PlannedProgram {
  std::unique_ptr<ir::Graph> graph;
  plan::Placement placement;
  std::unique_ptr<values::ValueTable> table;
  plan::KernelGroups groups;
  plan::Residence residence;
  plan::DeviceBranches branches;
  plan::SelectorForm selectors = plan::SelectorForm();
  std::vector<plan::PlannedKernel> planned_kernels;  ///< of each group
  std::unique_ptr<ProgramKernels> kernels;

  plan::SamplePlan sample_plan() const {
    return {groups, planned_kernels, placement, residence, branches, selectors};
  }
};

Result<PlannedProgram> plan_program(const CompileJob& job, std::unique_ptr<ir::Graph> graph,
                                    values::SharedTable& table, const op::DeviceMapping& mapping,
                                    codegen::KernelBackend& backend, runtime::Program& program);

}  // namespace galatea
