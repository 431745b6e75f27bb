// Which calls of kernels are launched together.
//
// Comes in: a program whose kernel calls of the GPU stand at their sites. Goes out: for each call the number
// of its launch. A launch runs the calls of the whole batch, so what counts is how many a batch needs: as
// many as the longest path has calls, if calls that no path has both of share one.
//
// Designs considered: (a) a launch a site (a policy of 14 arms a step is 14 launches a step), (b) the sites
// of one branch, found from the graph (arms of several calls, early returns and nested branches each need a
// rule), (c) a level for each site: one more than the highest before it on any path. (c) was chosen: sites of
// a level exclude each other whatever the program looks like, a sample's own calls keep their order (so that
// its memory can be used again as on the CPU), and the number of levels is the least that keeps it.
// Independent kernels of one path stay apart: their memory follows that order.
//
// Sites of a level with different kernels are one launch of one text, in which each call names its kernel
// (`opcode`); few of them may be better as launches of their own, each as small as its kernel allows.
#pragma once

#include <string>
#include <vector>

#include "runtime/program.h"

namespace galatea::plan {

enum class LaunchForm : uint8_t {
  kAuto,      ///< one launch where a level has many kernels
  kMerged,    ///< one launch a level
  kSeparate,  ///< one launch a kernel of a level
};

struct Launch {
  int level = 0;
  std::vector<int32_t> calls;  ///< of Program::kernel_calls, in order
  std::vector<int> kernels;    ///< of Program::kernels, all different, in the order of their opcodes
  std::string why;
};

/// Numbers the launches in Program::kernel_calls, in an order in which they may be enqueued.
std::vector<Launch> plan_launches(runtime::Program& program, LaunchForm form);

/// The number of a kernel of a launch in Program::kernels, with its opcode: the planned kernel itself, or a
/// copy where it belongs to another launch already. The launch's calls of it name that from now on.
/// `planned`: the kernels before the first call.
int kernel_for_launch(runtime::Program& program, const std::vector<runtime::ProgramKernel>& planned,
                      const Launch& launch, size_t opcode);

}  // namespace galatea::plan
