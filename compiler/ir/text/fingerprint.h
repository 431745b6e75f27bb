// What decides the values of a pipeline, as a number: equal for the same pipeline on any machine, another one
// for another pipeline.
//
// Comes in: a graph as it was staged. Goes out: a checksum of its operators, arguments, keys and control
// flow. Left out is what changes no value: names of variables, places in the text, batch size, threads,
// prefetching, arguments without effect; and the texts by which readers find their data, which may lie
// elsewhere (the data have a fingerprint of their own, runtime/session_state.h).
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace galatea::ir {

uint64_t fingerprint(const Graph& graph);

}  // namespace galatea::ir
