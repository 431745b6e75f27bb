// In which order a batch's calls are launched: one launch a call site, or for sites that share one.
//
// Comes in: a program. Goes out: for each kernel call of the device its launch, numbered in an order that
// every way through the program agrees with. Programs only jump forwards, so that there is one, unless calls
// share a launch that some way meets on both sides of another; that is an error of whoever made the program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/program.h"

namespace galatea::runtime {

struct LaunchOrder {
  std::vector<int32_t> launch_of;  ///< per Program::kernel_calls; -1: not of the device
  std::vector<int32_t> kernel_of;  ///< per launch: the first of its kernels in Program::kernels
  int num_launches() const { return static_cast<int>(kernel_of.size()); }
};

Result<LaunchOrder> launch_order(const Program& program);

}  // namespace galatea::runtime
