// Builds graphs; every node is checked by its operator's schema and type rule.
//
// Comes in: calls, blocks and their edges. Goes out: a graph that is legal as far as its nodes go (what holds
// of all of it is looked at by ir/text/verifier.h); or the error of a call.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::op {

class Registry;

class GraphBuilder {
 public:
  /// With a registry, calls that are several nodes become those (Operator::expand).
  explicit GraphBuilder(ir::Graph& graph, const Registry* registry = nullptr)
      : graph_(graph), registry_(registry) {}
  ir::BlockId add_block();
  void set_insertion_block(ir::BlockId block) { block_ = block; }
  ir::BlockId insertion_block() const { return block_; }

  struct NodeSpec {
    const Operator* op = nullptr;
    std::vector<ir::ValueId> inputs;
    std::vector<ir::Arg> args;
    Span span;
    std::vector<CallSite> calls;
    uint64_t key = 0;
    bool has_own_seed = false;
    std::string name;
  };
  /// Checks arguments against the schema (schema.h), runs the type rule, appends the node to the insertion
  /// block. The error carries the call's span. Of several nodes, the last.
  Result<ir::NodeId> add_node(NodeSpec spec);
  /// Operands of the last call, in the graph or refused, whose extents its type rule would know.
  const std::vector<ir::ValueId>& wanted_extents() const { return wanted_; }
  ir::ValueId add_merge(ir::BlockId block, ir::Type type, std::vector<ir::ValueId> operands, Span span);
  void jump(ir::BlockId from, ir::BlockId to, Span span);
  void branch(ir::BlockId from, ir::ValueId selector, ir::BlockId if_true, ir::BlockId if_false, Span span);
  void switch_to(ir::BlockId from, ir::ValueId selector, std::vector<ir::BlockId> targets, Span span);
  void return_values(ir::BlockId from, std::vector<ir::ValueId> results, Span span);
  ir::Graph& graph() { return graph_; }

 private:
  ir::Graph& graph_;
  const Registry* registry_;
  ir::BlockId block_ = 0;
  std::vector<ir::ValueId> wanted_;
};

}  // namespace galatea::op
