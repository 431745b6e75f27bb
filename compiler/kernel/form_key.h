// What the passes, the schedule and the loops of a kernel depend on, as bytes.
//
// Comes in: a kernel, and what it is scheduled for. Goes out: all of it but names and places in sources. What
// is made from two kernels of equal keys by one build computes the same, so that it need be made once.
#pragma once

#include <string>

#include "compiler/kernel/kernel.h"
#include "compiler/kernel/schedule.h"

namespace galatea::kernel {

std::string form_key(const Kernel& kernel);
std::string options_key(const ScheduleOptions& options);

}  // namespace galatea::kernel
