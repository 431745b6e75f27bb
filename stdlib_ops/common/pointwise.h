// Element-wise operators over broadcast inputs.
//
// Comes in: a function of one element of each input. Goes out: few elements as scalars of the sample program
// (so that selectors and arguments cost no kernel), more as one map stage. Broadcasting is NumPy's, per
// sample: an extent of 1 stretches.
#pragma once

#include <functional>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Outputs with at most this many elements, all of known extents, are computed as scalars.
inline constexpr int64_t kMaxScalarElements = 16;

/// Type of the inputs broadcast together, with the given element type; complains about extents and layouts
/// that cannot meet.
Result<ir::Type> broadcast_type(const TypeContext& ctx, DType dtype);

/// Whether output 0 and the inputs are small and static enough for output_scalars.
bool fits_scalars(const RecipeBuilder& b);
/// Output 0 = f(one element of every input, in the input's own type).
void pointwise(RecipeBuilder& b, const std::string& name,
               const std::function<Expr(const std::vector<Expr>&)>& f);

/// Output k is input `input` as it is.
void copy_view(RecipeBuilder& b, int k, int input);

/// Where the extent of a dimension comes from, followed through operators that keep extents; equal roots mean
/// equal extents.
struct ExtentRoot {
  ir::ValueId value = ir::kNoId;
  int dim = 0;
  friend bool operator==(const ExtentRoot&, const ExtentRoot&) = default;
};
ExtentRoot extent_root(const ir::Graph& graph, ir::ValueId value, int dim);

/// Row-major strides of static extents.
std::vector<int64_t> static_strides(const std::vector<int64_t>& extents);
/// The multi-index of a flat element.
std::vector<int64_t> unflatten(int64_t flat, const std::vector<int64_t>& extents);

}  // namespace galatea::ops
