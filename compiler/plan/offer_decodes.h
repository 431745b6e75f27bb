// Which native functions' work a GPU may do itself.
//
// Comes in: a graph whose nodes have their places. Goes out: the nodes that offer it (op::DeviceOffer), whose
// text says device="mixed", and whose outputs nobody but the GPU reads. Who does the work for a sample is
// known when it begins (its file's header is read), so where its output lies is a matter of the run.
#pragma once

#include <vector>

#include "compiler/plan/placement.h"

namespace galatea::plan {

/// By node; empty: none.
std::vector<bool> offer_decodes(const ir::Graph& graph, const ValueTable& table, const Placement& placement);

}  // namespace galatea::plan
