// One element of a pixel function while its function of coordinates runs.
//
// Comes in: nodes and merges that the evaluator makes on blocks of their own, beside the pipeline. Goes out:
// scalar expressions over coordinates, reads of images and scalars of the sample, and at last one expression
// in the text form of kernels.
//
// The function of coordinates is evaluated like any other: its values are nodes without dimensions, its `if`
// makes blocks and merges. What a node computes is asked of its operator's definition, and a merge becomes a
// select, since both arms of an `if` are computed for every element. Then the blocks are removed: of all
// this, the graph keeps one node.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/expr.h"
#include "compiler/op/builder.h"

namespace galatea::dsl {

class PixelScope {
 public:
  /// `image`, if not kNoId, becomes input 0. Everything that `builder` makes on blocks from now on is the
  /// element's.
  PixelScope(ir::Graph& graph, op::GraphBuilder& builder, ir::ValueId image, kernel::Border border,
             double fill);

  ir::BlockId first_block() const { return first_block_; }
  bool owns_block(ir::BlockId block) const { return block >= first_block_; }
  /// Whether a value was computed for this element; the others are the pipeline's.
  bool owns(ir::ValueId value) const { return owns_block(graph_.value(value).block); }

  /// What a node of this scope computes becomes known. False: it is no scalar arithmetic.
  bool adopt(ir::NodeId node);
  /// The value of a node made for `e` is `e`.
  void define(ir::ValueId value, kernel::Expr e) { values_[value] = {std::move(e)}; }
  /// An element of a value: of the scope, or of the sample.
  kernel::Expr element(ir::ValueId value, int64_t index = 0);

  kernel::Expr coordinate(int number) const;
  /// Extent of dimension `dim` of a tensor of the sample; i32.
  kernel::Expr extent(ir::ValueId tensor, int dim) const;
  /// A read at integer places, first coordinate first; integers of less than 32 bits become i32, halves f32.
  kernel::Expr read(ir::ValueId tensor, std::vector<kernel::Expr> indices);
  /// A read between pixels: rows and columns are numbers.
  kernel::Expr read_between(ir::ValueId tensor, const kernel::Expr& row, const kernel::Expr& column,
                            std::vector<kernel::Expr> rest);

  struct Finished {
    std::string body;
    std::vector<ir::ValueId> inputs;
    size_t reads = 0, depth = 0;  ///< how many places are read, how deep the expression is nested
  };
  Finished finish(const kernel::Expr& element);
  /// Takes the blocks and what stands on them out of the graph again. Values and blocks from the returned ids
  /// on are gone.
  void remove();
  ir::ValueId first_value() const { return first_value_; }

 private:
  /// The conditions under which a block is reached, and whether each holds or not.
  using Literals = std::vector<std::pair<kernel::Expr, bool>>;
  const Literals& reach(ir::BlockId block);
  Literals edge(ir::BlockId from, ir::BlockId to, bool second);
  std::vector<Literals> edges_into(ir::BlockId block);
  kernel::Expr merged(ir::ValueId value);
  kernel::Expr load(ir::ValueId tensor, std::vector<kernel::Expr> indices);
  int input_of(ir::ValueId value);
  /// The expression that is equal to this one, so that a place read twice is one read.
  kernel::Expr once(kernel::Expr e);

  ir::Graph& graph_;
  ir::BlockId first_block_;
  ir::NodeId first_node_;
  ir::ValueId first_value_;
  kernel::Border border_;
  double fill_;
  std::vector<ir::ValueId> inputs_;
  std::unordered_map<ir::ValueId, std::vector<kernel::Expr>> values_;
  std::unordered_map<ir::BlockId, Literals> reach_;
  std::unordered_multimap<uint64_t, kernel::Expr> known_;  ///< reads, by hash
};

/// An index as i64. Sums of coordinates, extents and constants that cannot overflow are rebuilt in i64, where
/// the compiler sees how they move along the axes.
kernel::Expr wide_index(const kernel::Expr& e);

}  // namespace galatea::dsl
