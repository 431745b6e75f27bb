// Which native functions' work a GPU may do itself.
//
// Comes in: a graph whose nodes have their places. Goes out: the nodes that offer it (op::DeviceOffer), whose
// text says device="mixed" (decoders) or device="gpu" (readers), and whose outputs nobody but the GPU reads.
// Who does the work for a sample is known when it begins (its file's header is read), so where its output lies
// is a matter of the run.
#pragma once

#include <vector>

#include "compiler/plan/placement.h"

namespace galatea::plan {

/// By node; empty: none. `offers_decodes`: also those of device="mixed".
std::vector<bool> offer_work(const ir::Graph& graph, const ValueTable& table, const Placement& placement,
                             bool offers_decodes);

}  // namespace galatea::plan
