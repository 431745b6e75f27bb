// What a graph pass is: one function from graph to graph that keeps every value's meaning.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/operator.h"

namespace galatea::values {
class SharedTable;
}  // namespace galatea::values

namespace galatea::passes {

/// What a pass did at one place, for explain.
struct Remark {
  std::string text;
  Span span;
};

/// What a pass may look at besides the graph.
struct PassContext {
  const op::Registry& registry;
  /// Of the graph as it comes. What a pass takes from it stays good while the pass changes the graph.
  values::SharedTable& table;
  std::vector<Remark>* remarks = nullptr;  ///< where to say what was done; may be null
  bool for_gpu = false;                    ///< a store costs a launch there

  void remark(std::string text, Span span) const {
    if (remarks) remarks->push_back({std::move(text), span});
  }
};

/// Rewrites the graph; says whether it changed anything: the table of a graph that is said to be unchanged is
/// used again.
using PassFunction = bool (*)(ir::Graph& graph, const PassContext& context);

}  // namespace galatea::passes
