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

/// The element type of a sum of `in`: integers of 64 bits, in which it is exact, or FLOAT.
DType sum_type(DType in);
/// What it is added up in: integers of 64 bits, or f64.
DType sum_accumulator(DType in);

/// A sum as a mean: f64 divides it, so that the mean of an exact sum is correctly rounded.
Expr mean_of(const Expr& sum, const Expr& count, DType out);

}  // namespace galatea::ops
