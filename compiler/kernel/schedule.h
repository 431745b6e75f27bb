// Schedule: how each stage is placed and mapped to lanes. Never changes a value.
//
// Comes in: a Kernel and a target. Goes out: a placement per stage; lower() turns both into loops. `reasons`
// is what explain prints.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/kernel/loops.h"

namespace galatea::kernel {

enum class Placement : uint8_t {
  kInlined,  ///< recomputed where it is read
  kRing,     ///< the last rows are kept
  kWhole,    ///< materialised in scratch
  kTable,    ///< computed first, small
  kOutput,   ///< stored to the output only
  kTile,     ///< GPU: each block makes what its tile of the output needs, in its own memory
};
enum class LaneMapping : uint8_t {
  kFlat,    ///< lane = innermost axes taken together (x*C + c)
  kPixel,   ///< lane = x, one register per channel
  kPlanar,  ///< lane = x in planar rows
  kScalar,
};

struct StageSchedule {
  Placement placement = Placement::kWhole;
  LaneMapping lanes = LaneMapping::kScalar;
  int vector_width = 1;
  std::string reason;
};
struct Schedule {
  std::vector<StageSchedule> stages;
};

struct ScheduleOptions {
  bool gpu = false;          ///< phases over a sample's threads; no rings
  bool fuse = true;          ///< false: every stage whole (for comparing)
  int vector_bits = 512;     ///< register width to plan for
  int look_up_cost = 4;      ///< of a byte in a table, in operations on bytes; 0: no such tables
  uint64_t random_seed = 0;  ///< not 0: any legal placement at random (the kernel fuzzer)
};

Schedule make_schedule(const Kernel& kernel, const ScheduleOptions& options);
std::string to_text(const Kernel& kernel, const Schedule& schedule);
LoopKernel lower(const Kernel& kernel, const Schedule& schedule, const ScheduleOptions& options);

}  // namespace galatea::kernel
