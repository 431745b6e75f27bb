// Scalars of one frame, as they are of the sample: what checks and extents of a lifted call are made of.
//
// Comes in: expressions in which symbols of lifted operands speak of a frame (kExtent of its dimensions,
// kElement of its elements). Goes out: expressions of the graph's values, written out for each frame where
// they differ from frame to frame, and the checks that make them right. See lifting.h.
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "compiler/op/lifting.h"

namespace galatea::op {

/// Axes of a call, one bit each.
using AxisMask = uint32_t;
inline int count(AxisMask mask) { return std::popcount(mask); }

class FrameScalars {
 public:
  /// Adds to `checks`, at once: operands must agree about the number of frames.
  FrameScalars(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting,
               std::vector<Check>& checks);

  /// Of each axis of the call: how many frames there are.
  const std::vector<Expr>& axis_extents() const { return axis_extents_; }
  Expr extent_of(ir::ValueId value, int dim) const;
  /// Null for symbols that do not speak of a frame.
  const LiftedOperand* operand_of(const kernel::ExprNode& symbol) const;
  /// A frame's extent as one of the operand's.
  static Expr extent_symbol(const LiftedOperand& operand, const kernel::ExprNode& symbol);
  static AxisMask mask_of(const LiftedOperand& operand);

  /// A check for each frame.
  void lift_check(const Check& check);
  /// A scalar on which the shape of what is made depends: it has to be the same for all frames.
  Expr uniform(const Expr& e);
  std::vector<Expr> uniform(const std::vector<Expr>& list);
  /// What the frames make together. Frames that are not there take no part.
  Expr meet(const OverFrames& meeting);

  /// The argument per frame of which an expression speaks; empty: none.
  std::string argument_in(const Expr& e) const;
  /// A check that always fails.
  void refuse(std::string argument, std::string message, std::string help);

 private:
  struct Place {
    std::vector<int64_t> at;  ///< along each axis of the call
    Expr exists;              ///< empty: it does
  };
  /// One list for a frame, with what says whether the frame is there.
  struct WrittenOut {
    std::vector<Expr> list;
    Expr exists;  ///< empty: it does
  };

  void find_axis_extents();
  std::string name_of(const LiftedOperand& operand) const;
  AxisMask mask_of(const Expr& e) const;
  AxisMask mask_of(const std::vector<Expr>& list) const;
  std::optional<Expr> at_place(const Expr& e, const std::vector<int64_t>& place) const;
  std::optional<std::vector<Place>> places(AxisMask mask) const;
  std::optional<std::vector<WrittenOut>> written_out(const std::vector<Expr>& list,
                                                     const std::string& argument);
  void check_number_of_frames(AxisMask mask, const std::string& argument);
  void add_check(Check check);
  void refuse_unknown_frames(const Expr& e);

  const ir::Graph& graph_;
  const ir::Node& node_;
  const Lifting& lifting_;
  std::vector<Check>& checks_;
  std::vector<Expr> axis_extents_;
  AxisMask counted_ = 0;  ///< axes of which it is checked that they can be written out
};

}  // namespace galatea::op
