// The arguments of slice and of the slicing decoder: a window by start, end and shape, absolute or relative,
// along named axes.
//
// Comes in: those arguments. Goes out: for each selected axis its range, as scalars.
#pragma once

#include "stdlib_ops/common/window.h"

namespace galatea::ops {

/// start, end, shape, rel_start, rel_end, rel_shape, axes, axis_names, normalized_anchor, normalized_shape.
std::vector<ArgSpec> slice_args();
/// The axes that the arguments speak of, in their order. `layout` may be empty if axes are numbered.
Result<std::vector<int>> slice_axes(const TypeContext& ctx, const Layout& layout, int ndim);
std::vector<int> slice_axes(const RecipeBuilder& b, const Layout& layout, int ndim);
/// Complains about contradicting arguments and wrong lengths; `first_positional` is the number of the anchor
/// input.
Status check_slice(const TypeContext& ctx, int num_axes, int first_positional);
/// The static extent of axis number n of the selection where the input's extent is `input`; -1 if unknown.
int64_t static_slice_extent(const TypeContext& ctx, int n, int num_axes, int64_t input, int first_positional);
/// The range of axis number n of the selection.
AxisRange slice_range(RecipeBuilder& b, int n, int num_axes, const Expr& input_extent, int first_positional);

/// The ranges of all axes, of which the input has `extents`, where a data node says which are selected.
std::vector<AxisRange> slice_ranges_of_sample(RecipeBuilder& b, const std::vector<Expr>& extents,
                                              int first_positional);
/// Whether a data node says which axes are selected.
template <typename Context>
bool selects_axes_per_sample(const Context& c) {
  return c.is_per_sample("axes") && !c.given("axis_names");
}

}  // namespace galatea::ops
