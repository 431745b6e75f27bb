// Changes of a graph for those who look at what a pipeline does: pictures on the way, other random draws.
//
// Comes in: a staged graph. Goes out: the same graph with more outputs, or with other keys of its draws.
#pragma once

#include <vector>

#include "base/source.h"
#include "compiler/ir/graph.h"
#include "compiler/op/builder.h"

namespace galatea {

/// Adds every picture, clip, waveform and spectrogram in a variable that all samples pass through to the outputs, before the pipeline's own,
/// with names such as "image = resize, line 12": the line that people wrote.
void add_nodes_as_outputs(ir::Graph& graph, const SourceMap& sources);

/// Carries values out of the arms of branches, for outputs that not every sample makes.
class Carrier {
 public:
  /// `constant` is the operator of that name.
  Carrier(ir::Graph& graph, const op::Operator& constant);
  /// A constant of one number at the end of a block.
  ir::ValueId constant(ir::BlockId block, const ir::Type& type, int64_t number);
  /// The value at the exit: what `value` is in `block` for samples that pass it, else 0.
  ir::ValueId at_exit(ir::ValueId value, ir::BlockId block);

 private:
  ir::Graph& graph_;
  op::GraphBuilder builder_;
  const op::Operator& constant_;
  std::vector<ir::BlockId> order_;
};

/// Blocks at whose end samples part, in order.
std::vector<ir::BlockId> branches(const ir::Graph& graph);
/// Those of them that every sample comes to.
std::vector<ir::BlockId> common_branches(const ir::Graph& graph);
/// The branch that ends `block` goes one way for every sample; values keep their numbers.
void take_arm(ir::Graph& graph, ir::BlockId block, size_t arm);

/// Other random values for the same samples: new keys for what draws, the reader's order as it was. Draw 0 is
/// the graph's own.
void change_draws(ir::Graph& graph, int draw);

}  // namespace galatea
