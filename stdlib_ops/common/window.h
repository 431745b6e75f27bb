// Windows: boxes over named axes. The arguments that place a crop, and what lies outside the image.
//
// Comes in: the crop arguments of a node. Goes out: for each of the axes D, H and W that there is, the first
// place and the extent, as scalars, with their checks.
#pragma once

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// One axis of a window: [start, start + extent) of the input.
struct AxisRange {
  Expr start, extent;
};

/// crop, crop_h/w/d, crop_pos_x/y/z, rounding.
std::vector<ArgSpec> crop_args();
/// out_of_bounds_policy, fill_values.
std::vector<ArgSpec> bounds_args();
/// Those of the letters D, H, W that a layout has, in this order.
std::string window_axes_of(const Layout& layout);
/// Complains about contradicting crop arguments and static windows that cannot fit; gives the static extents
/// (-1: unknown) of the window along `axes`, of which the input has `extents`.
Result<std::vector<int64_t>> crop_types(const TypeContext& ctx, const std::string& axes,
                                        const std::vector<int64_t>& extents, bool may_pad);
/// The window of an image of the given extents, along each of `axes`.
std::vector<AxisRange> crop_window(RecipeBuilder& b, const std::string& axes,
                                   const std::vector<Expr>& extents);

enum class BoundsPolicy : uint8_t { kError, kTrim, kPad, kEdge, kReflect1001, kReflect101, kWrap };
/// Whether the window keeps its extents and what lies outside is made up from the input.
constexpr bool is_border(BoundsPolicy policy) { return policy >= BoundsPolicy::kEdge; }
/// Where an index outside [0, extent) is read, for the borders that the kernel IR does not have: kReflect1001
/// and kWrap.
Expr border_index(const Expr& index, const Expr& extent, BoundsPolicy policy);
/// An element of a stage with the extents of input 0, or of that input where `source` is none, at a place that
/// may lie outside along the dimensions `moved`.
Expr load_with_border(RecipeBuilder& b, StageRef source, Axes index, const std::vector<int>& moved,
                      BoundsPolicy policy);
/// The policy named by out_of_bounds_policy; complains about other names.
Result<BoundsPolicy> bounds_policy(const TypeContext& ctx);
BoundsPolicy bounds_policy(const RecipeBuilder& b);
/// Applies the policy to one axis: a check, a smaller range, or nothing.
AxisRange apply_bounds(RecipeBuilder& b, const AxisRange& range, const Expr& input_extent,
                       BoundsPolicy policy, char axis);

/// Where a view of the range starts: one of nothing starts at 0, so that its address lies inside the input.
Expr view_start(const AxisRange& range);
/// Output 0 is the box `ranges` (one per input dimension) of input 0 in the output's type; outside lies
/// fill_values (per channel at dimension channel_dim, or the last if it is negative; or one for all). A view where nothing can lie outside
/// and the type is kept. Floats that become integers are truncated and clamped.
void output_window(RecipeBuilder& b, const std::vector<AxisRange>& ranges, BoundsPolicy policy,
                   int channel_dim);
/// Whether a position (one index per input dimension) lies inside the input; dimensions listed in `dims`
/// only.
Expr inside(RecipeBuilder& b, const std::vector<Expr>& index, const std::vector<int>& dims);
/// fill_values for channel `channel` of `channels`, truncated into the given type and clamped; other numbers
/// than one or one for each channel are refused.
Expr fill_of_channel(RecipeBuilder& b, const Expr& channel, const Expr& channels, DType type);

}  // namespace galatea::ops
