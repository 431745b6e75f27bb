// Changes of a graph for those who look at what a pipeline does: pictures on the way, other random draws.
//
// Comes in: a staged graph. Goes out: the same graph with more outputs, or with other keys of its draws.
#pragma once

#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"

namespace galatea {

/// Adds every picture, clip, waveform and spectrogram in a variable that all samples pass through to the outputs, before the pipeline's own,
/// with names such as "image = resize, line 12": the line that people wrote.
void add_nodes_as_outputs(ir::Graph& graph, const SourceMap& sources);

/// Branches that every sample comes to, in order.
std::vector<ir::BlockId> common_branches(const ir::Graph& graph);
/// The branch that ends `block` goes one way for every sample; values keep their numbers.
void take_arm(ir::Graph& graph, ir::BlockId block, size_t arm);

/// Other random values for the same samples: new keys for what draws, the reader's order as it was. Draw 0 is
/// the graph's own.
void change_draws(ir::Graph& graph, int draw);

}  // namespace galatea
