// Blocks to bytecode.
//
// Comes in: a graph, its value table, its kernel groups, compiled kernels. Goes out: the code, lists and
// tables of a runtime::Program.
//
// Design: scalars are emitted where they are first needed and remembered for every block that this block
// dominates; merges of scalars are moves into registers at the end of each predecessor; an edge that needs
// moves and comes from a branch gets a stub of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/plan/device_branches.h"
#include "compiler/plan/form_kernels.h"
#include "compiler/plan/memory_plan.h"
#include "compiler/values/value_table.h"
#include "runtime/program.h"

namespace galatea::plan {

/// A kernel ready to be called: number in Program::kernels, what it reads, writes and is given.
struct PlannedKernel {
  bool on_gpu = false;
  int kernel = -1;
  std::vector<KernelSource> inputs;
  std::vector<ir::ValueId> outputs;
  std::vector<Expr> params;
  Expr scratch_bytes;  ///< over kParam
  Expr blocks;         ///< over kParam; of a GPU, and may be empty (DeviceKernelFacts)
};

/// What was decided of a graph before code is emitted. `kernels[g]` belongs to groups.groups[g]; empty groups
/// have kernel -1.
struct SamplePlan {
  const KernelGroups& groups;
  const std::vector<PlannedKernel>& kernels;
  const Placement& placement;
  const Residence& residence;
  const DeviceBranches& branches;
  SelectorForm selectors = SelectorForm::kAuto;
  /// Where values would lie if every branch waited; null: nothing is recorded.
  const Residence* if_all_wait = nullptr;
};

/// What a draft of the program has found in the arms of recorded branches.
struct ArmFindings {
  /// Branches that have to wait, since something in their arms needs the host to know the way.
  WaitingBranches waiting;
  /// Operators whose checks may fail in an arm: then, and only then, a batch waits for the flags.
  DoubtfulBranches doubtful;
};
ArmFindings look_at_arms(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
                         const runtime::Program& program);

/// `memory` gets what the program takes, for explain; it may be nullptr.
Status emit_sample_program(ValueTable& table, const SamplePlan& plan, const SourceMap& sources, uint64_t seed,
                           runtime::Program& program, MemoryReport* memory = nullptr);

}  // namespace galatea::plan
