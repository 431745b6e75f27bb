// Warps of images by a projective map: what warp_perspective and random_perspective share.
//
// Comes in: the map from places of the output to places of the input, the output's extents, a way to look at
// pixels. Goes out: a stage of the warped image.
//
// A place (x, y) of the output shows the input at (X / W, Y / W), where (X, Y, W) = M (x, y, 1); where W is 0
// there is no place, and it counts as outside.
#pragma once

#include "stdlib_ops/common/pixels.h"

namespace galatea::ops {

/// Row by row, f64.
using ProjectiveMap = std::array<Expr, 9>;

/// The map of centres of pixels that a map of corners, where pixel k covers [k, k + 1), makes.
ProjectiveMap of_centres(const ProjectiveMap& of_corners);
/// The other way round.
ProjectiveMap of_corners(const ProjectiveMap& of_centres);
/// The map back, times the determinant, which is the same map.
ProjectiveMap adjugate(const ProjectiveMap& m);
Expr determinant(const ProjectiveMap& m);
/// The output of `NAME.places` (places.h): from corners of the input to corners of the output.
void output_places(RecipeBuilder& b, const ProjectiveMap& map);
/// Output 0: the input looked up through a map of centres. Places are evaluated as multiply-adds, the one
/// with x last, and a division, in f32; for INTERP_NN in f64.
void output_perspective(RecipeBuilder& b, const ProjectiveMap& of_centres, const Expr& rows,
                        const Expr& columns, const Lookup& lookup);

}  // namespace galatea::ops
