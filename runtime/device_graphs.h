// CUDA graphs as what explains a plan needs to know them; runtime/cuda/graph_cache.h uses them.
#pragma once

#include <cstddef>

namespace galatea::runtime {

/// Shorter runs of copies and launches stay what they are: launching a graph is taken to cost as much as one
/// launch of a kernel or two.
inline constexpr size_t kLeastGraphCommands = 3;

}  // namespace galatea::runtime
