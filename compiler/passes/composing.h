// What compose_warps and compose_resizes share: chains of nodes that each show an image to the next one.
//
// Comes in: a graph. Goes out: steps (what a node does to places, and what it asks of its arguments), and
// their expressions as texts over the inputs of the one node that replaces a chain. No operator is known by
// name: definitions say what they show (op::AffineView), views by strides are such maps, too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/op/recipe.h"
#include "compiler/passes/pass.h"

namespace galatea::passes {

/// So many maps become one at most.
inline constexpr size_t kMaxComposedMaps = 8;
/// A map that skips so little reads as a magnification does: four pixels still touch all there are.
inline constexpr double kNearlyMagnifies = 1.25;

/// One step from an image to the next.
struct Step {
  ir::NodeId node = ir::kNoId;
  op::AffineView view;
  bool moves_pixels = false;          ///< by strides: reads nothing outside, interpolates nothing
  std::vector<kernel::Expr> extents;  ///< of its output
  std::vector<op::Check> checks;

  /// A resize: its filter widens where it shrinks.
  bool resamples() const { return static_cast<bool>(view.span[0]); }
};

/// compose(node) for all nodes, those nearest to the outputs first, so that chains are as long as they can
/// be. Whether any changed the graph.
bool compose_from_the_end(ir::Graph& graph, const std::function<bool(ir::NodeId)>& compose);

/// Nothing, if the node shows no image so.
std::optional<Step> step_of(const ir::Graph& graph, ir::NodeId node);

/// The step that makes what `reader` reads.
std::optional<Step> maker_of(const ir::Graph& graph, const Step& reader);

/// Why no reader can look through what `maker` makes, or empty.
std::string why_not_through(const ir::Graph& graph, const Step& reader, const Step& maker);

/// Names of those steps that interpolate, in the order in which they run.
std::vector<std::string> names_of(const ir::Graph& graph, const std::vector<Step>& chain);

/// Texts of a chain's expressions (the step nearest to the output first) over the inputs of the node that
/// replaces it. Images that are not made are known by how their extents came to be.
class ChainTexts {
 public:
  ChainTexts(const ir::Graph& graph, const std::vector<Step>& chain);

  std::string operator()(const kernel::Expr& e);
  /// Checks of all steps: condition, message, help, the number of values, values; one after the other.
  std::vector<std::string> checks();
  /// Images and scalars, in the order in which texts number them.
  const std::vector<ir::ValueId>& inputs() const { return inputs_; }
  /// Whether every expression could be said: draws of a node cannot.
  bool complete() const { return complete_; }

 private:
  kernel::Expr imported(const kernel::Expr& e);
  int64_t number(ir::ValueId value);

  const ir::Graph& graph_;
  const std::vector<Step>& chain_;
  std::vector<ir::ValueId> inputs_;
  bool complete_ = true;
};

/// Makes the node nearest to the output a `composed` that does all of the chain: `args`, known extents, type
/// and checks. The remark says that the steps become one `what`. False, and nothing done: the texts cannot be
/// said, or need more inputs than there may be.
bool replace_chain(ir::Graph& graph, const PassContext& context, const op::Operator& composed,
                   const std::vector<Step>& chain, ChainTexts& texts, std::vector<ir::Arg> args,
                   std::string_view what);

}  // namespace galatea::passes
