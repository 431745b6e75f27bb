// Branches whose condition, or index, a GPU computes, without asking it.
//
// Comes in: a placed graph, and what the plan knows of its values. Goes out: which of its branches need not
// wait for the GPU, why the others have to, and the graph with each of the former in a form of which all
// arms can be recorded:
//
//       b: … %flag = stored(%condition)       the condition in the GPU's memory
//       branch %flag ^t ^f
//     t …: the calls of one arm  ─▶ t': jump    each call runs where %flag says so
//     f …: those of the other    ─▶ f': jump
//       j: %r = merge(%x, %y)                 one buffer, which the last calls of both arms write
//
// A choice among functions looks alike: `%arm = select(%index)` is the number of the arm in one byte, and the
// kernel that makes it raises a flag where there is no such arm: an error of the sample, behind the batch.
//
// An arm that hands on what it was given, a view, or a number, stores it (`stored`): its result lies where
// the other arm's would.
//
// Designs considered: (a) both arms run for every sample and a kernel behind them selects (arms cost always,
// and a launch more), (b) the device makes lists of the samples of each arm (a launch and a table for each
// branch, grids for all samples anyway), (c) what follows a branch is recorded once for each arm (copies
// nothing, also where sizes differ, but doubles with every branch), (d) both arms are recorded, and a call
// says under which flags it runs. (d) was chosen: the program stays the one that waits, with one instruction
// in place of a jump, and no operator knows of it. For a choice: (e) one branch for each function (flags
// within arms, a launch each), (f) one of as many arms. (f) was chosen.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/plan/placement.h"
#include "compiler/values/value_table.h"

namespace galatea::op {
class Registry;
}

namespace galatea::plan {

struct KernelGroups;

enum class SelectorForm : uint8_t {
  kAuto,    ///< nobody waits where that can be, unless the host has the condition anyway
  kDevice,  ///< nobody waits where that can be
  kWait,    ///< every condition of the GPU is waited for
};

/// Branches (by the blocks that they end) that wait, and why.
using WaitingBranches = std::map<ir::BlockId, std::string>;

/// Operators in the arms of branches whose checks may fail.
using DoubtfulBranches = std::map<ir::BlockId, std::vector<std::string>>;

/// What becomes of a branch, for explain.
struct BranchReport {
  ir::BlockId block = 0;
  Span span;
  size_t arms = 2;
  bool waits = false;
  std::string why;
  std::vector<std::string>
      doubtful;  ///< operators: where a check of theirs fails, a batch waits all the same
};

/// A branch that need not wait where its condition and all of its arms are on the GPU.
struct RecordableBranch {
  ir::BlockId block = 0;
  std::vector<ir::BlockId> arms;  ///< the blocks of all
};
/// `groups` are those of a placement with all on the GPU that can be there.
std::vector<RecordableBranch> recordable_branches(const ir::Graph& graph, const ValueTable& table,
                                                  const KernelGroups& groups, SelectorForm form,
                                                  const WaitingBranches& waiting);

/// A branch of which all arms are recorded.
struct RecordedBranch {
  ir::BlockId block = 0;  ///< ends in it; the same in the graph before
  ir::ValueId selector = ir::kNoId;
  ir::ValueId flag = ir::kNoId;  ///< one byte: not 0 in the first of two arms; of a choice the arm's number
  ir::BlockId join = 0;          ///< its predecessors are the ends of the arms
  bool is_choice = false;        ///< by an index
  size_t arms = 2;

  /// What the byte is in an arm; a larger one counts as largest().
  uint32_t wanted_in(size_t arm) const { return static_cast<uint32_t>(is_choice ? arm : 1 - arm); }
  uint32_t largest() const { return static_cast<uint32_t>(arms - 1); }
};

/// What is made as a whole because branches are recorded, of which a window would do if they waited.
struct WholeTensor {
  std::string op;
  Span span;
};

struct DeviceBranches {
  std::vector<RecordedBranch> recorded;           ///< in the order of the program
  std::set<ir::ValueId> stored;                   ///< small values that lie in memory
  std::map<ir::ValueId, ir::ValueId> written_to;  ///< what an arm makes right in the memory of a merge
  std::vector<BranchReport> reports;
  std::vector<WholeTensor> made_whole;

  /// The number of the branch of whose join this value is a merge; -1: of none.
  int branch_of_merge(const ir::Graph& graph, ir::ValueId value) const;
};

/// Decides, and changes the graph and the placement where branches are recorded. `waiting`: those that are
/// known to wait.
DeviceBranches record_branches(ir::Graph& graph, const ValueTable& table, const KernelGroups& groups,
                               const op::Registry* registry, SelectorForm form,
                               const WaitingBranches& waiting, Placement& placement);

/// In the order of the program. What arms give lies in one buffer, whole, since nobody knows yet what is read
/// of it: so what they make it of is read, and decoded, as a whole too. `waiting`, `recorded`: the same graph
/// with its branches waited for, and after record_branches().
std::vector<WholeTensor> tensors_made_whole(const ValueTable& waiting, const ValueTable& recorded);

/// For each block the arms that it is in, outer ones first: a number of `recorded`, and which arm.
struct ArmOf {
  int branch = -1;
  size_t arm = 0;
};
std::vector<std::vector<ArmOf>> arms_of_blocks(const ir::Graph& graph, const DeviceBranches& branches);

}  // namespace galatea::plan
