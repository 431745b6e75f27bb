// Fed tensors that are several samples each, as a film is several clips.
//
// Comes in: what a host fed. Goes out: how many samples that is, as the input's native function says.
#pragma once

#include "runtime/loaded_program.h"

namespace galatea::runtime {

/// At least 1. The input has a function that counts parts, and the tensor suits the input's port.
Result<int64_t> count_parts(const LoadedProgram& loaded, const ExternalInput& input, const Tensor& fed);

}  // namespace galatea::runtime
