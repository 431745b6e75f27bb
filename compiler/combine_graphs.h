// Several graphs over the same data as one: what they have in common is computed once.
//
// Comes in: graphs staged from one text with something replaced in it (a policy). Goes out: one graph with
// the outputs of all.
//
// The samples of a block that dominates the exit are all samples; such blocks are the *trunk*. Between two of
// them lies a *fork*: arms that part by one selector and meet again. The trunks are put one after the other.
// Going along the trunk of another graph, a node is there already if one of the trunk has the same operator,
// key, arguments and operands; a fork is there already if one parts by the same selector and has the same
// nodes in its arms. So what stands before the first difference is shared, and what does not depend on the
// difference is shared wherever it stands. Sources are the same in their order.
//
//   %i = decode(%e)          %i = decode(%e)            %i = decode(%e)
//   %a = rotate(%i, 10)  +   %a = rotate(%i, 20)   →    %a = rotate(%i, 10)
//   return %a, %l            return %a, %l              %b = rotate(%i, 20)
//                                                       return %a, %b, %l
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "compiler/ir/graph.h"

namespace galatea {

/// What an output of the combined graph was.
struct CombinedOutput {
  int graph = -1;    ///< -1: the same in all
  size_t index = 0;  ///< among the outputs of that graph
};

struct CombinedGraph {
  std::unique_ptr<ir::Graph> graph;
  std::vector<CombinedOutput> outputs;  ///< by index, then by graph
};

/// At least one graph. `separate`: outputs that come once for each graph even where they are the same. An
/// error (G0503): they read different data, or differ in their number of outputs. Options, and names of
/// outputs, are the first one's.
Result<CombinedGraph> combine_graphs(std::span<const std::unique_ptr<ir::Graph>> graphs,
                                     std::span<const size_t> separate = {});

}  // namespace galatea
