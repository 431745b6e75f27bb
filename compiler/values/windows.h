// Which window of each value its readers ask for.
//
// Comes in: a graph and what is known of its scalars. Goes out: a window per value, in symbols that
// mean something where the value is made. It is found backwards from the uses:
//
// - a node asks for what its stages read (demand.h), in turn for the windows that are asked of its outputs,
// if
//   those are computed for their windows only (`region_from`); a view passes on what is asked of it;
// - a merge passes on what is asked of its result, with the operand's extents and scalars in place of the
//   merge's;
// - before a branch, the arms' windows are chosen between by the selector, where that is known early (coin
//   flips, labels); otherwise their hull is asked for.
//
// Never looks at operators' names.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/values/demand.h"
#include "compiler/values/value_table.h"

namespace galatea::values {

/// The remark of a node that is computed for a window of its output only: an integer list, the values that
/// ask for it.
inline constexpr const char* kRegionFromArg = "region_from";

/// Whether a native function of the lowering takes the input.
bool native_reads(const op::Lowering& lowering, int input);
/// Whether an output shows the input's elements in another shape.
bool has_reshape_of(const op::Lowering& lowering, int input);

class Windows {
 public:
  /// The table must be filled.
  explicit Windows(const ValueTable& table);

  struct Asked {
    std::vector<Range> ranges;
    bool nothing = false;  ///< nobody reads an element: the ranges hold one element, where there is one
    std::vector<ir::ValueId> readers;
  };
  /// Nothing if the value leaves the pipeline, some reader takes all of it as it is (native functions, the
  /// whole batch, reshapes), or nobody can tell.
  const std::optional<Asked>& asked(ir::ValueId value);

  /// Whether the view's input is made by a kernel, so that both may become one.
  bool is_view_of_kernel(ir::NodeId node) const;

 private:
  struct Ask {
    bool everything = false;
    Reads reads;
    Expr condition;
    std::vector<ir::ValueId> readers;
  };
  struct Use {
    ir::NodeId node;
    int input;  ///< -1: an argument
  };
  /// What is asked of a value from its place in a block on; one per block, for one value.
  using PerBlock = std::unordered_map<ir::BlockId, Ask>;

  Ask in_block(ir::ValueId value, ir::BlockId block, PerBlock& memo);
  Ask after(ir::ValueId value, ir::BlockId block, PerBlock& memo);
  Ask over_edge(ir::ValueId value, ir::BlockId from, ir::BlockId to, PerBlock& memo);
  Ask by_node(const Use& use, ir::ValueId value);
  Window of_output(ir::NodeId node, size_t k, bool* nothing);
  /// The arm's window, by a selector that is known early.
  Ask chosen(const ir::Terminator& end, const Expr& selector, const std::vector<Ask>& arms) const;
  bool is_whole(const Ask& ask, ir::ValueId value) const;
  bool dominates(ir::BlockId a, ir::BlockId b) const;

  void unite_with(Ask& ask, const Ask& more, ir::ValueId value) const;
  static void note(std::vector<ir::ValueId>& readers, ir::ValueId reader);

  const ValueTable& table_;
  const ir::Graph& graph_;
  std::vector<ir::BlockId> idom_;
  std::vector<std::vector<Use>> uses_;  ///< by nodes, per value, in order
  std::vector<bool> leaves_block_;      ///< per value: used by a terminator, a merge, or another block
  std::unordered_map<ir::ValueId, std::optional<Asked>> asked_;
};

}  // namespace galatea::values
