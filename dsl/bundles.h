// Bundles of `galatea.together(image=…, …)`: a picture and what lies on it, carried where the picture goes.
//
// Comes in: calls of `galatea.together`, operators applied to bundles, and attributes asked of them. Goes out:
// nodes and bundles. Nothing is kept between calls: a bundle is a record of values.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "dsl/calls.h"
#include "dsl/value.h"

namespace galatea::dsl {

class Evaluator;

bool is_bundle(const Value& value);
/// A data node, or a bundle, whose picture is one.
inline bool is_data(const Value& value) { return value.is_node() || is_bundle(value); }
/// The picture of a bundle; any other value as it is.
Value picture_of(const Value& value);

class Bundles {
 public:
  /// An operator on pictures of bundles.
  struct Call {
    std::string what;  ///< for messages
    Span span;
  };

  explicit Bundles(Evaluator& evaluator) : ev_(evaluator) {}

  /// `galatea.together(image=…, …)`.
  Value make(CallArguments& arguments);
  /// `name` of a bundle: what lies on the picture, as the picture lies now; else an attribute of the picture.
  Value attribute(const Value& bundle, const std::string& name, Span span, Span name_span);
  /// The bundle with its pictures on another device.
  Value move(const Value& bundle, ir::Device to, Span span);
  /// What `made`, the result of an operator on pictures of bundles, is with what belongs to the picture.
  Value carry(const Value& made, const std::vector<Value>& operands, const Call& call);

 private:
  /// The first of the operands that is a bundle, where all that are lie alike; none: poison, after an error.
  Value common(const std::vector<Value>& operands, const Call& call);
  Value carry_moved(const Value& made, const Value& bundle, const Call& call);
  /// What the operator of a node makes of a mask.
  Value mask_node(const ir::Node& like, const Value& mask, const Value& fill, Span span);
  Value shown_boxes(const Value& bundle, Span span);
  /// Rows of boxes that are seen: of one tensor, or of each of a list.
  Value kept_rows(const Value& bundle, const Value& rows, Span span);

  Evaluator& ev_;
};

}  // namespace galatea::dsl
