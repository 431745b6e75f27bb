// What reductions share: which axes vanish, and how an element of the input is found from those that stay.
//
// Comes in: axes=, axis_names=, keep_dims= and the type of input 0. Goes out: the reduced type; the boxes of
// a reduce stage.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// axes, axis_names, keep_dims.
std::vector<ArgSpec> reduction_args();
/// The data input: any layout, the element types that reductions take.
Port reduction_input();

/// `in` without the axes (or with extent 1 there), with the given element type.
ir::Type reduced_type(const ir::Type& in, const std::vector<int>& axes, bool keep_dims, DType dtype);

/// The domain of a reduce stage over input 0.
struct ReductionBox {
  std::vector<Expr> extents;  ///< of the result
  std::vector<Expr> over;     ///< of the reduced axes; never empty
  Expr count;                 ///< how many elements fall together
  std::vector<int> place;     ///< per input dimension: its axis of the result, -1 where reduced

  /// The input's index of an element of the result and one of the reduced axes.
  Axes index(const Axes& at, const Axes& inner) const;
};
ReductionBox reduction_box(const RecipeBuilder& b, const std::vector<int>& axes, bool keep_dims);

/// The element type in which sums of `in` are exact, or f32.
DType sum_type(DType in);

/// A sum (of sum_type()) as a mean: exact integer sums divide in f64, so that it is correctly rounded.
Expr mean_of(const Expr& sum, const Expr& count, DType out);

}  // namespace galatea::ops
