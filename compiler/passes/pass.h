// What a graph pass is: one function from graph to graph that keeps every value's meaning.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"

namespace galatea::passes {

/// What a pass may look at besides the graph.
struct PassContext {
  const op::Registry& registry;
};

/// Rewrites the graph; says whether it changed anything.
using PassFunction = bool (*)(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
