// Separable resampling: filters, weight tables, and the bands that apply them, one for each axis.
//
// Comes in: for each axis that is resampled the input interval and the output extent, as scalars; the filter
// arguments of the node. Goes out: a stage of the resampled tensor. The innermost axis first, the outermost
// last, always: columns, then rows, then slices.
//
// With lo, hi the interval and n the output extent, output cell i samples the input at s(i) = lo + (i + 1/2)
// (hi - lo) / n, where pixel k covers [k, k + 1). A filter of radius r weighs the pixels k >= s - r - 1/2,
// ceil(2 r) of them, by their distance t = k + 1/2 - s; weights are normalised to sum 1; pixels past the edge
// repeat the edge. hi < lo mirrors.
//
// Nearest neighbours are found, and Gaussian windows cut, as DALI does it (nearest.h, gaussian_window.h).
//
//   table stages:  first[i]   raw[i, k]   sum[i]   weight[i, k]
//   u8 to u8:      weights are integers that sum to 16384 exactly (the centre tap takes the rest), the
//                  horizontal sum is exact in i32
//   else:          weights and sums are f32
#pragma once

#include <vector>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

using op::Filter;

/// interp_type, min_filter, mag_filter, antialias, dtype, minibatch_size, temp_buffer_hint.
std::vector<ArgSpec> filter_args();
/// The output's element type: the input's or FLOAT; complains about others.
Result<DType> resampled_dtype(const TypeContext& ctx);

/// One axis: output cells 0 .. n-1 sample the interval [lo, hi) (f64, input pixels) of input
/// dimension `dim`. Where a decoder has scaled the input, these are pixels at full scale
/// (RecipeBuilder::full_extent).
struct ResampleAxis {
  int dim = 0;
  Expr lo, hi;
  Expr n;
  bool within = false;  ///< the interval lies in the image
  Expr span = {};       ///< f64: the filter spans so many pixels at least, where it widens; empty: as many as
                        ///< it must
  bool is_kept = false;  ///< its pixels lie where they lay
};

/// Which axes DALI takes for slices, rows and columns.
enum class SpatialAxes : uint8_t {
  kGiven,       ///< those that are given, in fn.resize
  kThatChange,  ///< of all that the tensor has, from the first that changes to the last, but at least two
};

/// Resamples input 0 along the axes, outermost first, into the element type of output 0.
StageRef resample(RecipeBuilder& b, std::vector<ResampleAxis> axes,
                  SpatialAxes spatial = SpatialAxes::kGiven);

}  // namespace galatea::ops
