// Warps of images by an affine map: what rotate and warp_affine share.
//
// Comes in: the map from places of the output to places of the input, the output's extents, the arguments
// `fill_value` and `interp_type` of the node. Goes out: a stage of the warped image.
//
// Pixel k covers [k, k + 1) and has its centre at k + 1/2. Output pixel (x, y) looks at
//
//   sx = m00 (x + 1/2) + m01 (y + 1/2) + m02        sy = m10 (x + 1/2) + m11 (y + 1/2) + m12
//
// evaluated in f32 as two multiply-adds, the one with x last. INTERP_NN takes pixel (floor sx, floor sy).
// INTERP_LINEAR blends the four pixels about (sx - 1/2, sy - 1/2), first along x, then along y, each as
// a + t (b - a); in f64 where the input is i32, whose values f32 does not hold. INTERP_CUBIC blends sixteen,
// first along x, then along y, as multiply-adds in the order of the pixels, with the weights of Keys' cubic
// convolution ("Cubic convolution interpolation for digital image processing", 1981): with t the distance to
// the pixel on the left and a = `cubic_a`, for the pixels at -1, 0, 1 and 2
//
//   ((a t - 2a) t + a) t        ((a + 2) t - (a + 3)) t^2 + 1
//   ((2a + 3 - (a + 2) t) t - a) t        (a - a t) t^2
//
// Pixels outside the image repeat its edge, or are `fill_value` in the type of the input, where that is
// given: one value, or one per channel.
#pragma once

#include <array>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// Rows of the map, f64: {m00, m01, m02}, {m10, m11, m12}.
using AffineMap = std::array<std::array<Expr, 3>, 2>;

Expr determinant(const AffineMap& map);
/// The map back; the determinant must not be 0.
AffineMap inverse(const AffineMap& map);

/// size, fill_value, interp_type, cubic_a, dtype; `size_otherwise` says what holds without `size`.
std::vector<ArgSpec> warp_args(const std::string& size_otherwise);
/// The image that goes in.
Port warp_input();
/// Complains about `size` where the text says it.
Status check_warp_size(const TypeContext& ctx);
/// The extents that `size` says in the text, -1 for both where it does not.
void set_warp_extents(const TypeContext& ctx, ir::Type& out);
/// Complains about `fill_value`, one number or one per channel of the image.
Status check_fill_value(const TypeContext& ctx);
/// `fill_value` in the type of input 0; empty where it is not given.
std::vector<Expr> given_fill(RecipeBuilder& b, const ImageAxes& at);
/// The same, and 0 where it is not given.
std::vector<Expr> fill_or_zero(RecipeBuilder& b, const ImageAxes& at);
/// The output's type but for extents that `size` does not fix (-1); complains about the shared arguments.
Result<ir::Type> warp_type(const TypeContext& ctx);
/// The extents that `size` asks for, rows first; `size` must be given.
std::array<Expr, 2> warp_size(RecipeBuilder& b);
/// Output 0: the input seen through the map.
void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns);

/// An image that is not made: places of the output outside of it show `fill` (f32; one, or one per channel).
struct Canvas {
  AffineMap map;  ///< from places of the output to places of the canvas
  Expr rows, columns;
  std::vector<Expr> fill;
};
/// The same, behind canvases (the one nearest to the output first).
void output_warp(RecipeBuilder& b, const AffineMap& map, const Expr& rows, const Expr& columns,
                 const std::vector<Canvas>& canvases);

}  // namespace galatea::ops
