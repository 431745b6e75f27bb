// Which images a GPU may decode itself.
//
// Comes in: a graph whose nodes have their places. Goes out: the decoders whose text says device="mixed" and
// whose images nobody but the GPU reads. Who decodes such an image is known when its header is read, so where
// it lies is a matter of the run.
#pragma once

#include <vector>

#include "compiler/plan/placement.h"

namespace galatea::plan {

/// By node; empty: none.
std::vector<bool> offer_decodes(const ir::Graph& graph, const ValueTable& table, const Placement& placement);

}  // namespace galatea::plan
