// Warps by an affine map of the plane or of space: what rotate and warp_affine share.
//
// Comes in: the map from places of the output to places of the input, the output's extents, the arguments
// `fill_value` and `interp_type` of the node. Goes out: a stage of the warped image.
//
// Pixel k covers [k, k + 1) and has its centre at k + 1/2. Output pixel (x, y) looks at
//
//   sx = m00 (x + 1/2) + m01 (y + 1/2) + m02        sy = m10 (x + 1/2) + m11 (y + 1/2) + m12
//
// and a volume has a third row and column, of z, alike. Places are evaluated in f32 as multiply-adds, the one
// with x last. INTERP_NN takes pixel (floor sx, floor sy). INTERP_LINEAR blends the two pixels of each axis
// about (sx - 1/2, sy - 1/2), first along x, then along y (then along z), each as a + t (b - a); in f64 where
// the input is i32, whose values f32 does not hold. INTERP_CUBIC blends four of each axis in the same order,
// as multiply-adds in the order of the pixels, with the weights of Keys' cubic convolution ("Cubic
// convolution interpolation for digital image processing", 1981): with t the distance to the pixel on the
// left and a = `cubic_a`, for the pixels at -1, 0, 1 and 2
//
//   ((a t - 2a) t + a) t        ((a + 2) t - (a + 3)) t^2 + 1
//   ((2a + 3 - (a + 2) t) t - a) t        (a - a t) t^2
//
// Pixels outside the image repeat its edge, or are `fill_value` in the type of the input, where that is
// given: one value, or one per channel.
#pragma once

#include <array>
#include <string_view>

#include "stdlib_ops/common/prelude.h"

namespace galatea::ops {

/// A map of N axes, f64: rows and columns are those of x, y and z, and the last column is an offset.
template <size_t N>
using Affine = std::array<std::array<Expr, N + 1>, N>;
using AffineMap = Affine<2>;

/// Of the part without the offset. N: 2 or 3, as for all templates here.
template <size_t N>
Expr determinant(const Affine<N>& map);
/// The map back; the determinant must not be 0.
template <size_t N>
Affine<N> inverse(const Affine<N>& map);

/// The axes that a map of N axes moves, outermost first.
template <size_t N>
inline constexpr std::string_view kWarpAxes = N == 2 ? "HW" : "DHW";

/// size, fill_value, interp_type, cubic_a, dtype; `size_otherwise` says what holds without `size`.
std::vector<ArgSpec> warp_args(const std::string& size_otherwise);
/// The image or volume that goes in.
Port warp_input();
/// Complains about `size` where the text says it.
Status check_warp_size(const TypeContext& ctx, std::string_view axes = kWarpAxes<2>);
/// The extents that `size` says in the text, -1 for all where it does not.
void set_warp_extents(const TypeContext& ctx, ir::Type& out, std::string_view axes = kWarpAxes<2>);
/// Complains about `fill_value`, one number or one per channel of the image.
Status check_fill_value(const TypeContext& ctx);
/// `fill_value` in the type of input 0; empty where it is not given.
std::vector<Expr> given_fill(RecipeBuilder& b, const ImageAxes& at);
/// The same, and 0 where it is not given.
std::vector<Expr> fill_or_zero(RecipeBuilder& b, const ImageAxes& at);
/// The output's type but for extents that `size` does not fix (-1); complains about the shared arguments.
Result<ir::Type> warp_type(const TypeContext& ctx, std::string_view axes = kWarpAxes<2>);
/// The extents that `size` asks for, outermost first; `size` must be given.
template <size_t N = 2>
std::array<Expr, N> warp_size(RecipeBuilder& b);
/// The extents of the input, outermost first.
template <size_t N = 2>
std::array<Expr, N> warped_extents(RecipeBuilder& b);
/// Output 0: the input seen through the map, with these extents along the axes of the map.
template <size_t N>
void output_warp(RecipeBuilder& b, const Affine<N>& map, const std::array<Expr, N>& size);

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
