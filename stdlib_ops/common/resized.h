// Extents of what is resized: from what a call asks of each axis to the intervals that are resampled.
//
// Comes in: sizes, regions and limits of axes, and the mode. Goes out: the axes for resample.h. The rules are
// DALI's, in f64 of numbers that DALI has in f32:
//
//   mode         an axis that was asked for       one that was not
//   default      its size                         its length times the geometric mean of the others' ratios
//   stretch      its size                         its length
//   not_larger   its length times the smallest ratio of all that were asked for
//   not_smaller  its length times the largest one
//
// where the length is that of the region, and a ratio is size / length. A negative size or a reversed region
// mirrors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stdlib_ops/common/resample.h"

namespace galatea::ops {

enum class ResizeMode : uint8_t { kDefault, kStretch, kNotLarger, kNotSmaller };
std::optional<ResizeMode> resize_mode(std::string_view name);
/// Whether all extents follow from one scale.
constexpr bool keeps_ratios(ResizeMode mode) { return mode >= ResizeMode::kNotLarger; }

/// How fractional extents become whole.
enum class SizeRounding : uint8_t { kRound, kTruncate, kCeil };
/// At least 1; halves away from zero.
int64_t whole_extent(float size, SizeRounding rounding);

/// What is asked of one axis of input 0.
struct ResizeRequest {
  int dim = 0;
  Expr size;                  ///< f64, negative: mirrored; 0: not asked for; empty: as many as there are
  Expr start = {}, end = {};  ///< f64: the region; empty: all of the axis
  Expr limit = {};            ///< f64: the largest size; empty: none
  Expr alignment = {};  ///< f64: which part of the region stays in place where its length changes; empty: the
                        ///< middle
};

struct ResizeRule {
  ResizeMode mode = ResizeMode::kDefault;
  SizeRounding rounding = SizeRounding::kRound;
  bool keeps_scale = true;  ///< the region changes with the rounded extent, so that the scale does not
};

/// The axes of the requests, in their order.
std::vector<ResampleAxis> resample_axes(RecipeBuilder& b, const std::vector<ResizeRequest>& requests,
                                        const ResizeRule& rule);

/// mode, max_size, subpixel_scale, roi_start, roi_end, roi_relative: `extents` and `place` say what their
/// elements are, "(h, w)" and "(y, x)".
std::vector<ArgSpec> resize_args(const std::string& extents, const std::string& place);
/// Complains about those that are wrong; `count` axes are resized.
Status check_resize_args(const TypeContext& ctx, int count);
/// The limit of one axis that an element of max_size says; as in DALI, one that is not positive is none.
Expr limit_of(const Expr& max_size);
/// Start and end of the region along axis number `axis` of `count`, where there is one.
void read_region(RecipeBuilder& b, ResizeRequest& request, size_t axis, int count);

}  // namespace galatea::ops
