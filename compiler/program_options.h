// What a pipeline's options are in its program.
#pragma once

#include "compiler/ir/graph.h"
#include "runtime/program.h"

namespace galatea {

/// Batch size, threads, prefetching, the answer to errors, the memory limit and the seed, which is drawn
/// where the text has none.
void set_options(const ir::Graph& graph, runtime::Program& program);

}  // namespace galatea
