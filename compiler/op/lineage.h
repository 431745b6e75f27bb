// Which source a node's data comes from: its numbering of samples counts for random draws.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::op {

/// Answers for one graph, which must not change meanwhile; what was found is kept, so that asking for every
/// node costs no more than one walk over the graph.
class Lineage {
 public:
  explicit Lineage(const ir::Graph& graph);
  /// The first source found from the node's inputs, then its per-sample arguments, upwards, depth first
  /// (through merges in order of their operands); if there is none, the first source of the entry block; -1
  /// without any.
  int64_t counting_source(ir::NodeId node);

 private:
  int64_t source_above(ir::ValueId value);

  const ir::Graph& graph_;
  std::vector<int64_t> above_;  ///< of each value, as far as it was looked at
  int64_t first_source_;        ///< of the entry block, or -1
};

/// The same for a single question.
int64_t counting_source(const ir::Graph& graph, ir::NodeId node);

}  // namespace galatea::op
