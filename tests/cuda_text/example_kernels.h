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
/// The function that kernel n of an example becomes: kEXAMPLE_n.
std::string name_of(const ExampleKernels& example, size_t number);
/// Their texts, without the prelude: of one, of all.
std::string text_of(const ExampleKernels& example, size_t number);
std::string text_of(const ExampleKernels& example);

}  // namespace galatea::testing
