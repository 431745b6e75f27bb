// CUDA graphs as what explains a plan needs to know them; runtime/cuda/graph_cache.h uses them.
#pragma once

#include <cstddef>

namespace galatea::runtime {

/// Shorter runs of copies and launches gain nothing as a graph: launching one takes about as long as two
/// launches of kernels.
inline constexpr size_t kLeastGraphCommands = 3;

}  // namespace galatea::runtime
