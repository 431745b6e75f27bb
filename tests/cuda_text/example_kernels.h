// The kernels of the examples as a GPU gets them.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/loops.h"

namespace galatea::testing {

struct ExampleKernels {
  std::string name;  ///< of the example
  std::vector<kernel::LoopKernel> kernels;
};
/// Every example's kernels, each once: one that an earlier example has is left out.
const std::vector<ExampleKernels>& example_kernels();
/// Their texts, without the prelude. Kernel n of an example is the function EXAMPLE_n.
std::string text_of(const ExampleKernels& example);

}  // namespace galatea::testing
