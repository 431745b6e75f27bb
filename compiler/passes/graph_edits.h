// Edits of graphs that several passes share. Each leaves edges, merges and the places of values consistent.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace galatea::passes {

/// Whether the node may be computed elsewhere, once, or not at all: no source, and it sees no other sample,
/// which elsewhere would be others. (A check that fails in a node that nobody uses is nobody's error.)
bool is_pure(const ir::Node& node);
/// Draws nothing.
bool is_keyless(const ir::Node& node);
/// Collects "use this instead of that" and applies it to the whole graph at once.
class Replacements {
 public:
  explicit Replacements(const ir::Graph& graph);
  void add(ir::ValueId from, ir::ValueId to) { to_[from] = to; }
  ir::ValueId resolve(ir::ValueId value) const;
  void apply(ir::Node& node) const;
  void apply(ir::Block& block) const;  ///< its merges and its end
  void apply(ir::Graph& graph) const;

 private:
  std::vector<ir::ValueId> to_;
};

/// Equal bytes: nodes that compute equal values where both are computed. Names and spans do not count. Not
/// for people, nor for longer than the operators live.
std::string signature(const ir::Node& node);
/// The same of a node whose operands are first replaced.
std::string signature(const ir::Node& node, const Replacements& replacements);

/// Puts a node that stands elsewhere at the end of `block`.
void move_to_end(ir::Graph& graph, ir::NodeId node, ir::BlockId block);
/// Puts a node before another one in the other's block.
void move_before(ir::Graph& graph, ir::NodeId node, ir::NodeId other);
/// Takes a merge whose result is unused out of its block.
void remove_merge(ir::Graph& graph, ir::BlockId block, size_t index);
/// `block` ends in a jump to `target`, one of its targets; its edges to the others go.
void jump_instead(ir::Graph& graph, ir::BlockId block, ir::BlockId target);
/// Takes the edge from `predecessor` out; with one predecessor left, merges become their operand.
void remove_edge(ir::Graph& graph, ir::BlockId predecessor, ir::BlockId block);
/// Empties blocks that no path reaches.
void remove_unreachable_blocks(ir::Graph& graph);
/// A block that alone follows a jump is appended to the block that jumps. True if there was one.
bool append_lone_successors(ir::Graph& graph);

}  // namespace galatea::passes
