// Kernels that use every scalar operation on every type that takes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/loops/sample_kernels.h"

namespace galatea::testing {

std::vector<std::pair<std::string, SampleKernel>> scalar_kernels();

}  // namespace galatea::testing
