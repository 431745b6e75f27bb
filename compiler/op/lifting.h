// What a call does to frames: an operator says over which named axes it works (Port::axes), and over all
// others it does to one frame what its definition says.
//
// Comes in: a call and the types of its operands. Goes out: the types of one frame, which is all that type
// rules and definitions see, and lift(), which makes of a definition's lowering of one frame that of all of
// them: stages that depend on frames get their axes in front, and every load of such a stage or input its
// place along them. What depends on no frame (tables, weights, draws) is made once.
//
// Arguments per frame: a data node whose first axis is named F, for a call that is lifted over F. They follow
// the operator's own inputs in the node (kPerFrameArg says how many), so that passes and plan see what reads
// them; the definition asks for them as for any argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/recipe.h"

namespace galatea::op {

/// Letter of the axis over which arguments can be given per frame.
inline constexpr char kFrameAxis = 'F';

/// An axis over which a call is lifted.
struct LiftedAxis {
  char letter = 0;
  int occurrence = 0;  ///< among the axes of this letter
};

/// An operand of which the operator sees one frame at a time.
struct LiftedOperand {
  ir::ValueId value = ir::kNoId;
  int input = -1;               ///< its number among the node's inputs
  std::string argument;         ///< the argument it is; empty: an input
  ir::Type frame;               ///< what the operator sees
  std::vector<int> dims;        ///< per axis of the call: its dimension, or -1
  std::vector<int> frame_dims;  ///< the dimensions that a frame has
};

class Lifting {
 public:
  /// Of a call whose arguments per frame may, or may not yet, stand behind the operator's own inputs.
  Lifting(const ir::Graph& graph, const Operator& op, const std::vector<ir::ValueId>& inputs,
          const std::vector<ir::Arg>& args);

  /// Whether the operator sees other operands than the call has: over axes() it is repeated, if there are any.
  bool lifts() const { return !operands_.empty(); }
  const std::vector<LiftedAxis>& axes() const { return axes_; }
  const std::vector<LiftedOperand>& operands() const { return operands_; }
  /// Inputs of the operator's own.
  int num_inputs() const { return num_inputs_; }
  /// Null where the operator sees the operand as it is.
  const LiftedOperand* of_input(int input) const;
  const LiftedOperand* of_value(ir::ValueId value) const;
  /// The type of a value, or of a frame of it.
  const ir::Type& type(const ir::Graph& graph, ir::ValueId value) const;

  /// Of an output, as a type rule says it of a frame: axes stand where the text's output_layout has them, or
  /// where the first operand has them, if that has the frame's layout, else in front.
  ir::Type lifted(ir::Type frame, const ir::Graph& graph) const;
  /// The same backwards.
  ir::Type frame_of(const ir::Type& output) const;
  /// A layout that the text gives for an output, as it is for a frame: without the axes of the call, if it
  /// names all of them.
  std::string frame_text(const Operator& op, std::string_view argument, std::string text) const;
  /// The dimension of each axis in a layout.
  std::vector<int> dims_in(const Layout& layout) const;

 private:
  int axis_of(char letter, int occurrence) const;
  int add_axis(const LiftedAxis& axis);
  void add_input(const ir::Graph& graph, const Port& spec, ir::ValueId value, int input);
  void add_argument(const ir::Graph& graph, const ir::Arg& arg, int input);
  /// For each letter: its axis of the call, or -1; nothing if the layout lacks an axis.
  std::vector<int> axes_named_in(std::string_view layout) const;

  std::vector<LiftedAxis> axes_;
  std::vector<LiftedOperand> operands_;
  std::string asked_;  ///< the text's output_layout, if there is one
  int num_inputs_ = 0;
};

/// Whether the operator works on an axis of this letter, so that it is not lifted over it.
bool works_on(const Port& input, char letter);

/// Inputs of a call without those that are arguments per frame.
int num_own_inputs(const std::vector<ir::ValueId>& inputs, const std::vector<ir::Arg>& args);
/// Takes arguments per frame from behind the inputs, or puts them there.
void remove_frame_inputs(GraphBuilder::NodeSpec& spec);
void append_frame_inputs(GraphBuilder::NodeSpec& spec, const Lifting& lifting);

/// What a definition said of one frame, for all of them.
Lowering lift(const ir::Graph& graph, const ir::Node& node, const Lifting& lifting, Lowering frame);

}  // namespace galatea::op
